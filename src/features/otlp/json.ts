// OpenTelemetry logs in JSON: the objects around log records, walked over so that one record is held at a time. Names are
// those of protobuf's JSON, or the original ones; members that are not known are passed over.
// Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding

import { isUtf8 } from 'node:buffer'
import { parseJson } from '../../libraries/base/json/json.ts'
import type { JsonObject } from '../../libraries/base/json/value.ts'
import { JsonScanner } from '../../libraries/formats/json/scanner.ts'
import {
  closeBrace,
  closeBracket,
  openBrace,
  openBracket,
  skipSpace,
  stringText,
} from '../../libraries/formats/json/text.ts'
import { originalName, recordOf, resourceOf, scopeIn } from './json-values.ts'
import { deepestValue, type LogSink, malformedLogs } from './log-record.ts'

/** Around values: export, resource, scope, record, attribute, and two levels for each value in a value. */
const maxDepth = 16 + 4 * deepestValue
const longestName = 80
const nullStart = 0x6e

/** Hands over each record in order. Throws NodeError `MalformedBody`. */
export function readJsonLogs(bytes: Uint8Array, sink: LogSink): void {
  new JsonLogs(bytes, sink).read()
}

class JsonLogs {
  readonly #bytes: Uint8Array
  readonly #sink: LogSink
  readonly #scanner = new JsonScanner(maxDepth)
  /** A member that nobody knows. */
  #other: string | undefined
  #records = 0
  #isEnough = false

  constructor(bytes: Uint8Array, sink: LogSink) {
    this.#bytes = bytes
    this.#sink = sink
  }

  read(): void {
    const root = this.#demandJson()
    for (const ofResource of this.#objects(this.#members(root, ['resourceLogs']).get('resourceLogs'), 'resourceLogs')) {
      this.#readResource(ofResource)
      if (this.#isEnough) return
    }
    if (this.#records > 0 || this.#other === undefined) return
    throw malformedLogs(`it holds no log record, and a member '${this.#other}' that is not known`)
  }

  #readResource(at: number): void {
    const members = this.#members(at, ['resource', 'scopeLogs', 'schemaUrl'])
    const resource = resourceOf(this.#value(members.get('resource')))
    for (const ofScope of this.#objects(members.get('scopeLogs'), 'scopeLogs')) {
      this.#readScope(ofScope, resource)
      if (this.#isEnough) return
    }
  }

  #readScope(at: number, resource: JsonObject): void {
    const members = this.#members(at, ['scope', 'logRecords', 'schemaUrl'])
    const list = members.get('logRecords')
    let records = 0
    for (const _ of this.#objects(list, 'logRecords')) records += 1
    if (records === 0) return
    this.#records += records
    this.#sink.begin(resource, scopeIn(this.#value(members.get('scope'))), records)
    for (const record of this.#objects(list, 'logRecords')) {
      this.#isEnough = !this.#sink.record(recordOf(this.#value(record)))
      if (this.#isEnough) return
    }
  }

  /** Index of the object that the body is. From here on it is known to be well-formed. */
  #demandJson(): number {
    const bytes = this.#bytes
    if (!isUtf8(bytes)) throw malformedLogs('the JSON is not valid UTF-8')
    const at = skipSpace(bytes, 0, bytes.length)
    const after = this.#scanner.check(bytes, at, bytes.length, 1)
    if (after < 0) {
      const { message, at: faultAt } = this.#scanner
      const reason = message.replace(/^The record/, 'it').replace(/\.$/, '')
      throw malformedLogs(`the JSON is faulty at byte ${faultAt} (${reason})`)
    }
    if (skipSpace(bytes, after, bytes.length) < bytes.length) throw malformedLogs(`something follows at byte ${after}`)
    if (bytes[at] !== openBrace) throw malformedLogs('it is not a JSON object')
    return at
  }

  /** Where the values of the members with these names begin; null is none. */
  #members(open: number, names: readonly string[]): ReadonlyMap<string, number> {
    const [bytes, scanner] = [this.#bytes, this.#scanner]
    const found = new Map<string, number>()
    let at = scanner.first(bytes, open, bytes.length, closeBrace)
    while (at > 0) {
      const nameEnd = scanner.name(bytes, at, bytes.length)
      const name = stringText(scanner.scratch, bytes, at + 1, nameEnd - 1)
      at = scanner.colon(bytes, nameEnd, bytes.length)
      const known = names.find((one) => one === name || originalName(one) === name)
      if (known === undefined) this.#other ??= name.slice(0, longestName)
      else if (found.has(known)) throw malformedLogs(`'${known}' is there in both spellings`)
      else if (bytes[at] !== nullStart) found.set(known, at)
      at = scanner.next(bytes, scanner.check(bytes, at, bytes.length, 1), bytes.length, closeBrace)
    }
    return found
  }

  /** Where each object of a list begins. */
  *#objects(open: number | undefined, name: string): Generator<number, void> {
    if (open === undefined) return
    const [bytes, scanner] = [this.#bytes, this.#scanner]
    if (bytes[open] !== openBracket) throw malformedLogs(`${name} is not a list of objects`)
    let at = scanner.first(bytes, open, bytes.length, closeBracket)
    while (at > 0) {
      if (bytes[at] !== openBrace) throw malformedLogs(`${name} is not a list of objects`)
      yield at
      at = scanner.next(bytes, scanner.check(bytes, at, bytes.length, 1), bytes.length, closeBracket)
    }
  }

  /** The value at a place; undefined where there is none. */
  #value(at: number | undefined): ReturnType<typeof parseJson> | undefined {
    if (at === undefined) return undefined
    const bytes = this.#bytes
    return parseJson(bytes.subarray(at, this.#scanner.check(bytes, at, bytes.length, 1)), { maxDepth })
  }
}
