// How far a follower has checked the entries of a ledger, as a record: the tree up to there, the next sequence of each dataset, and
// the first entry that contradicts its block, if there is one. It has a sum: from a damaged one a wrong accusation would follow.

import { concatBytes, decodeUtf8, fromHex, toHex, utf8 } from '../base/bytes.ts'
import { nextTurn } from '../base/clock.ts'
import { DecodeError } from '../base/errors.ts'
import { sha256 } from '../base/ids/native-crypto.ts'
import { list, natural, object, optional, recordCodec, text } from '../base/json/shape.ts'
import { Order } from './order.ts'
import { emptyRoot, Frontier } from './tree.ts'

/** An entry that is not what it says. */
export interface EntryFault {
  readonly index: number
  readonly about: string
}

export interface Checked {
  /** Of the entries that are good. */
  readonly frontier: Frontier
  readonly order: Order
  /** The next entry. */
  readonly fault?: EntryFault
}

const lineEnd = 0x0a
/** The first line. After it comes a line for each dataset: its tag in hex and the sequence. */
const codec = recordCodec(
  'checked entries',
  object({
    size: natural,
    roots: list(text(/^[0-9a-f]{64}$/)),
    /** SHA-256 of the other lines in hex. */
    next: text(),
    fault: optional(object({ index: natural, about: text() })),
  }),
)
const linesAtOnce = 2_048
const nextForm = /^([0-9a-f]{64})(\d{1,16})$/

/** The lines of the datasets in pieces, each made in a few milliseconds. */
export function* orderLines({ next }: Order): Generator<Uint8Array> {
  let lines: string[] = []
  for (const [tag, sequence] of next) {
    lines.push(`\n${tag}${sequence}`)
    if (lines.length < linesAtOnce) continue
    yield utf8(lines.join(''))
    lines = []
  }
  yield utf8(lines.join(''))
}

/** The record; `lines` are those of its order. */
export function checkedBytes({ frontier, fault }: Omit<Checked, 'order'>, lines: Uint8Array): Uint8Array {
  const first = { size: frontier.size, roots: frontier.roots.map(toHex), next: toHex(sha256(lines)) }
  return concatBytes([codec.encode({ ...first, ...(fault !== undefined && { fault }) }), lines])
}

/** Read in turns of a few milliseconds. Throws DecodeError. */
export async function parseChecked(bytes: Uint8Array): Promise<Checked> {
  const end = bytes.indexOf(lineEnd)
  const [first, lines] = end < 0 ? [bytes, new Uint8Array()] : [bytes.subarray(0, end), bytes.subarray(end)]
  const { size, roots, next, fault } = codec.decode(first)
  const frontier = Frontier.from(
    size,
    roots.map((root) => fromHex(root) ?? emptyRoot),
  )
  if (frontier === undefined || toHex(sha256(lines)) !== next) return refuse('do not have their sum')
  const ofDatasets = decodeUtf8(lines).split('\n').slice(1)
  const sequences = new Map<string, number>()
  for (const [at, line] of ofDatasets.entries()) {
    if (at % linesAtOnce === 0) await nextTurn()
    sequences.set(...nextOf(line))
  }
  return { frontier, order: new Order(sequences), ...(fault !== undefined && { fault }) }
}

function nextOf(line: string): readonly [tag: string, sequence: number] {
  const [, tag, digits] = nextForm.exec(line) ?? []
  return tag === undefined ? refuse('name a dataset that is none') : [tag, Number(digits)]
}

function refuse(reason: string): never {
  throw new DecodeError('checked entries', reason)
}
