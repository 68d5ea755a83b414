// Pages that follow their datasets: while the tab is seen one stream tells of each new block, and what the page shows of
// them is asked for again and put in its place. Without it a page shows what was there when it was asked for.

import { askForPage } from '../browser/ask-for-page.ts'
import { addCopyButton } from '../browser/copy.ts'
import { saveWithToken } from '../browser/save-link.ts'
import { heldToken } from '../browser/session.ts'
import { Exchange, ProofstreamError } from '../../../libraries/client/exchange.ts'
import { listen } from '../../../libraries/client/listen.ts'
import { systemClock } from '../../../libraries/base/clock.ts'

/** Between two looks at the page, and so many times what the last one took: many blocks are one look. */
const leastPauseMs = 1000
const restParts = 4

/** Ends the stream that is open. */
let following = new AbortController()

export function start(main: HTMLElement): void {
  const follow = (): void => {
    following.abort()
    following = new AbortController()
    if (!document.hidden) void followUntil(following.signal, main)
  }
  // Of the main that was started last.
  document.onvisibilitychange = () => {
    if (document.hidden) following.abort()
    else void refresh(main).then(follow)
  }
  follow()
  const told = main.querySelector<HTMLElement>('[data-saved]')
  if (told !== null) saveWithToken(main, (text) => (told.textContent = text))
}

/** Follows from the blocks that the page shows; where it may not (any longer), the page stays as it is. */
async function followUntil(signal: AbortSignal, main: HTMLElement): Promise<void> {
  const followed = main.querySelector<HTMLElement>('[data-follow]')
  const live = main.querySelector<HTMLElement>('.live')
  if (followed === null || live === null) return
  const token = heldToken()
  const exchange = new Exchange(location.origin, token === undefined ? {} : { token })
  const { follow = '', places: lastEventId = '' } = followed.dataset
  if (follow === '') return
  live.hidden = false
  try {
    for await (const { id } of listen(exchange, follow.split(' '), { lastEventId, signal })) {
      if (isReached(id, followed.dataset['places'])) continue
      const begunMs = systemClock.monotonicMs()
      await refresh(main)
      await systemClock.sleep(Math.max(leastPauseMs, restParts * (systemClock.monotonicMs() - begunMs)), signal)
    }
  } catch (error) {
    if (!(error instanceof ProofstreamError)) throw error
    live.hidden = true
  }
}

/** Whether the page shows these places in chains, or later ones. */
function isReached(places: string, shown = ''): boolean {
  const sequences = (text: string): [string, number][] =>
    text.split(',').map((place) => [place.slice(0, place.lastIndexOf(':')), Number(place.split(':').at(-1))])
  const reached = new Map(sequences(shown))
  return sequences(places).every(([id, sequence]) => sequence <= (reached.get(id) ?? -1))
}

/** Puts the parts of the page as they are now in the place of those that are shown, but for one that is in use. */
async function refresh(main: HTMLElement): Promise<void> {
  const { answer } = askForPage({ path: location.pathname + location.search, token: heldToken() })
  const now = await answer
  if (now === undefined || now.status !== 200) return
  for (const part of now.page.querySelectorAll<HTMLElement>('[data-part]')) {
    const shown = main.querySelector<HTMLElement>(`[data-part="${CSS.escape(part.dataset['part'] ?? '')}"]`)
    if (shown === null || shown.contains(document.activeElement) || shown.querySelector('.moved') !== null) continue
    const scrolled = shown.querySelector('.scroll')?.scrollLeft ?? 0
    shown.replaceChildren(...part.childNodes)
    for (const copied of shown.querySelectorAll<HTMLElement>('[data-copy]')) addCopyButton(copied)
    const box = shown.querySelector('.scroll')
    if (box !== null) box.scrollLeft = scrolled
  }
  const [old, fresh] = [main, now.page].map((of) => of.querySelector<HTMLElement>('[data-follow]'))
  if (old && fresh) old.dataset['places'] = fresh.dataset['places'] ?? ''
}
