// What `ingest` prints: receipts for programs, a sentence a file for a person.

import { type JsonValue, jsonText } from '../index.ts'
import type { OutputForm } from './context.ts'
import { itemsAt, memberAt, numberAt, objectOf, textAt } from './json-values.ts'
import { printObjects } from './output.ts'
import { columnTypes } from './schema-text.ts'
import { cleanText } from './table.ts'

export interface Ingested {
  /** File as named. */
  readonly label: string
  /** A receipt, or the answer of a dry run. */
  readonly receipt: JsonValue
  /** True when an earlier try had stored the batch. */
  readonly replayed: boolean
}

export function printIngested(form: OutputForm, done: readonly Ingested[]): void {
  if (done.length === 0) return
  if (form === 'table') {
    for (const item of done) process.stdout.write(`${sentence(item)}\n`)
    return
  }
  const columns = ['file', 'status', 'received', 'committed', 'block', 'sequence', 'start', 'end', 'receiptId']
  printObjects(form, columns, form === 'csv' ? done.map(flatReceipt) : done.map(({ receipt }) => receipt))
}

function flatReceipt({ label, receipt }: Ingested): JsonValue {
  return objectOf({
    file: label,
    status: memberAt(receipt, 'status'),
    received: memberAt(receipt, 'records', 'received') ?? memberAt(receipt, 'records'),
    committed: memberAt(receipt, 'records', 'committed'),
    block: memberAt(receipt, 'block', 'hash'),
    sequence: memberAt(receipt, 'block', 'sequence'),
    start: memberAt(receipt, 'offsets', 'start'),
    end: memberAt(receipt, 'offsets', 'end'),
    receiptId: memberAt(receipt, 'receiptId'),
  })
}

function sentence({ label, receipt, replayed }: Ingested): string {
  if (memberAt(receipt, 'dryRun') === true) return `${label}: ${dryRunText(receipt)}`
  const again = replayed ? ' (an earlier try had stored it)' : ''
  return `${label}: ${outcomeText(receipt)}${again}\n  receipt ${cleanText(textAt(receipt, 'receiptId') ?? '')}`
}

function dryRunText(receipt: JsonValue): string {
  const fields = itemsAt(receipt, 'schema', 'fields')
  const typed = fields.some((field) => memberAt(field, 'data_type') !== undefined)
  const columns = typed
    ? [...columnTypes(fields)].map(([name, type]) => `${name} ${type}`)
    : fields.map((field) => `${textAt(field, 'name') ?? ''} ${typeOf(memberAt(field, 'type'))}`)
  return `${rowsText(numberAt(receipt, 'records') ?? 0)} would fit; nothing stored\n  ${cleanText(columns.join(', '))}`
}

/** The kind of an ODF type, with a question mark where it may be null. */
function typeOf(type: JsonValue | undefined): string {
  const kind = textAt(type, 'kind')
  if (kind === 'Option') return `${typeOf(memberAt(type, 'inner'))}?`
  return kind ?? jsonText(type ?? null)
}

function outcomeText(receipt: JsonValue): string {
  const rows = rowsText(numberAt(receipt, 'records', 'received') ?? 0)
  const status = textAt(receipt, 'status')
  if (status === 'accepted') return `${rows} accepted: safe in the log, not yet in a block`
  if (status === 'rejected') {
    const why = itemsAt(receipt, 'errors').map((error) => textAt(error, 'message') ?? '')
    return `${rows} rejected, nothing stored: ${cleanText(why.join(' '))}`
  }
  const hash = textAt(receipt, 'block', 'hash')
  if (hash === undefined) return `${rows}, nothing to store`
  const [start, end] = [numberAt(receipt, 'offsets', 'start'), numberAt(receipt, 'offsets', 'end')]
  const offsets = start === undefined || end === undefined ? '' : `, offsets ${start}–${end}`
  return `${rows} committed in block ${numberAt(receipt, 'block', 'sequence') ?? '?'} (${cleanText(hash.slice(0, 16))}…)${offsets}`
}

function rowsText(count: number): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'row' : 'rows'}`
}
