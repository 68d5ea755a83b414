// The ids of receipts: sealed notes that carry what a receipt says, so any gateway can answer for one as long as the chain
// exists, with no table of receipts anywhere. Bytes: u8 version | body below, length-prefixed where it varies | 12 bytes of
// SHA3-256 over the secret and all before; as base64url. Texts that say nothing are empty: token, key, and the epoch, last
// number and identity of a producer.

import { timingSafeEqual } from 'node:crypto'
import { type DatasetId, type Hash, datasetIdText, multihashText } from '../../libraries/base/ids/identifiers.ts'
import { sha3256Hex } from '../../libraries/base/ids/native-crypto.ts'
import { assert } from '../../libraries/base/assert.ts'
import { concatBytes, decodeUtf8 } from '../../libraries/base/bytes.ts'
import { DecodeError } from '../../libraries/base/errors.ts'

const version = 1
const sealBytes = 12
const didBytes = 34
const hashBytes = 34
const idBytes = 32
/** Length byte and bytes of a text. */
const maxTextBytes = 1 + 255
const didPrefixChars = 'did:odf:f'.length
/** Numbers of a note in their order, little-endian, with their bytes. */
const numbers = [
  ['partition', 2],
  ['index', 2],
  ['position', 6],
  ['rows', 6],
  ['bytes', 6],
  ['receivedMs', 6],
  ['acceptedMs', 6],
] as const
const fixedBytes = 1 + didBytes + idBytes + hashBytes + numbers.reduce((sum, [, size]) => sum + size, 0)

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
  /** Id of the log that the position is in. */
  readonly log: string
  readonly rows: number
  readonly bytes: number
  readonly receivedMs: number
  readonly acceptedMs: number
  readonly mediaType: string
  readonly tokenId: string | undefined
  readonly key: string | undefined
  /** Of a batch of a numbered stream: its producer, and the last of its numbers. */
  readonly producer?: { readonly identity: Hash; readonly epoch: number; readonly last: number } | undefined
}

/** The id of a receipt, sealed with `secret`. */
export function encodeReceiptId(note: ReceiptNote, secret: Uint8Array): string {
  const { producer } = note
  const range = producer === undefined ? '' : `${producer.epoch} ${producer.last} ${producer.identity}`
  const texts = [note.mediaType, note.tokenId ?? '', note.key ?? '', range, note.log]
  // The secret stands before the note while it is sealed.
  const start = secret.length
  const out = Buffer.allocUnsafe(start + fixedBytes + texts.length * maxTextBytes + sealBytes)
  out.set(secret)
  out[start] = version
  // Both texts are base16 after a prefix.
  let at = start + 1 + out.write(note.dataset.slice(didPrefixChars), start + 1, 'hex')
  at += out.write(note.batchId, at, 'base64url')
  at += out.write(note.bodyHash.slice(1), at, 'hex')
  assert(at === start + 1 + didBytes + idBytes + hashBytes, 'dataset, batch and body hash have their lengths')
  for (const [name, size] of numbers) at = out.writeUIntLE(note[name], at, size)
  for (const text of texts) {
    const length = out.write(text, at + 1)
    at = out.writeUInt8(length, at) + length
  }
  at += out.write(seal(out.subarray(0, at)), at, 'hex')
  return out.toString('base64url', start, at)
}

/** The note of an id, or undefined when it is not one that `secret` sealed. */
export function decodeReceiptId(text: string, secret: Uint8Array): ReceiptNote | undefined {
  if (!/^[A-Za-z0-9_-]{200,1400}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  // Bits that no byte takes may be written in several ways, of which one is the id.
  if (bytes.toString('base64url') !== text) return undefined
  const body = bytes.subarray(0, -sealBytes)
  if (body.length < fixedBytes + 5 || body[0] !== version) return undefined
  const expected = Buffer.from(seal(concatBytes([secret, body])), 'hex')
  if (!timingSafeEqual(bytes.subarray(-sealBytes), expected)) return undefined
  try {
    return readNote(body)
  } catch (error) {
    if (error instanceof DecodeError || error instanceof RangeError || error instanceof TypeError) return undefined
    throw error
  }
}

function readNote(body: Buffer): ReceiptNote {
  let at = 1 + didBytes + idBytes + hashBytes
  const read = numbers.map(([name, size]) => {
    at += size
    return [name, body.readUIntLE(at - size, size)]
  })
  const text = (): string => {
    const length = body[at] ?? 0
    const value = decodeUtf8(body.subarray(at + 1, at + 1 + length))
    at += 1 + length
    return value
  }
  const [mediaType, tokenId, key, range, log] = [text(), text(), text(), text(), text()]
  const [epoch = '', last, identity = ''] = range.split(' ')
  return {
    dataset: datasetIdText(body.subarray(1, 1 + didBytes)),
    batchId: body.subarray(1 + didBytes, 1 + didBytes + idBytes).toString('base64url'),
    bodyHash: multihashText(body.subarray(1 + didBytes + idBytes, 1 + didBytes + idBytes + hashBytes)),
    ...(Object.fromEntries(read) as Record<(typeof numbers)[number][0], number>), // each name of the table
    mediaType,
    tokenId: tokenId === '' ? undefined : tokenId,
    key: key === '' ? undefined : key,
    log,
    ...(epoch === '' ? {} : { producer: { identity, epoch: Number(epoch), last: Number(last) } }),
  }
}

/** SHA3-256 over secret and note, in hex: a sponge has no length extension, so this is a MAC, and cheaper than HMAC. */
function seal(secretAndNote: Uint8Array): string {
  return sha3256Hex(secretAndNote).slice(0, 2 * sealBytes)
}
