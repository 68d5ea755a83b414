// How the verify page hands a file to the page that runs its question again, which it has opened: that page says that it is
// there, and gets the file with the token of the tab, both of the same node and in memory alone.

import { defined } from '../../../libraries/base/collections.ts'
import { heldToken } from './session.ts'

export const rerunIsReady = 'proofstream: ready to run a question again'

export interface Handover {
  /** A bundle, or a saved answer with its proof. */
  readonly file: Blob
  readonly token?: string
}

let handedOver: Blob | undefined

/** A link to that page, which gets `file` when it is opened. */
export function rerunLink(file: Blob): HTMLAnchorElement {
  if (handedOver === undefined) addEventListener('message', handOver)
  handedOver = file
  const link = document.createElement('a')
  link.href = '/assets/rerun/page.html'
  link.target = '_blank'
  // That page asks the one that opened it; both are of this node.
  link.rel = 'opener'
  link.textContent = 'Run it again in this browser'
  return link
}

function handOver({ origin, source, data }: MessageEvent): void {
  if (origin !== location.origin || data !== rerunIsReady || handedOver === undefined) return
  const token = heldToken()
  const handover: Handover = { file: handedOver, ...defined({ token }) }
  source?.postMessage(handover, { targetOrigin: location.origin })
}
