// Dialects to offer for a body of cells that is refused, or of which columns are taken as text: what its first bytes look like, tried by
// reading them. Nothing is offered that has not read them to the last record. Pure.

import { NodeError } from '../../base/errors.ts'
import { defined } from '../../base/collections.ts'
import { decoded, decodings } from './charset-finds.ts'
import { type Parameters, valuesOf } from './column-values.ts'
import { dialectNames } from './dialect.ts'
import { type HeadReading, readingOf } from './head-reading.ts'
import { type HeadFacts, tablesOf } from './table-finds.ts'

const headBytes = 256 * 1024
/** Readings of the head beside the one of the request. */
const mostTries = 2
const cellBytes = 80

export interface Offer {
  /** Parameters of ingest, as a request says them; what the request says already is not among them unless it changes. */
  readonly parameters: Parameters
  /** The same, percent-encoded for an address, in a stable order. */
  readonly query: string
  /** The first record as they read it. */
  readonly first: Readonly<Record<string, unknown>>
  /** Of a charset: the first cell that it changes. */
  readonly changed?: string
}

interface Try {
  readonly text: Uint8Array
  readonly parameters: Parameters
}

/** The dialects under which the first bytes of a body are better than the request has them; several where the bytes do not tell which. */
export function offersOf(head: Uint8Array, facts: HeadFacts): readonly Offer[] {
  try {
    const isWhole = facts.isWhole && head.length <= headBytes
    return bestOf(head.subarray(0, headBytes), { ...facts, isWhole })
  } catch (error) {
    // Parameters of the request that contradict one another or the body: their refusal says what to do.
    if (error instanceof NodeError) return []
    throw error
  }
}

function bestOf(bytes: Uint8Array, facts: HeadFacts): readonly Offer[] {
  const { given, isWhole } = facts
  const charset = given['charset']?.toString()
  const tries = triesOf(bytes, charset, facts)
  if (tries.length === 0) return []
  const text = decoded(bytes, charset, isWhole)
  const now = text && readingOf(text, facts)
  const better = tries.flatMap((one) => {
    const reading = readingOf(one.text, { ...facts, given: { ...given, ...one.parameters } })
    return reading !== undefined && isBetter(one, reading, { now, given }) ? [{ ...one, reading }] : []
  })
  const most = Math.max(...better.map(({ reading }) => reading.typed))
  return better.filter(({ reading }) => reading.typed === most).map((one) => offerOf(one, one.reading, given))
}

function triesOf(bytes: Uint8Array, said: string | undefined, facts: HeadFacts): readonly Try[] {
  const { given, isWhole } = facts
  const tries = decodings(bytes, said, isWhole).flatMap(({ charset, text }) =>
    tablesOf(text, facts).flatMap((table) =>
      valuesOf(table.columns, given).map((values) => ({
        text,
        parameters: { ...defined({ charset }), ...table.parameters, ...values },
      })),
    ),
  )
  return tries.filter(({ parameters }) => Object.keys(parameters).length > 0).slice(0, mostTries)
}

function isBetter(
  { parameters }: Try,
  reading: HeadReading,
  { now, given }: { readonly now: HeadReading | undefined; readonly given: HeadFacts['given'] },
): boolean {
  if (now === undefined || reading.typed > now.typed || (now.columns === 1 && reading.columns > 1)) return true
  // Where some number has a decimal comma, 1.250 may be none with a point.
  return reading.typed === now.typed && parameters['decimal'] !== undefined && given['decimal'] === undefined
}

function offerOf({ text, parameters }: Try, { first }: HeadReading, given: HeadFacts['given']): Offer {
  const order = (name: string): number => ['charset', ...dialectNames].indexOf(name.split('.', 1)[0] ?? '')
  const changes = Object.entries(parameters).filter(([name, value]) => given[name]?.toString() !== value)
  const sorted = changes.toSorted(([one], [other]) => order(one) - order(other))
  const query = sorted.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
  const changed = parameters['charset'] === undefined ? undefined : changedCell(text, parameters['delimiter'])
  return { parameters: Object.fromEntries(sorted), query, first, ...defined({ changed }) }
}

/** For an address that stands between quotes of a shell. */
function encoded(text: string): string {
  const hex = (one: string): string => `%${one.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, hex)
}

/** The first cell with a letter beyond ASCII; it has to be no longer than is shown. */
function changedCell(text: Uint8Array, delimiter = ',;\\t'): string {
  const first = text.findIndex((byte) => byte >= 0x80)
  const at = Math.max(0, first)
  const ends = new RegExp(`[${delimiter === 'tab' ? '\\t' : delimiter}"\\r\\n]`)
  const [before, after] = [text.subarray(Math.max(0, at - cellBytes), at), text.subarray(at, at + cellBytes)]
  const [start, end] = [before, after].map((part) => Buffer.from(part).toString().split(ends))
  return `${start?.at(-1)}${end?.[0]}`.replace(/\ufffd+$/, '').trim()
}
