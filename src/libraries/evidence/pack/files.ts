// Which files an evidence pack has, under which names, in which order, and what of each its first page tells
// (docs/spec/evidence-pack.md). The facts are read as they stand: judges say whether they are true.

import { parseJson } from '../../base/json/json.ts'
import { memberAt, textAt } from '../../base/json/members.ts'
import type { JsonValue } from '../../base/json/value.ts'
import { readSignedAnswer } from '../../proof/signed-answer.ts'
import { bodyLine, type Line } from '../report.ts'
import { PackFault } from './zip.ts'

export const pagePath = 'READ-ME-FIRST.html'
export const [didPath, policyPath] = ['keys/did.json', 'keys/policy.txt']
export const statementPath = 'statement.json'
/** Numbers of three digits, from 1. */
export const mostNumbered = 999
/** Of what is no answer: values take many times their text. */
const mostValues = 1_000_000
/** As deep as saved answers of deployed nodes nest. */
const maxDepth = 128

/** So many bytes tell. */
export const packHeadBytes = 30 + pagePath.length

/** Whether a file begins as packs do. */
export function isPack(head: Uint8Array): boolean {
  const start = new TextDecoder('latin1').decode(head.subarray(0, packHeadBytes))
  return start.startsWith('PK\u0003\u0004') && start.endsWith(pagePath)
}

export type Folder = 'answers' | 'bundles' | 'keys' | 'ledger' | 'receipts' | 'statement'

/** A file by its name. `number`: its own, or of the bundle that a proof of the ledger belongs to. */
export interface Placed {
  readonly folder: Folder
  readonly number: number
  /** Of the block that a proof of the ledger is of. */
  readonly sequence?: number
  /** Whether it is the first of its folder, which tells of a folder of the ledger. */
  readonly isFirst: boolean
}

export const answerPath = (number: number): string => `answers/${digits(number, 3)}.json`
export const bundlePath = (number: number): string => `bundles/${digits(number, 3)}.tar`
export const receiptPath = (number: number): string => `receipts/${digits(number, 3)}.json`
export const proofPath = (bundle: number, sequence: number): string =>
  `ledger/${digits(bundle, 3)}/${digits(sequence, 9)}.json`

const digits = (number: number, count: number): string => String(number).padStart(count, '0')

const form =
  /^(?:answers\/(\d{3})\.json|bundles\/(\d{3})\.tar|keys\/(?:did\.json|policy\.txt)|ledger\/(\d{3})\/(\d{9})\.json|receipts\/(\d{3})\.json|statement\.json)$/

/** Holds names against the order of a pack, one after the other. Throws PackFault. */
export class Order {
  #last = ''
  readonly #counts: Record<Folder, number> = { answers: 0, bundles: 0, keys: 0, ledger: 0, receipts: 0, statement: 0 }

  next(path: string): Placed {
    const found = form.exec(path)
    if (found === null) throw new PackFault('altered', `A pack has no file ${path}.`)
    const [, answer, bundle, of, sequence, receipt] = found
    const folder = path.slice(0, path.search(/[/.]/)) as Folder // of the form
    const number = Number(answer ?? bundle ?? of ?? receipt ?? 0)
    const counts = this.#counts
    const isCounted = folder !== 'ledger' && folder !== 'keys' && folder !== 'statement'
    const isNext = isCounted
      ? number === ++counts[folder]
      : folder !== 'ledger' || (number >= 1 && number <= counts.bundles)
    if (!isNext || path <= this.#last)
      throw new PackFault('altered', `${path} is not the file that comes next in a pack.`)
    const isFirst = !this.#last.startsWith(path.slice(0, path.lastIndexOf('/') + 1))
    this.#last = path
    return { folder, number, isFirst, ...(sequence !== undefined && { sequence: Number(sequence) }) }
  }

  /** Throws PackFault for a pack that shows nothing. */
  end(): void {
    const { answers, bundles, receipts } = this.#counts
    if (answers + bundles + receipts === 0) throw new PackFault('altered', 'It has neither an answer nor a receipt.')
  }
}

/** What an answer says, or the answer of a bundle. */
export function answerFacts(bytes: Uint8Array): Line[] {
  const answer = parseJson(bytes, { maxDepth })
  const input = memberAt(answer, 'input')
  const { query, datasets } = readSignedAnswer({ input: input instanceof Map ? input : new Map(), output: null })
  return [
    ...line('question', query),
    ...datasets.flatMap(({ id, alias, blockHash, blockTime }): Line[] => [
      ['dataset', alias === undefined || alias === id ? id : `${alias} (${id})`],
      ...line('up to block', blockHash),
      ...line('data as of', blockTime),
    ]),
    ...line('signed by', answer, 'proof', 'verificationMethod'),
  ]
}

export function receiptFacts(bytes: Uint8Array): Line[] {
  const document = parseJson(bytes, { maxValues: mostValues })
  const receipt = memberAt(document, 'receipt') ?? document
  return [
    ...line('dataset', receipt, 'dataset', 'alias'),
    ...line('status', receipt, 'status'),
    ...line('body', receipt, 'bodyHash').map(([, hash]) => bodyLine(hash)),
    ...line('block', receipt, 'block', 'hash'),
    ...line('signed at', receipt, 'time'),
    ...line('ledger', receipt, 'promise', 'ledger'),
    ...line('deadline', receipt, 'promise', 'by'),
    ...line('signed by', receipt, 'proof', 'verificationMethod'),
  ]
}

export function statementFacts(bytes: Uint8Array): Line[] {
  const document = parseJson(bytes, { maxValues: mostValues })
  const said = [...line('node', document, 'statement', 'node'), ...line('signed at', document, 'statement', 'time')]
  return [...said, ...headFacts(bytes)]
}

/** The head that a proof of the ledger leads to. */
export function headFacts(bytes: Uint8Array): Line[] {
  const head = textAt(parseJson(bytes, { maxValues: mostValues }), 'ledger', 'head')
  const [origin, size, root] = head?.split('\n') ?? []
  return [...line('ledger', origin), ...line('entries', size), ...line('root', root)]
}

/** A fact that is a text; none where it is not there. */
function line(name: string, value: JsonValue | undefined, ...path: readonly string[]): Line[] {
  const text = textAt(value, ...path)
  return text === undefined ? [] : [[name, text]]
}
