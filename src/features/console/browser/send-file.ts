// A file on its way to the node: read from the disk while it is sent, never held whole; and what became of a batch that is
// durable and in no block yet.

import { systemClock } from '../../../libraries/base/clock.ts'
import { heldToken } from './session.ts'

export interface Answer {
  readonly status: number
  /** What the node said, as plain JSON; undefined where that is none. */
  readonly body: unknown
}

interface Sent {
  readonly path: string
  readonly file: Blob
  readonly headers: Readonly<Record<string, string>>
  /** Share of the file that is on its way, 0 to 1. */
  readonly onProgress: (share: number) => void
}

/** Posts a file with the token of the tab; undefined where no answer came. */
export function sendFile({ path, file, headers, onProgress }: Sent): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest()
    request.open('POST', path)
    for (const [name, value] of Object.entries({ ...authorization(), ...headers }))
      request.setRequestHeader(name, value)
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total))
    request.addEventListener('loadend', () => {
      resolve(request.status === 0 ? undefined : { status: request.status, body: jsonOf(request.responseText) })
    })
    request.send(file)
  })
}

const askEveryMs = 1000

/** The receipt once it is committed or rejected; as it is now where the node does not answer, or `isWanted` says no more. */
export async function settled(receipt: unknown, isWanted: () => boolean): Promise<unknown> {
  let known = receipt
  while (Object(known).status === 'accepted' && isWanted()) {
    await systemClock.sleep(askEveryMs)
    const path = `/receipts/${encodeURIComponent(String(Object(known).receiptId))}`
    const answer = await fetch(path, { headers: authorization() }).catch(() => undefined)
    if (answer?.ok !== true) return known
    known = jsonOf(await answer.text())
  }
  return known
}

function authorization(): Readonly<Record<string, string>> {
  const token = heldToken()
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
