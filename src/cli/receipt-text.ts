// What `ingest` prints as batches end: receipts for programs, a sentence a batch for a person, what the node warns of.

import { styleText } from 'node:util'
import { jsonText, type JsonValue } from '../index.ts'
import { cleanText } from '../libraries/base/clean-text.ts'
import { kindOfWarning } from '../libraries/base/warnings.ts'
import { withFlags } from '../libraries/formats/flags.ts'
import { choiceLines, choicesOf } from './choices.ts'
import type { OutputForm } from './context.ts'
import { note } from './failure.ts'
import { itemsAt, memberAt, numberAt, textAt } from '../libraries/base/json/members.ts'
import { cellText, rowsText as tableOf, tableLines } from './output.ts'
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
  // Of a batch in a block nobody has to ask.
  const id =
    textAt(receipt, 'status') === 'committed' ? '' : `\n  receipt ${cleanText(textAt(receipt, 'receiptId') ?? '')}`
  return `${label}: ${outcomeText(receipt)}${again}${id}`
}

function dryRunText(receipt: JsonValue): string {
  const lines = columnLines(receipt, process.stdout.columns).map((line) => `\n  ${line}`)
  return `${rowsText(numberAt(receipt, 'records') ?? 0)} would fit; nothing stored${lines.join('')}`
}

const columnsMost = 40

/** The columns that an answer tells of, as a table: how each is read. */
export function columnLines(answer: JsonValue, mostWidth: number): string[] {
  const told = itemsAt(answer, 'columns')
  const names = ['name', 'type', 'read', 'nulls', 'value']
  const rows = told.slice(0, columnsMost).map((one) => names.map((name) => cellText(memberAt(one, name) ?? null)))
  const heads = names.map((name) => ({ name, alignRight: name === 'nulls' }))
  const more = told.length > rows.length ? [`… and ${told.length - rows.length} more`] : []
  return [...tableLines(heads, rows, mostWidth).lines, ...more]
}

function outcomeText(receipt: JsonValue): string {
  const rows = rowsText(numberAt(receipt, 'records', 'received') ?? 0)
  const status = textAt(receipt, 'status')
  if (status === 'accepted') return `${rows} accepted: safe in the log, not yet in a block`
  if (status === 'rejected') {
    const why = itemsAt(receipt, 'errors').map((error) => textAt(error, 'message') ?? '')
    return `${rows} rejected, nothing stored: ${cleanText(withFlags(why.join(' ')))}`
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

/** What a node warns of in its answers to batches, on stderr: each kind once in a run, yellow on a terminal. */
export class WarningTeller {
  readonly #told = new Set<string>()

  /** Tells the warnings of the answer to the batch `label` whose kinds were not told before. */
  tell(label: string, answer: JsonValue): void {
    for (const warning of itemsAt(answer, 'warnings')) {
      if (typeof warning !== 'string' || this.#told.has(kindOfWarning(warning))) continue
      this.#told.add(kindOfWarning(warning))
      note(styleText('yellow', `warning: ${label}: ${cleanText(withFlags(warning))}`, { stream: process.stderr }))
    }
  }

  /** Tells the ways in which the node would read more of the batch. */
  offer(label: string, answer: JsonValue): void {
    const choices = choicesOf(answer)
    if (choices.length === 0 || this.#told.has('offers')) return
    this.#told.add('offers')
    note(`${label} can be read otherwise, with`)
    for (const line of choiceLines(choices)) note(`  ${line}`)
  }
}
