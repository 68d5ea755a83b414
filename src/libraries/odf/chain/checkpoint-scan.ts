// Reads a checkpoint piece by piece. Every 64th and every 4,096th repeat the ids of those before them, up to a million:
// of earlier groups only as much of each id is taken as a set of ids needs, the rest is read as checkpoint.ts
// says.

import { concatBytes, utf8 } from '../../base/bytes.ts'
import { DecodeError } from '../../base/errors.ts'
import { type CheckpointContent, decodeCheckpoint } from './checkpoint.ts'

/** The first 60 bits of an id. */
export interface IdPrefix {
  readonly high: number
  readonly low: number
}

/** Takes the ids of a checkpoint one after the other, the oldest first. */
export type TakeId = (group: { readonly number: number; readonly timeMs: number }, high: number, low: number) => void

const idChars = 43
const halfChars = 5
/** More than any token between two brackets has; a piece is read up to here before its end. */
const tokenBytesMost = 512
const placeBytesMost = 40
const none = new Uint8Array(0)
const idsBegin = utf8('"ids":[')

const [comma, quote, opening, closing] = [0x2c, 0x22, 0x5b, 0x5d]
const digits = new Int8Array(256).fill(-1)
for (const [value, char] of utf8('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_').entries()) {
  digits[char] = value
}

/** The prefix of an id: base64url of 32 bytes. Throws DecodeError. */
export function idPrefix(id: string): IdPrefix {
  const bytes = utf8(id)
  if (bytes.length !== idChars) throw fault('an id has another length')
  return { high: half(bytes, 0), low: half(bytes, halfChars) }
}

export class CheckpointScan {
  readonly #take: TakeId
  #state: 'head' | 'groups' | 'ids' | 'tail' = 'head'
  #carried: Uint8Array = none
  /** What comes before the ids, and after them. */
  readonly #head: Uint8Array[] = []
  readonly #tail: Uint8Array[] = []
  /** The group that is being read, or was read last. */
  #group: Uint8Array[] = []
  #place = { number: 0, timeMs: 0 }

  constructor(take: TakeId = () => {}) {
    this.#take = take
  }

  /** Reads on. Throws DecodeError. */
  push(piece: Uint8Array): void {
    this.#read(piece, false)
  }

  /** The content, with the ids of the checkpoint's own block alone. Throws DecodeError. */
  finish(): CheckpointContent {
    this.#read(none, true)
    if (this.#state !== 'tail') throw fault('it has no end')
    const content = decodeCheckpoint(concatBytes([...this.#head, ...this.#group, ...this.#tail]))
    return { ...content, ids: content.ids.filter((group) => group.number === content.number) }
  }

  #read(piece: Uint8Array, isLast: boolean): void {
    const bytes = this.#carried.length === 0 ? piece : concatBytes([this.#carried, piece])
    const end = isLast ? bytes.length : Math.max(0, bytes.length - tokenBytesMost)
    let at = 0
    if (this.#state === 'head') at = this.#readHead(bytes, end)
    if (this.#state === 'groups' || this.#state === 'ids') at = this.#readIds(bytes, at, end)
    if (this.#state === 'tail') {
      this.#tail.push(bytes.subarray(at))
      at = bytes.length
    }
    this.#carried = bytes.subarray(at)
  }

  /** Returns where it has come to, as do the others. */
  #readHead(bytes: Uint8Array, end: number): number {
    const found = indexOf(bytes, idsBegin)
    const to = found < 0 ? end : found + idsBegin.length
    if (found >= 0) this.#state = 'groups'
    this.#head.push(bytes.subarray(0, to))
    return to
  }

  #readIds(bytes: Uint8Array, from: number, end: number): number {
    let at = from
    let groupAt = from
    while (at < end) {
      if (this.#state === 'ids') {
        at = this.#readId(bytes, at)
      } else if (bytes[at] === closing) {
        this.#state = 'tail'
        break
      } else {
        groupAt = bytes[at] === comma ? at + 1 : at
        at = this.#readPlace(bytes, groupAt)
        this.#group = []
      }
    }
    this.#group.push(bytes.subarray(groupAt, at))
    return at
  }

  /** `[number,time,[` */
  #readPlace(bytes: Uint8Array, at: number): number {
    const to = bytes.indexOf(opening, at + 1)
    const text = String.fromCharCode(...bytes.subarray(at, Math.min(to, at + placeBytesMost)))
    const [, number, timeMs] = /^\[(\d{1,16}),(-?\d{1,16}),$/.exec(text) ?? []
    if (number === undefined || timeMs === undefined) throw fault('a group of ids has no number and time')
    this.#place = { number: Number(number), timeMs: Number(timeMs) }
    this.#state = 'ids'
    return to + 1
  }

  /** `"id","hash"` and the comma after it, or the `]]` that ends the group. */
  #readId(bytes: Uint8Array, at: number): number {
    if (bytes[at] === closing && bytes[at + 1] === closing) {
      this.#state = 'groups'
      return at + 2
    }
    const hashAt = at + idChars + 3
    if (bytes[at] !== quote || bytes[hashAt - 1] !== comma || bytes[hashAt] !== quote) throw fault('ids come in pairs')
    this.#take(this.#place, half(bytes, at + 1), half(bytes, at + 1 + halfChars))
    const to = bytes.indexOf(quote, hashAt + 1) + 1
    if (to <= 0 || to - at > tokenBytesMost) throw fault('a hash has no end')
    return bytes[to] === comma ? to + 1 : to
  }
}

/** 30 bits of an id, from 5 of its digits. */
function half(bytes: Uint8Array, at: number): number {
  let value = 0
  let all = 0
  for (let i = at; i < at + halfChars; i++) {
    const digit = digits[bytes[i] ?? 0] ?? -1
    all |= digit
    value = (value << 6) | (digit & 0x3f)
  }
  if (all < 0) throw fault('an id is no base64url')
  return value
}

function indexOf(bytes: Uint8Array, pattern: Uint8Array): number {
  const first = pattern[0] ?? 0
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (pattern.every((byte, i) => bytes[at + i] === byte)) return at
  }
  return -1
}

function fault(reason: string): DecodeError {
  return new DecodeError('checkpoint', reason)
}
