// Collects the faults of one body: the first with their places, up to a hundred, and how many there are in all.

import { utf8 } from '../base/bytes.ts'
import { defined } from '../base/collections.ts'
import { shortened } from '../base/shortened.ts'
import { foldAscii } from '../model/names.ts'
import { NodeError, type RecordError, type RecordErrorKind } from '../base/errors.ts'
import { maxNameBytes } from '../model/schema.ts'
import { type Charset, sourceBytes } from './dialect/charset.ts'

/** Records at the start of a body that columns are inferred from. */
export const sampleRecords = 10_000
const maxErrors = 100
/** Of the errors that are told, as JSON: names of control characters take six times their length there. */
const maxToldBytes = 192 * 1024
const maxExcerptChars = 80
/** Names stand in messages, and a name may be as long as a record. */
const maxMessageChars = 600
const maxPointerChars = 1000
const lenientDecoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** A fault where it was found: `bytes[at, end)` is the faulty value or record. */
export interface Fault {
  readonly kind: RecordErrorKind
  readonly message: string
  readonly bytes: Uint8Array
  readonly at: number
  readonly end: number
  readonly column?: string
  readonly pointer?: string
}

/** Where the bytes of a record lie in the body; one object per body, changed from record to record. */
export class RecordPlace {
  /** Index of the record's first byte in the bytes handed over. */
  start = 0
  /** 1-based line of that byte. */
  line = 1
  private first = 0
  /** Of a body that is not UTF-8: what stands before the record, from `first` on, and its set. */
  private before: { readonly charset: Charset; readonly bytes: Uint8Array; readonly end: number } | undefined
  /** Where it was asked for last. */
  private last: { readonly bytes: Uint8Array; readonly end: number; readonly offset: number } | undefined

  /** Offset in the body, as it was sent, of the record's first byte. */
  get offset(): number {
    if (this.before === undefined) return this.first
    const { charset, bytes, end } = this.before
    const { last } = this
    const from = last?.bytes === bytes && last.end <= end ? last : { end: 0, offset: this.first }
    const offset = from.offset + sourceBytes(charset, bytes, from.end, end)
    this.last = { bytes, end, offset }
    return offset
  }

  set offset(offset: number) {
    this.first = offset
    this.before = undefined
  }

  /** The record begins at `bytes[end]`, of bytes that began at `offset` in another character set. */
  follow(offset: number, charset: Charset, bytes: Uint8Array, end: number): void {
    this.first = offset
    this.before = { charset, bytes, end }
  }

  /** Bytes of the body, as it was sent, from the first of the record to `bytes[at]`. */
  bytesTo(bytes: Uint8Array, at: number): number {
    const { before, start } = this
    return before === undefined ? at - start : sourceBytes(before.charset, bytes, start, at)
  }
}

/** `bytes[at, end)` as at most 80 characters, control characters escaped. */
export function excerptOf(bytes: Uint8Array, at: number, end: number): string {
  const text = lenientDecoder.decode(bytes.subarray(at, Math.min(end, at + 4 * maxExcerptChars)))
  let out = ''
  let chars = 0
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0
    const shown = code < 0x20 || (code >= 0x7f && code < 0xa0) ? `\\u${code.toString(16).padStart(4, '0')}` : char
    chars += shown.length
    if (chars > maxExcerptChars) break
    out += shown
  }
  return out
}

const inferredHint =
  'The columns were inferred from the first 10,000 records; where others differ, declare the columns with PUT first'
export const fractionReason = 'a number with a fraction'
const fractionHint =
  'Whole numbers make columns of integers. integers=float64, with the batch that makes the column, makes one that takes fractions too.'
const rangeHint = ' (integers=float64 rounds integers that are too long, with a warning)'

/** Faults of records that cannot be read. */
const syntaxKinds: ReadonlySet<RecordErrorKind> = new Set([
  'MalformedRecord',
  'UnclosedQuote',
  'InvalidUtf8',
  'TooDeep',
] as const)
/** Faults of values that other columns would take. */
const typeKinds: ReadonlySet<RecordErrorKind> = new Set(['WrongType', 'OutOfRange', 'BadTimestamp', 'BadDate'] as const)

/** The faults of one body. */
export class FaultLog {
  readonly errors: RecordError[] = []
  total = 0
  /** What to do about the faults, where a reader knows it. */
  hint: string | undefined = undefined
  /** What a fault of no record is in. */
  whole = 'The header'
  private toldBytes = 0
  private countedRecord = -1
  private countedBytes = 0
  private countedLine = 1

  /** Notes a fault of record number `record` (undefined: of a CSV header), whose first byte is at `place`. */
  add(fault: Fault, record: number | undefined, place: RecordPlace): void {
    this.total += 1
    if (this.isFull) return
    const { kind, message, bytes, at, end, column, pointer } = fault
    this.addBounded({
      ...defined({ record }),
      line: this.lineOf(fault, place),
      byteOffset: place.offset + place.bytesTo(bytes, at),
      ...defined({ column, pointer }),
      kind,
      message,
      ...(end > at ? { excerpt: excerptOf(bytes, at, end) } : {}),
    })
  }

  /** The line of a fault; goes on from the fault before where that was earlier in the same record. */
  private lineOf({ bytes, at }: Fault, place: RecordPlace): number {
    const { offset } = place
    if (this.countedRecord !== offset || this.countedBytes > at - place.start) {
      this.countedRecord = offset
      this.countedBytes = 0
      this.countedLine = place.line
    }
    for (let i = place.start + this.countedBytes; i < at; i++) if (bytes[i] === 0x0a) this.countedLine += 1
    this.countedBytes = at - place.start
    return this.countedLine
  }

  /** A fault whose bytes are no longer at hand. */
  addBare(error: RecordError): void {
    this.total += 1
    if (!this.isFull) this.addBounded(error)
  }

  private get isFull(): boolean {
    return this.errors.length >= maxErrors || this.toldBytes > maxToldBytes
  }

  /** A pointer that is too long is left out: a part of it would lead elsewhere. */
  private addBounded({ column, pointer, message, ...error }: RecordError): void {
    const bounded = {
      ...error,
      ...(column === undefined ? {} : { column: shortened(column, maxNameBytes) }),
      ...(pointer === undefined || pointer.length > maxPointerChars ? {} : { pointer }),
      message: shortened(message, maxMessageChars),
    }
    this.toldBytes += utf8(JSON.stringify(bounded)).length
    if (this.toldBytes <= maxToldBytes) this.errors.push(bounded)
  }

  /** The error that tells the caller all of it. `inferred`: the columns were guessed from this very body; `isWhole`: it was read to its end. */
  toError(inferred: boolean, { isWhole } = { isWhole: true }): NodeError {
    const own = inferred ? withoutUnlearnt(this.errors) : this.errors
    const total = this.total - this.errors.length + own.length
    // Names without a column may follow from what could not be read.
    const [earliest] = own
    const syntax = own.find(({ kind }) => syntaxKinds.has(kind))
    const first = earliest?.kind === 'UnknownField' ? (syntax ?? earliest) : earliest
    const place = first?.record === undefined ? this.whole : `Record ${first.record}`
    // A time that does not fit where inference has looked is in a column that it did not make: that of the event time.
    const differs = own.some((one) => typeKinds.has(one.kind) && !(one.kind.startsWith('Bad') && isSampled(one.record)))
    const isTooLong = own.some(({ kind }) => kind === 'OutOfRange')
    const hasFraction = own.some(({ message }) => message.includes(fractionReason))
    const guessed = hasFraction
      ? fractionHint
      : inferred && differs
        ? `${inferredHint}${isTooLong ? rangeHint : ''}.`
        : undefined
    const hint = this.hint ?? (first?.kind === 'ReservedColumn' ? reservedHint : guessed)
    const rest = total > 1 ? ` Faults in all${isWhole ? '' : ' of what was read'}: ${total}.` : ''
    const errors = first === undefined ? [] : [first, ...own.filter((error) => error !== first)]
    return new NodeError(
      'RecordsDoNotFit',
      `${place}: ${first?.message ?? 'does not fit.'}${rest} Nothing was stored.`,
      { errors, errorsTotal: total, ...defined({ hint }) },
    )
  }
}

/**
 * The errors without names that got no column because their own record taught nothing: it cannot be read, and what is wrong with it
 * stands beside them. All of them where nothing does.
 */
function withoutUnlearnt(errors: readonly RecordError[]): readonly RecordError[] {
  const others = new Set(errors.filter(({ kind }) => kind !== 'UnknownField').map(({ record }) => record))
  return errors.filter(({ kind, record }) => kind !== 'UnknownField' || !isSampled(record) || !others.has(record))
}

function isSampled(record: number | undefined): boolean {
  return record !== undefined && record < sampleRecords
}

const reservedHint =
  'Send it under another name, such as source_offset; or make the dataset with PUT and a vocab that gives the system column ' +
  'another one: {"vocab":{"offsetColumn":"row","operationTypeColumn":"operation","systemTimeColumn":"stored_at"}}.'

/** The message of `UnknownField`; `valueless`: folded names that inference met without a value; undefined where there was none. */
export function unknownFieldMessage(field: string, valueless: ReadonlySet<string> | undefined): string {
  const name = shortened(field, maxNameBytes)
  if (valueless?.has(foldAscii(field)) === true) {
    return `'${name}' has no value in the first 10,000 records, so it got no column; create the dataset with a schema.`
  }
  if (valueless !== undefined) {
    return `'${name}' is in none of the first 10,000 records, from which the columns were made. Declare it with PUT, or add it with a separate batch.`
  }
  return `The dataset has no column '${name}'; say unknownFields=add to add what is in the first 10,000 records, or unknownFields=ignore to drop it.`
}
