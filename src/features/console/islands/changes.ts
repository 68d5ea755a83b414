// The changing of a dataset on its page: describe, hide or make public, rename, delete after its name was typed, restore.

import { element, textOf } from '../browser/element.ts'
import { askWrite, heldToken, problemText, type Written } from '../browser/session.ts'

export function start(main: HTMLElement): void {
  const section = main.querySelector<HTMLElement>('#changes')
  if (section === null) return offerRestore(main)
  const alias = section.dataset['alias'] ?? ''
  const path = `/${alias}`
  section.hidden = false
  section.querySelector('#describe')?.addEventListener('submit', (event) => {
    event.preventDefault()
    const said = new FormData(event.target as HTMLFormElement) // of a form
    const [description, keywords] = [said.get('description'), said.get('keywords')].map((text) => textOf(text).trim())
    const info = { ...(description && { description }), keywords: listOf(keywords) }
    void askWrite('PATCH', path, { body: { info } }).then((answer) => reloaded(section, answer))
  })
  const visibility = section.querySelector<HTMLElement>('[data-visibility]')
  visibility?.addEventListener('click', () => {
    const body = { visibility: visibility.dataset['visibility'] }
    void askWrite('PATCH', path, { body }).then((answer) => reloaded(section, answer))
  })
  section.querySelector('#rename')?.addEventListener('submit', (event) => {
    event.preventDefault()
    const body = { alias: section.querySelector<HTMLInputElement>('#alias')?.value.trim() }
    void askWrite('PATCH', path, { body }).then((answer) => {
      if (answer.ok) location.assign(`/${textOf(answer.body['alias'])}`)
      else refuse(section, problemText(answer))
    })
  })
  section.querySelector('#delete')?.addEventListener('submit', (event) => {
    event.preventDefault()
    const typed = section.querySelector<HTMLInputElement>('#typed')?.value.trim()
    if (typed !== alias) return refuse(section, 'The name does not match. Nothing was deleted.')
    // What came after the head that the page shows was not seen: then it is not deleted.
    const head = main.querySelector<HTMLElement>('[data-part=facts] .hash')?.dataset['copy']
    void askWrite('DELETE', path, { ifMatch: `"${head}"` }).then((answer) => {
      if (answer.ok) showDeleted(main, answer.body)
      else refuse(section, problemText(answer))
    })
  })
}

function listOf(text = ''): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

function reloaded(section: HTMLElement, answer: Written): void {
  if (answer.ok) location.reload()
  else refuse(section, problemText(answer))
}

function refuse(within: ParentNode, text: string): void {
  const place = within.querySelector('#refused')
  if (place !== null) place.textContent = text
}

function showDeleted(main: HTMLElement, { id, alias, removedAfter }: Written['body']): void {
  const address = `/datasets/${textOf(id)}`
  const link = element('a', '', textOf(id))
  link.setAttribute('href', address)
  main.replaceChildren(
    element('h1', '', 'Deleted'),
    element('p', 'lead', `${textOf(alias)} is deleted, and its name is free.`),
    element('p', '', `Until ${textOf(removedAfter)} it can be restored as it was, here or at `, link, '.'),
    ...restoring(textOf(id)),
  )
}

/** The page of a deleted dataset at its identity. */
function offerRestore(main: HTMLElement): void {
  const id = /^\/datasets\/(did:odf:\w+)$/.exec(decodeURIComponent(location.pathname))?.[1]
  if (id !== undefined && heldToken() !== undefined) main.append(...restoring(id))
}

function restoring(id: string): HTMLElement[] {
  const button = element('button', '', 'Restore it')
  const refused = element('p', 'bad')
  refused.role = 'alert'
  button.addEventListener('click', () => {
    void askWrite('POST', `/datasets/${id}/restore`).then((answer) => {
      if (answer.ok) location.assign(`/${textOf(answer.body['alias'])}`)
      else refused.textContent = problemText(answer)
    })
  })
  return [button, refused]
}
