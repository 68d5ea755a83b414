// Receipt ids. An id is a sealed note: it names dataset, batch and log position and carries what the receipt repeats,
// so any gateway can answer for it as long as the chain exists, with no table of receipts anywhere.
// Bytes: u8 version | body below, length-prefixed where it varies | 12 bytes of HMAC-SHA256 over all before. base64url.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { concatBytes, decodeUtf8, utf8 } from '../lib/bytes.ts'
import { datasetIdBytes, datasetIdText } from '../codec/did.ts'
import { multihashBytes, multihashText } from '../codec/multihash.ts'
import { DecodeError } from '../model/errors.ts'
import type { DatasetId, Hash } from '../model/events.ts'

const version = 1
const sealBytes = 12
const didBytes = 34
const hashBytes = 34
const idBytes = 32
const fixedBytes = 1 + didBytes + idBytes + hashBytes + 2 + 2 + 6 + 6 + 6 + 6 + 6

/** What a receipt id carries. */
export interface ReceiptNote {
  readonly dataset: DatasetId
  /** base64url of 32 bytes. */
  readonly batchId: string
  readonly bodyHash: Hash
  readonly partition: number
  readonly index: number
  /** Position of the message that completes the batch. */
  readonly position: number
  readonly rows: number
  readonly bytes: number
  readonly receivedMs: number
  readonly acceptedMs: number
  readonly mediaType: string
  readonly tokenId: string | undefined
  readonly key: string | undefined
}

/** The id of a receipt, sealed with `secret`. */
export function encodeReceiptId(note: ReceiptNote, secret: Uint8Array): string {
  const fixed = Buffer.alloc(fixedBytes)
  fixed[0] = version
  fixed.set(datasetIdBytes(note.dataset), 1)
  fixed.set(Buffer.from(note.batchId, 'base64url'), 1 + didBytes)
  fixed.set(multihashBytes(note.bodyHash), 1 + didBytes + idBytes)
  let at = 1 + didBytes + idBytes + hashBytes
  at = fixed.writeUInt16LE(note.partition, at)
  at = fixed.writeUInt16LE(note.index, at)
  for (const value of [note.position, note.rows, note.bytes, note.receivedMs, note.acceptedMs])
    at = fixed.writeUIntLE(value, at, 6)
  const texts = [note.mediaType, note.tokenId ?? '', note.key ?? ''].flatMap((text) => {
    const bytes = utf8(text)
    return [Uint8Array.of(bytes.length), bytes]
  })
  const body = concatBytes([fixed, ...texts])
  return Buffer.concat([body, seal(body, secret)]).toString('base64url')
}

/** The note of an id, or undefined when it is not one that `secret` sealed. */
export function decodeReceiptId(text: string, secret: Uint8Array): ReceiptNote | undefined {
  if (!/^[A-Za-z0-9_-]{200,1400}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  const body = bytes.subarray(0, -sealBytes)
  if (body.length < fixedBytes + 3 || body[0] !== version) return undefined
  if (!timingSafeEqual(bytes.subarray(-sealBytes), seal(body, secret))) return undefined
  try {
    return readNote(body)
  } catch (error) {
    if (error instanceof DecodeError || error instanceof RangeError || error instanceof TypeError) return undefined
    throw error
  }
}

function readNote(body: Buffer): ReceiptNote {
  let at = 1 + didBytes + idBytes + hashBytes
  const take = (size: 2 | 6): number => {
    const value = body.readUIntLE(at, size)
    at += size
    return value
  }
  const partition = take(2)
  const index = take(2)
  const [position, rows, bytes, receivedMs, acceptedMs] = [take(6), take(6), take(6), take(6), take(6)]
  const text = (): string => {
    const length = body[at] ?? 0
    const value = decodeUtf8(body.subarray(at + 1, at + 1 + length))
    at += 1 + length
    return value
  }
  const [mediaType, tokenId, key] = [text(), text(), text()]
  return {
    dataset: datasetIdText(body.subarray(1, 1 + didBytes)),
    batchId: body.subarray(1 + didBytes, 1 + didBytes + idBytes).toString('base64url'),
    bodyHash: multihashText(body.subarray(1 + didBytes + idBytes, 1 + didBytes + idBytes + hashBytes)),
    partition,
    index,
    position,
    rows,
    bytes,
    receivedMs,
    acceptedMs,
    mediaType,
    tokenId: tokenId === '' ? undefined : tokenId,
    key: key === '' ? undefined : key,
  }
}

function seal(body: Uint8Array, secret: Uint8Array): Uint8Array {
  return createHmac('sha256', secret).update(body).digest().subarray(0, sealBytes)
}
