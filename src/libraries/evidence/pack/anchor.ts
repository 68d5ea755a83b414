// Proofs that are to lead to one head of their ledger: which head that is, and the same proofs again out of the tiles of the ledger.

import { decodeUtf8, equalBytes } from '../../base/bytes.ts'
import { DecodeError } from '../../base/errors.ts'
import { parseJson } from '../../base/json/json.ts'
import { itemsAt, textAt } from '../../base/json/members.ts'
import type { JsonObject } from '../../base/json/value.ts'
import { proofJson, readProofJson } from '../../ledger/proof-document.ts'
import { TileReader } from '../../ledger/tile-reader.ts'
import { PackFault } from './zip.ts'

/** What a node answers at a path: its status, and its body. */
export type Get = (path: string) => Promise<{ readonly status: number; readonly bytes: Uint8Array }>

/** A head by its text. */
export interface Anchor {
  readonly origin: string
  readonly size: number
  readonly note: Uint8Array
}

const mostTries = 3

export function anchorOf(note: Uint8Array): Anchor {
  const [origin = '', size = ''] = decodeUtf8(note).split('\n')
  return { origin, size: Number(size), note }
}

/** The smallest head to which one of the proofs leads that has the entries of all, or the head of this size. Throws PackFault. */
export async function commonAnchor(
  proofs: readonly JsonObject[],
  get: Get,
  size?: number,
): Promise<Anchor | undefined> {
  const read = proofs.map((one) => readProofJson(one).proof)
  const most = Math.max(-1, ...read.map(({ index }) => index))
  const heads = read.map(({ head }) => anchorOf(head)).toSorted((a, b) => a.size - b.size)
  if (size === undefined) return heads.find((head) => head.size > most)
  const found =
    heads.find((head) => head.size === size) ?? (await servedHead(get, await placeOf(get, heads[0]?.origin), size))
  if (found === undefined) {
    const shown = heads.at(-1)?.size
    const others = shown === undefined ? '' : ` Its proofs lead to that of ${shown}.`
    throw new PackFault(
      'impossible',
      `The node shows no head of ${size} entries.${others} Heads with a time stamp are kept.`,
    )
  }
  if (found.size <= most) throw new PackFault('impossible', `The head of ${size} entries does not hold entry ${most}.`)
  return found
}

async function servedHead(get: Get, place: string, size: number): Promise<Anchor | undefined> {
  for (const name of [`timestamps/${size}.head`, 'checkpoint']) {
    const { status, bytes } = await get(`${place}/${name}`)
    const found = status === 200 ? anchorOf(bytes) : undefined
    if (found?.size === size) return found
  }
  return undefined
}

/** The same proof, to another head of its ledger. Throws PackFault where the ledger does not give it. */
export async function anchored(proof: JsonObject, to: Anchor | undefined, get: Get): Promise<JsonObject> {
  const { document, proof: old, timestamp } = readProofJson(proof)
  const from = anchorOf(old.head)
  if (to === undefined || from.origin !== to.origin || document.kind === 'newer') return proof
  if (equalBytes(old.head, to.note)) return proof
  const hashes =
    from.size === to.size
      ? old.hashes
      : await inclusion(get, { place: await placeOf(get, to.origin), index: old.index, size: to.size })
  // A stamp is over a head: its own hashes lead there, unless that is the head of the proof.
  const isOver = timestamp?.head === decodeUtf8(to.note)
  const led = timestamp && { ...timestamp, hashes: isOver ? undefined : (timestamp.hashes ?? old.hashes) }
  return proofJson(document, { index: old.index, hashes, head: to.note }, led)
}

/** The first ledger of a node is at `/ledger`, the n-th at `/ledger/<n>`. */
async function placeOf(get: Get, origin: string | undefined): Promise<string> {
  const { status, bytes } = await get('/ledger')
  const about = status === 200 ? parseJson(bytes) : undefined
  const origins = itemsAt(about, 'former').map((one) => textAt(one, 'origin'))
  const at = origins.indexOf(origin)
  const number = at < 0 ? origins.length + 1 : at + 1
  return number === 1 ? '/ledger' : `/ledger/${number}`
}

/** A ledger that grows meanwhile takes its partial tiles away: they are asked for again. */
async function inclusion(
  get: Get,
  { place, index, size }: { readonly place: string; readonly index: number; readonly size: number },
): Promise<Uint8Array[]> {
  for (let tries = 1; ; tries++) {
    const { bytes } = await get(`${place}/checkpoint`)
    const tiles = new TileReader({
      read: async (name) => {
        const answer = await get(`${place}/${name}`)
        return answer.status === 200 ? answer.bytes : undefined
      },
      lacks: (name) => new PackFault('impossible', `The ledger of the node does not show ${name}.`),
      altered: (reason) => new PackFault('altered', `The ledger of the node contradicts itself: ${reason}.`),
    })
    try {
      return await tiles.inclusion(index, size, anchorOf(bytes).size)
    } catch (error) {
      if (!(error instanceof DecodeError) || tries === mostTries) throw error
    }
  }
}
