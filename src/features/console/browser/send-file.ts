// A file on its way to the node: read from the disk while it is sent, never held whole; and what became of a batch that is
// durable and in no block yet.

import { systemClock } from '../../../libraries/base/clock.ts'
import { sha2HashText } from '../../../libraries/base/ids/identifiers.ts'
import { createSha2 } from '../../../libraries/base/ids/native-crypto.ts'
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

/** Whether there is no dataset of this name for the caller. */
export async function isMissing(alias: string): Promise<boolean> {
  const answer = await fetch(`/${alias}`, { headers: authorization() }).catch(() => undefined)
  return answer?.status === 404
}

const keys = new WeakMap<Blob, Promise<string>>()

/** The hash of a file, as `dedupe=body` has it for a key: read once, never held whole. */
export function keyOf(file: Blob): Promise<string> {
  const key = keys.get(file) ?? hashed(file)
  keys.set(file, key)
  return key
}

async function hashed(file: Blob): Promise<string> {
  const hash = createSha2('sha256')
  const reader = file.stream().getReader()
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) hash.update(piece.value)
  return sha2HashText(hash.digest())
}

/**
 * The block of a body that was stored under this key, empty where the node does not say it; undefined where none was. The
 * condition never holds, and the key is judged before it: nothing is stored.
 */
export async function knownBlock(sent: Omit<Sent, 'onProgress'>): Promise<string | undefined> {
  const headers = { ...sent.headers, 'if-match': `"f1620${'0'.repeat(64)}"` }
  const body = Object((await sendFile({ ...sent, headers, onProgress: () => {} }))?.body)
  if (body.replayed === true) return String(body.block?.hash ?? '')
  return body.error?.kind === 'IdempotencyKeyReused' ? '' : undefined
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
