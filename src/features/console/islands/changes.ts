// The changing of a dataset on its page: describe, license, publish, hide or make public, rename, delete after its name was typed, restore.

import { readmePath, readmeText } from '../dataset-readme.ts'
import { element, textOf } from '../browser/element.ts'
import { askRead, askWrite, heldToken, problemText, type Written } from '../browser/session.ts'

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
  bindLicence(section, path)
  section.querySelector('#publish')?.addEventListener('submit', (event) => {
    event.preventDefault()
    void publish(path, new FormData(event.target as HTMLFormElement)).then((answer) => reloaded(section, answer)) // of a form
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

/** A licence that is chosen fills the fields. */
function bindLicence(section: HTMLElement, path: string): void {
  const form = section.querySelector<HTMLFormElement>('#licence')
  const common = section.querySelector<HTMLSelectElement>('#common')
  common?.addEventListener('change', () => {
    const { value, dataset } = common.selectedOptions[0] ?? {}
    const told = { shortName: value, fullName: dataset?.['name'], spdxId: value, websiteUrl: dataset?.['address'] }
    for (const [name, text = ''] of Object.entries(told)) {
      const field = form?.querySelector<HTMLInputElement>(`[name=${name}]`)
      if (field) field.value = text
    }
  })
  form?.addEventListener('submit', (event) => {
    event.preventDefault()
    const said = new FormData(form)
    const [shortName, name, spdxId, websiteUrl] = ['shortName', 'fullName', 'spdxId', 'websiteUrl'].map((field) =>
      textOf(said.get(field)).trim(),
    )
    const license = { shortName, name, websiteUrl, ...(spdxId && { spdxId }) }
    void askWrite('PATCH', path, { body: { license } }).then((answer) => reloaded(section, answer))
  })
}

/** Puts the README in its place among the attachments, which are changed as a whole. */
async function publish(path: string, said: FormData): Promise<Written> {
  const [publisher = '', contact = '', text = ''] = ['publisher', 'contact', 'text'].map((name) =>
    textOf(said.get(name)),
  )
  const content = readmeText({ publisher, contact, text })
  const held = await askRead(`${path}/metadata?include=attachments`)
  if (!held.ok) return held
  const aspects = Object(held.body['output'])
  const items: unknown = Object(Object(aspects['attachments'])['attachments'])['items']
  const others = Array.isArray(items) ? items.filter((item) => Object(item)['path'] !== readmePath) : []
  const readme = content === '' ? [] : [{ path: readmePath, content }]
  return await askWrite('PATCH', path, { body: { attachments: { kind: 'Embedded', items: [...others, ...readme] } } })
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
