// Messages of the log ↔ bytes: `"PRFSTRM", version | u32 header length | header JSON | payload | u32 crc32c`, integers
// little-endian; the checksum covers everything before it. Both logs store exactly these bytes. Below: the contracts of
// `streams/` at run time. This is the only reader of those files; a schema is compiled at its first use.

import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { assert, must } from '../../libraries/base/assert.ts'
import { decodeUtf8, utf8 } from '../../libraries/base/bytes.ts'
import { crc32c, isSealed, joinedCrc32c, rememberedCrc32c, rememberSealed } from '../../libraries/base/crc32c.ts'
import { HaltError } from '../../libraries/base/errors.ts'
import type { BatchEntry, CommitAnnouncement, MessageHeader } from './messages.gen.ts'

const magic = utf8('PRFSTRM')
/** Version of the stream, after the magic as a digit. */
const version = 1
const versionAt = magic.length
const lengthAt = versionAt + 1
const headerAt = lengthAt + 4
const digitZero = 0x30
const crcBytes = 4

/** A message of ours, or bytes that something else has put into the log. */
export type DecodedMessage =
  | { readonly kind: 'foreign' }
  | { readonly kind: 'message'; readonly header: MessageHeader; readonly payload: Uint8Array }

/**
 * Bytes of a message. A header that decoding would refuse is a failed assertion: once stored, it would stop every
 * builder. Only `rows` carry a payload, which may come in pieces.
 */
export function encodeMessage(header: MessageHeader, ...payload: readonly Uint8Array[]): Uint8Array {
  let payloadBytes = 0
  for (const piece of payload) payloadBytes += piece.length
  const fault = faultOf(header, payloadBytes)
  assert(fault === undefined, `message to write: ${fault}`)
  const headerBytes = utf8(JSON.stringify(header))
  const payloadAt = headerAt + headerBytes.length
  const out = new Uint8Array(payloadAt + payloadBytes + crcBytes)
  out.set(magic)
  out[versionAt] = digitZero + version
  const view = new DataView(out.buffer)
  view.setUint32(lengthAt, headerBytes.length, true)
  out.set(headerBytes, headerAt)
  let at = payloadAt
  let sum = crc32c(out, 0, payloadAt)
  for (const piece of payload) {
    out.set(piece, at)
    at += piece.length
    const own = rememberedCrc32c(piece)
    sum = own === undefined ? crc32c(piece, 0, piece.length, sum) : joinedCrc32c(sum, own, piece.length)
  }
  view.setUint32(at, sum, true)
  rememberSealed(out)
  return out
}

/**
 * Reads a message. The payload is a view of `bytes`.
 * Throws HaltError `NewerLog` for a version or kind that this code does not know, `LogDamaged` for a wrong checksum
 * or a header that breaks the contract.
 */
export function decodeMessage(bytes: Uint8Array): DecodedMessage {
  for (let i = 0; i < versionAt; i++) if (bytes[i] !== magic[i]) return { kind: 'foreign' }
  if (bytes.length <= versionAt) return { kind: 'foreign' }
  if (bytes[versionAt] !== digitZero + version) {
    throw new HaltError('NewerLog', 'a message has a stream version that this build does not know; upgrade the builder')
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const crcAt = bytes.length - crcBytes
  const isIntact = (): boolean => isSealed(bytes) || crc32c(bytes, 0, crcAt) === view.getUint32(crcAt, true)
  if (crcAt < headerAt || !isIntact()) throw damaged('its checksum is wrong')
  const payloadAt = headerAt + view.getUint32(lengthAt, true)
  if (payloadAt > crcAt) throw damaged('its header is longer than the message')
  const header = parseHeader(bytes.subarray(headerAt, payloadAt))
  if (isObject(header) && typeof header['kind'] === 'string' && !messageKinds.has(header['kind'])) {
    throw new HaltError(
      'NewerLog',
      `a message is of a kind that this build does not know (${header['kind'].slice(0, 40)})`,
    )
  }
  const fault = faultOf(header, crcAt - payloadAt)
  if (fault !== undefined) throw damaged(fault)
  // `as`: faultOf has just checked the value against the schema that the type is generated from.
  return { kind: 'message', header: header as MessageHeader, payload: bytes.subarray(payloadAt, crcAt) }
}

/** Why a header, with a payload of that length, breaks the contract: the schema and what a schema cannot say. */
function faultOf(value: unknown, payloadBytes: number): string | undefined {
  const fault = checkMessageHeader(value)
  if (fault !== undefined) return fault
  // `as`: the schema has just been checked.
  const header = value as MessageHeader
  if (header.kind !== 'rows') return payloadBytes > 0 ? `a ${header.kind} has a payload` : undefined
  const ofProducer = header.batches?.map(producerFault).find((one) => one !== undefined)
  if (header.part === undefined || ofProducer !== undefined) return ofProducer
  const { attempt, number, count = number } = header.part
  if (number > count) return 'header/part/number is above the count'
  if (number < count) return 'header/part/count is not that of a last part'
  if (attempt.writer !== header.writer) return 'header/part/attempt is of another writer'
  if (number === 1 ? attempt.n !== header.n : attempt.n >= header.n) return 'header/part/attempt is not that of part 1'
  return undefined
}

function producerFault({ producer, key, rows }: BatchEntry): string | undefined {
  if (producer === undefined) return undefined
  if (key !== undefined) return 'header/batches has a key beside a producer'
  return producer.last - producer.first + 1 < rows ? 'header/batches/producer has fewer numbers than rows' : undefined
}

function parseHeader(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decodeUtf8(bytes))
  } catch {
    throw damaged('its header is not JSON in UTF-8')
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function damaged(reason: string): HaltError {
  return new HaltError('LogDamaged', `a message cannot be read: ${reason}`)
}

/** A schema's verdict on a value: undefined when it fits, else why not and where. */
export type Check = (value: unknown) => string | undefined

const kinds: readonly MessageHeader['kind'][] = ['create', 'rows', 'abort', 'cut', 'change', 'delete', 'restore']
const messageKinds: ReadonlySet<string> = new Set(kinds)

/** Why `value` is not a `MessageHeader`, or undefined. */
export const checkMessageHeader: Check = lazyCheck<MessageHeader>('records/v1.schema.json', 'header')

/** Why `value` is not a `CommitAnnouncement` of commits version 1, or undefined. */
export const checkCommitAnnouncement: Check = lazyCheck<CommitAnnouncement>('commits/v1.schema.json', 'announcement')

/** Compiles the schemas now (some 80 ms), so that the first message does not wait for it. */
export function prepareContract(): void {
  checkMessageHeader(undefined)
  checkCommitAnnouncement(undefined)
}

function lazyCheck<T>(path: string, what: string): Check {
  let validate: ValidateFunction<T> | undefined
  return (value) => {
    validate ??= compileSchema<T>(path)
    if (validate(value)) return undefined
    const fault = must(validate.errors?.[0], 'a failed validation names its fault')
    return `${what}${fault.instancePath} ${fault.message ?? fault.keyword}`
  }
}

function compileSchema<T>(path: string): ValidateFunction<T> {
  const text = readFileSync(new URL(`../../../streams/${path}`, import.meta.url), 'utf8')
  const ajv = new Ajv({ discriminator: true, strict: true, strictTypes: false, strictRequired: false })
  return ajv.compile<T>(JSON.parse(text))
}

/** Settings of a topic of Kafka by name, values as the broker writes them. */
export type TopicSettings = Readonly<Record<string, string>>

/** Address and settings of a channel of `streams/asyncapi.json` as a topic of Kafka. */
export function topicContract(channel: 'records' | 'commits'): {
  readonly address: string
  readonly settings: TopicSettings
} {
  const text = readFileSync(new URL('../../../streams/asyncapi.json', import.meta.url), 'utf8')
  // `as`: the shape of the document is held by a test.
  const { channels } = JSON.parse(text) as AsyncApiDocument
  const { address, bindings } = channels[channel]
  const settings = Object.entries(bindings.kafka.topicConfiguration).map(([name, value]) => [name, String(value)])
  return { address, settings: Object.fromEntries(settings) }
}

interface AsyncApiChannel {
  readonly address: string
  readonly bindings: { readonly kafka: { readonly topicConfiguration: Readonly<Record<string, unknown>> } }
}

interface AsyncApiDocument {
  readonly channels: Readonly<Record<'records' | 'commits', AsyncApiChannel>>
}
