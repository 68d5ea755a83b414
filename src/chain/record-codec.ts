// Bytes of the small records beside blocks and slices: canonical JSON with exactly the members of model/records.ts.
// Reading is strict: another member, another type or another spelling of the same value is not this record.

import { canonicalBytes } from '../json/canonical.ts'
import { fromPlain, parseJson } from '../json/json.ts'
import { equalBytes } from '../lib/bytes.ts'
import { DecodeError } from '../model/errors.ts'
import { JsonNumber, type JsonValue } from '../model/json.ts'
import { isName } from '../model/names.ts'
import type { AdoptionRecord, CommitRecord, FloorRecord, LogRecord, NameRecord, RejectRecord } from './records.ts'

const idPattern = /^did:odf:fed01[0-9a-f]{64}$/
const logKindPattern = /^(?:file|kafka|memory)$/
const hashPattern = /^f1620[0-9a-f]{64}$/
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const numberPattern = /^(?:0|[1-9][0-9]*)$/

export function encodeNameRecord(record: NameRecord): Uint8Array {
  return canonicalBytes(fromPlain(record))
}

/** Throws `DecodeError`. */
export function decodeNameRecord(bytes: Uint8Array): NameRecord {
  const read = open('name record', bytes)
  const visibility = read.text('visibility')
  if (visibility !== 'public' && visibility !== 'private') throw read.fault('visibility is neither public nor private')
  const alias = read.text('alias')
  const parts = alias.split('/')
  if (parts.length !== 2 || !parts.every(isName)) throw read.fault('alias is not account/dataset')
  const record: NameRecord = {
    id: read.text('id', idPattern),
    alias,
    log: read.text('log'),
    partition: read.natural('partition'),
    visibility,
  }
  return read.done(record, encodeNameRecord)
}

export function encodeCommitRecord(record: CommitRecord): Uint8Array {
  return canonicalBytes(fromPlain(record))
}

/** Throws `DecodeError`. */
export function decodeCommitRecord(bytes: Uint8Array): CommitRecord {
  const read = open('commit record', bytes)
  const blocks = read
    .list('blocks')
    .map((hash, at) => textOf(hash, hashPattern) ?? raise(read.fault(`blocks[${at}] is no hash`)))
  if (blocks.length === 0) throw read.fault('blocks is empty')
  const record: CommitRecord = {
    blocks,
    log: read.text('log'),
    partition: read.natural('partition'),
    next: read.natural('next'),
  }
  return read.done(record, encodeCommitRecord)
}

export function encodeFloorRecord(record: FloorRecord): Uint8Array {
  return canonicalBytes(fromPlain(record))
}

/** Throws `DecodeError`. */
export function decodeFloorRecord(bytes: Uint8Array): FloorRecord {
  const read = open('floor record', bytes)
  const halted = haltedOf(read)
  const anchor = read.optionalText('anchor', hashPattern)
  const record: FloorRecord = {
    log: read.text('log'),
    partition: read.natural('partition'),
    position: read.natural('position'),
    ...(anchor === undefined ? {} : { anchor }),
    halted,
  }
  if ((record.position === 0) !== (anchor === undefined))
    throw read.fault('anchor is absent at position 0, and only there')
  return read.done(record, encodeFloorRecord)
}

function haltedOf(read: Members): FloorRecord['halted'] {
  return read.list('halted').map((item) => {
    const entry = membersOf('halted dataset', item)
    const message = entry.optionalNatural('message')
    return {
      dataset: entry.text('dataset', idPattern),
      position: entry.natural('position'),
      reason: entry.text('reason'),
      ...(message === undefined ? {} : { message }),
    }
  })
}

export function encodeAdoptionRecord(record: AdoptionRecord): Uint8Array {
  return canonicalBytes(fromPlain(record))
}

/** Throws `DecodeError`. */
export function decodeAdoptionRecord(bytes: Uint8Array): AdoptionRecord {
  const read = open('adoption record', bytes)
  const partitions = read.list('partitions').map((item) => {
    const part = membersOf('partition of an adoption record', item)
    const end = part.optionalNatural('end')
    return { floor: part.natural('floor'), ...(end === undefined ? {} : { end }) }
  })
  const begin = read.naturals('begin')
  const record: AdoptionRecord = {
    old: read.text('old'),
    new: read.text('new'),
    partitions,
    halted: haltedOf(read),
    begin,
  }
  if (record.old === record.new) throw read.fault('a log takes over from itself')
  if (partitions.length === 0 || begin.length === 0) throw read.fault('a log has a partition')
  return read.done(record, encodeAdoptionRecord)
}

export function encodeLogRecord(record: LogRecord): Uint8Array {
  return canonicalBytes(fromPlain(record))
}

/** Throws `DecodeError`. */
export function decodeLogRecord(bytes: Uint8Array): LogRecord {
  const read = open('log record', bytes)
  const kind = read.text('kind', logKindPattern)
  const record: LogRecord = { id: read.text('id'), kind, partitions: read.natural('partitions') }
  if (record.partitions === 0) throw read.fault('partitions is 0')
  return read.done(record, encodeLogRecord)
}

export function encodeRejectRecord(record: RejectRecord): Uint8Array {
  return canonicalBytes(fromPlain(record))
}

/** Throws `DecodeError`. */
export function decodeRejectRecord(bytes: Uint8Array): RejectRecord {
  const read = open('rejection of an operator', bytes)
  const dataset = read.optionalText('dataset', idPattern)
  const record: RejectRecord = {
    ...(dataset === undefined ? {} : { dataset }),
    reason: read.text('reason'),
    by: read.text('by'),
    at: read.text('at', timePattern),
  }
  return read.done(record, encodeRejectRecord)
}

/** The members of one object, each taken by name and type. */
interface Members {
  text(name: string, pattern?: RegExp): string
  optionalText(name: string, pattern?: RegExp): string | undefined
  natural(name: string): number
  optionalNatural(name: string): number | undefined
  naturals(name: string): readonly number[]
  list(name: string): readonly JsonValue[]
  fault(reason: string): DecodeError
  /** `record`, if encoding it gives the very bytes that were read (so no other member, order or spelling). */
  done<T>(record: T, encode: (record: T) => Uint8Array): T
}

function open(what: string, bytes: Uint8Array): Members {
  return membersOf(what, parseJson(bytes), bytes)
}

function membersOf(what: string, value: JsonValue, bytes: Uint8Array = new Uint8Array(0)): Members {
  const fault = (reason: string): DecodeError => new DecodeError(what, reason)
  if (!(value instanceof Map)) throw fault('is no object')
  const optionalText = (name: string, pattern?: RegExp): string | undefined => {
    const member = value.get(name)
    return member === undefined
      ? undefined
      : (textOf(member, pattern) ?? raise(fault(`${name} is not as it should be`)))
  }
  const list = (name: string): readonly JsonValue[] => {
    const member = value.get(name)
    return Array.isArray(member) ? member : raise(fault(`${name} is no list`))
  }
  return {
    optionalText,
    text: (name, pattern) => optionalText(name, pattern) ?? raise(fault(`${name} is missing`)),
    natural: (name) => naturalOf(value.get(name)) ?? raise(fault(`${name} is no natural number`)),
    optionalNatural: (name) =>
      value.has(name) ? (naturalOf(value.get(name)) ?? raise(fault(`${name} is no natural number`))) : undefined,
    naturals: (name) =>
      list(name).map((item) => naturalOf(item) ?? raise(fault(`${name} holds what is no natural number`))),
    list,
    fault,
    done(record, encode) {
      if (!equalBytes(encode(record), bytes))
        throw fault('has other members or another spelling than the canonical one')
      return record
    },
  }
}

function textOf(value: JsonValue, pattern = /^/): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined
}

function naturalOf(value: JsonValue | undefined): number | undefined {
  const number = value instanceof JsonNumber && numberPattern.test(value.token) ? Number(value.token) : Number.NaN
  return Number.isSafeInteger(number) ? number : undefined
}

function raise(error: Error): never {
  throw error
}
