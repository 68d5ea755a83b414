// What `ingest` prints as batches end: receipts for programs, a sentence a batch for a person.

import { jsonText, type JsonValue } from '../index.ts'
import { cleanText } from '../libraries/base/clean-text.ts'
import type { OutputForm } from './context.ts'
import { columnTypes, itemsAt, memberAt, numberAt, textAt } from './json-values.ts'
import { rowsText as tableOf } from './output.ts'
import { print } from './terminal.ts'

export interface Ingested {
  /** File as named; with its number where it is one batch of many. */
  readonly label: string
  /** A receipt, or the answer of a dry run. */
  readonly receipt: JsonValue
  /** True when an earlier try had stored the batch. */
  readonly replayed: boolean
}

const columns = ['file', 'status', 'received', 'committed', 'block', 'sequence', 'start', 'end', 'receiptId']

/** Prints one after the other: input may have no end. */
export class ReceiptPrinter {
  readonly #form: OutputForm
  #printed = 0

  constructor(form: OutputForm) {
    this.#form = form
  }

  print(item: Ingested): void {
    print(this.#textOf(item))
    this.#printed++
  }

  /** Closes the list; prints nothing where nothing was printed before. */
  end(): void {
    if (this.#form === 'json' && this.#printed > 0) print('\n]\n')
  }

  #textOf(item: Ingested): string {
    switch (this.#form) {
      case 'table':
        return `${sentence(item)}\n`
      case 'ndjson':
        return `${jsonText(item.receipt)}\n`
      case 'json':
        return `${this.#printed === 0 ? '[\n' : ',\n'}${jsonText(item.receipt)}`
      case 'csv':
        return this.#csvOf(item)
    }
  }

  #csvOf(item: Ingested): string {
    const text = tableOf('csv', { columns, rows: [flatReceipt(item)] })
    return this.#printed === 0 ? text : text.slice(text.indexOf('\n') + 1)
  }
}

/** One value per column. */
function flatReceipt({ label, receipt }: Ingested): JsonValue[] {
  const values = [
    label,
    memberAt(receipt, 'status'),
    memberAt(receipt, 'records', 'received') ?? memberAt(receipt, 'records'),
    memberAt(receipt, 'records', 'committed'),
    memberAt(receipt, 'block', 'hash'),
    memberAt(receipt, 'block', 'sequence'),
    memberAt(receipt, 'offsets', 'start'),
    memberAt(receipt, 'offsets', 'end'),
    memberAt(receipt, 'receiptId'),
  ]
  return values.map((value) => value ?? null)
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
  if (status === 'lost') return `${rows} lost with their log, nothing stored: send them again`
  const hash = textAt(receipt, 'block', 'hash')
  if (hash === undefined) return `${rows}, nothing to store`
  const [start, end] = [numberAt(receipt, 'offsets', 'start'), numberAt(receipt, 'offsets', 'end')]
  const offsets = start === undefined || end === undefined ? '' : `, offsets ${start}–${end}`
  return `${rows} committed in block ${numberAt(receipt, 'block', 'sequence') ?? '?'} (${cleanText(hash.slice(0, 16))}…)${offsets}`
}

function rowsText(count: number): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'row' : 'rows'}`
}
