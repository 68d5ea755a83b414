// The SQL page in a browser: runs the statement without leaving the page, with the token of the tab, and can stop it; puts
// the cursor where the statement is wrong; saves with the token what links alone cannot have.

import { askForPage } from '../browser/ask-for-page.ts'
import { nodeNames } from '../browser/node-names.ts'
import { element, textOf } from '../browser/element.ts'
import { history, remember } from '../browser/asked-before.ts'
import { saveWithToken } from '../browser/save-link.ts'
import { askWrite, heldToken, problemText } from '../browser/session.ts'
import { addSuggestions } from '../browser/suggestions.ts'
import { tokenHere } from '../browser/token-here.ts'

export function start(main: HTMLElement): void {
  const form = main.querySelector<HTMLFormElement>('#ask')
  const editor = main.querySelector<HTMLTextAreaElement>('#statement')
  const answer = main.querySelector<HTMLElement>('#answer')
  if (form === null || editor === null || answer === null) return
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void run(form, editor, answer)
  })
  editor.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    form.requestSubmit()
  })
  saveWithToken(answer, say(form))
  main.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>('a[data-fill]') : null
    if (link === null) return
    event.preventDefault()
    editor.value = link.dataset['fill'] ?? ''
    editor.scrollIntoView({ block: 'center' })
    form.requestSubmit()
  })
  showHistory(main)
  offerSaving(main, editor)
  form.querySelector('button.quiet')?.addEventListener('click', () => stopRunning())
  addSuggestions(editor, nodeNames(heldToken()))
  say(form)('Press Ctrl+Enter to run it.')
}

/** Saves the statement under a name; one that is taken, after a second click. */
function offerSaving(main: HTMLElement, editor: HTMLTextAreaElement): void {
  const place = main.querySelector<HTMLElement>('#save')
  const form = place?.querySelector('form')
  const button = form?.querySelector('button')
  const state = place?.querySelector('[role=status]')
  if (!place || !form || !button || !state) return
  place.hidden = false
  const name = (): string => textOf(new FormData(form).get('query-name'))
  form.addEventListener('input', () => (button.textContent = 'Save'))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void (async () => {
      const path = `/q/${name()}`
      if (heldToken() === undefined) {
        const { nodes, field } = tokenHere(() => form.requestSubmit())
        state.replaceChildren('Saving needs a token. ', ...nodes)
        return field.focus()
      }
      if (button.textContent === 'Save' && (await isSaved(name()))) {
        button.textContent = `Replace the query ${name()}?`
        return
      }
      const about = textOf(new FormData(form).get('query-about'))
      const answer = await askWrite('PUT', path, { body: { query: editor.value, ...(about !== '' && { about }) } })
      button.textContent = 'Save'
      const link = element('a', '', path)
      link.setAttribute('href', path)
      state.replaceChildren(...(answer.ok ? ['Saved: ', link] : [problemText(answer)]))
    })()
  })
}

async function isSaved(name: string): Promise<boolean> {
  const token = heldToken()
  const headers = { accept: 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  // HEAD runs nothing that is not kept, and says whether the name has a query.
  const answer = await fetch(`/q/${name}?format=Csv`, { method: 'HEAD', headers }).catch(() => undefined)
  return answer !== undefined && answer.status !== 404
}

/** The statements that were asked in this browser, newest first. */
function showHistory(main: HTMLElement): void {
  const place = main.querySelector<HTMLElement>('#history')
  if (place === null) return
  const items = history().map((sql) => {
    const link = element('a', '', sql.length > 120 ? `${sql.slice(0, 120)}…` : sql)
    link.setAttribute('href', `/query?${new URLSearchParams({ query: sql })}`)
    link.dataset['fill'] = sql
    return element('li', '', link)
  })
  place.hidden = items.length === 0
  place.querySelector('ol')?.remove()
  place.append(element('ol', 'asked', ...items))
}

/** Ends the run that is under way. */
let stopRunning = (): void => {}

function say(form: HTMLFormElement): (text: string) => void {
  return (text) => {
    const state = form.querySelector('#state')
    if (state !== null) state.textContent = text
  }
}

async function run(form: HTMLFormElement, editor: HTMLTextAreaElement, place: HTMLElement): Promise<void> {
  stopRunning()
  const limit = textOf(new FormData(form).get('limit'))
  const json = { query: editor.value, ...(limit !== '' && { limit: Number(limit) }) }
  const { answer, stop } = askForPage({ path: '/query', token: heldToken(), json })
  const stopButton = form.querySelector<HTMLButtonElement>('button.quiet')
  const own = (stopRunning = stop)
  if (stopButton !== null) stopButton.hidden = false
  place.ariaBusy = 'true'
  say(form)('Running…')
  const shown = await answer
  // Another run began meanwhile.
  if (stopRunning !== own) return
  if (stopButton !== null) stopButton.hidden = true
  place.ariaBusy = 'false'
  if (shown === undefined) return say(form)('Stopped, or the node does not answer.')
  const found = shown.page.querySelector('#answer')
  if (found === null) return say(form)(shown.page.querySelector('main .lead')?.textContent ?? 'This cannot be run.')
  place.replaceChildren(...found.childNodes)
  if (place.querySelector('.bad') === null) remember(json.query)
  showHistory(form.closest('main') ?? document.body)
  say(form)(place.querySelector('h2')?.textContent ?? '')
  // The chart that was chosen is chosen still.
  const chart = location.hash.startsWith('#chart=') ? location.hash : ''
  if (json.query.length < 2000)
    window.history.replaceState(
      null,
      '',
      `/query?${new URLSearchParams({ query: json.query, ...(limit !== '' && { limit }) })}${chart}`,
    )
  showPlace(editor, place.querySelector<HTMLElement>('.place'))
}

/** Selects in the editor what the node marked. */
function showPlace(editor: HTMLTextAreaElement, excerpt: HTMLElement | null): void {
  if (excerpt === null) return
  const { line, column } = excerpt.dataset
  const lines = editor.value.split('\n')
  const before = lines.slice(0, Number(line) - 1).reduce((sum, { length }) => sum + length + 1, 0)
  const at =
    before +
    Array.from(lines[Number(line) - 1] ?? '')
      .slice(0, Number(column) - 1)
      .join('').length
  const marked = excerpt.querySelector('mark')?.textContent ?? ''
  editor.focus()
  editor.setSelectionRange(at, at + (editor.value.startsWith(marked, at) ? marked.length : 1))
}
