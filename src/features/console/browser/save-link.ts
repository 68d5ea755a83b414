// Links of an answer that save it as a file: with the token of the tab, which a link alone cannot have.

import { heldToken } from './session.ts'

/** Makes links with `data-save` within a place fetch with the token, where one is held. */
export function saveWithToken(place: HTMLElement, tell: (text: string) => void): void {
  place.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[data-save]') : null
    const token = heldToken()
    if (link === null || token === undefined) return
    event.preventDefault()
    void save(link, token, tell)
  })
}

/** Address of the file that was saved last: the browser may be reading it still. */
let lastSaved = ''

/** Fetches what a link names and hands it to the browser as a file. */
async function save(link: HTMLAnchorElement, token: string, tell: (text: string) => void): Promise<void> {
  tell(`Fetching ${link.download}…`)
  try {
    const answer = await fetch(link.href, { headers: { authorization: `Bearer ${token}` } })
    if (!answer.ok) return tell(`The node answers ${answer.status}: ${await faultOf(answer)}`)
    handOver(await answer.blob(), link.download)
    tell(`Saved ${link.download}.`)
  } catch (error) {
    tell(`Not saved: ${String(error)}`)
  }
}

/** Hands a file to the browser; a link to it, until the next one is handed over. */
export function handOver(file: Blob, name: string): HTMLElement {
  URL.revokeObjectURL(lastSaved)
  lastSaved = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = lastSaved
  link.download = name
  link.textContent = name
  link.click()
  return link
}

async function faultOf(answer: Response): Promise<string> {
  const body: unknown = await answer.json().catch(() => undefined)
  return String(Object(body)['detail'] ?? 'no reason')
}
