// The SQL page in a browser: runs the statement without leaving the page, with the token of the tab, and can stop it; puts
// the cursor where the statement is wrong; saves with the token what links alone cannot have.

import { askForPage } from '../browser/ask-for-page.ts'
import { nodeNames } from '../browser/node-names.ts'
import { element, textOf } from '../browser/element.ts'
import { history, remember } from '../browser/asked-before.ts'
import { heldToken } from '../browser/session.ts'
import { addSuggestions } from '../browser/suggestions.ts'

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
  answer.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[data-save]') : null
    const token = heldToken()
    if (link === null || token === undefined) return
    event.preventDefault()
    void save(link, token, say(form))
  })
  main.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>('a[data-fill]') : null
    if (link === null) return
    event.preventDefault()
    editor.value = link.dataset['fill'] ?? ''
    editor.scrollIntoView({ block: 'center' })
    form.requestSubmit()
  })
  showHistory(main)
  form.querySelector('button.quiet')?.addEventListener('click', () => stopRunning())
  addSuggestions(editor, nodeNames(heldToken()))
  say(form)('Press Ctrl+Enter to run it.')
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

/** Address of the file that was saved last: the browser may be reading it still. */
let lastSaved = ''

/** Fetches what a link names and hands it to the browser as a file. */
async function save(link: HTMLAnchorElement, token: string, tell: (text: string) => void): Promise<void> {
  tell(`Fetching ${link.download}…`)
  try {
    const answer = await fetch(link.href, { headers: { authorization: `Bearer ${token}` } })
    if (!answer.ok) return tell(`The node answers ${answer.status}: ${await faultOf(answer)}`)
    URL.revokeObjectURL(lastSaved)
    lastSaved = URL.createObjectURL(await answer.blob())
    const file = document.createElement('a')
    file.href = lastSaved
    file.download = link.download
    file.click()
    tell(`Saved ${link.download}.`)
  } catch (error) {
    tell(`Not saved: ${String(error)}`)
  }
}

async function faultOf(answer: Response): Promise<string> {
  const body: unknown = await answer.json().catch(() => undefined)
  return String(Object(body)['detail'] ?? 'no reason')
}
