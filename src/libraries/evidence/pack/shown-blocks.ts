// Which blocks of a dataset an evidence pack shows, as a node lists them: up to the newest that its ledger holds, and of these the ones
// whose proofs are asked for.

import { parseJson } from '../../base/json/json.ts'
import { itemsAt, numberAt, textAt } from '../../base/json/members.ts'
import type { JsonObject, JsonValue } from '../../base/json/value.ts'
import type { Get } from './anchor.ts'
import { PackFault } from './zip.ts'

interface ListedBlock {
  readonly hash: string
  readonly sequence: number
  readonly timeMs: number
}

/** A dataset up to a block. */
export interface ShownChain {
  readonly name: string
  readonly id: string
  /** The newest block that the ledger holds; the head where no ledger has blocks of the dataset. */
  readonly newest: ListedBlock
}

const pageBlocks = 1000
/** A pack holds no more files. */
const mostProofs = 60_000
const pathOf = (name: string): string => `/${name.split('/').map(encodeURIComponent).join('/')}`

/** Throws PackFault where there is no such dataset, or the ledger holds none of its last 1,000 blocks yet. */
export async function shownChain(name: string, get: Get): Promise<ShownChain> {
  const id = textAt(await jsonAt(get, pathOf(name)), 'id') ?? ''
  const page = await jsonAt(get, `${pathOf(name)}/blocks?limit=${pageBlocks}`)
  for (const newest of blocksIn(page)) {
    if ((await proofOf(name, newest, get)) !== 'not yet') return { name, id, newest }
  }
  const why = `The ledger of the node does not hold the newest blocks of ${name} yet. Try again in a minute.`
  throw new PackFault('impossible', why)
}

export interface ProvenBlock {
  readonly sequence: number
  readonly json: JsonObject
}

/**
 * The proofs of the blocks from and to a number or a time, in their order; without both, of the newest block. None where no ledger has
 * blocks of the dataset. Throws PackFault.
 */
export async function proofsOfBlocks(
  { name, newest }: ShownChain,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  { get, onProof }: { readonly get: Get; readonly onProof: (sequence: number) => void },
): Promise<ProvenBlock[]> {
  const [first, last] = [boundOf(from), boundOf(to)]
  const blocks = [newest]
  const wantsMore = from !== undefined || to !== undefined
  for (let before: string | undefined = newest.hash; wantsMore && before !== undefined;) {
    const page: JsonValue = await jsonAt(get, `${pathOf(name)}/blocks?limit=${pageBlocks}&before=${before}`)
    const listed = blocksIn(page)
    for (const one of listed) {
      const { sequence } = blocks.at(-1) ?? newest
      if (one.sequence !== sequence - 1) throw new PackFault('altered', `The node lists no chain of blocks of ${name}.`)
      blocks.push(one)
    }
    if (blocks.length > mostProofs)
      throw new PackFault('impossible', `A pack holds at most ${mostProofs} proofs of blocks: ask for those of fewer.`)
    before = listed.length > 0 && listed.every((one) => isAfter(one, first)) ? textAt(page, 'next') : undefined
  }
  const wanted = blocks.filter((one) => isAfter(one, first) && isBefore(one, last)).toReversed()
  if (wanted.length === 0) throw new PackFault('impossible', `${name} has no block between those bounds.`)
  const proofs: ProvenBlock[] = []
  for (const block of wanted) {
    onProof(block.sequence)
    const proof = await proofOf(name, block, get)
    if (proof === 'not yet')
      throw new PackFault('impossible', `The ledger does not hold block ${block.sequence} of ${name} yet.`)
    if (proof !== 'none') proofs.push({ sequence: block.sequence, json: proof })
  }
  if (wantsMore && proofs.length === 0)
    throw new PackFault('impossible', `No ledger of the node has blocks of ${name}.`)
  return proofs
}

async function proofOf(
  name: string,
  { hash, sequence }: ListedBlock,
  get: Get,
): Promise<JsonObject | 'not yet' | 'none'> {
  const { status, bytes } = await get(`${pathOf(name)}/blocks/${hash}/proof?format=json`)
  if (status === 409) return 'not yet'
  if (status === 404) return 'none'
  const proof = status === 200 ? parseJson(bytes) : undefined
  if (proof instanceof Map) return proof as JsonObject // names of members are strings
  throw new PackFault('impossible', `The node gives no proof of block ${sequence} of ${name} (${status}).`)
}

/** The number of a block, or the first and the last millisecond of a time. */
type Bound = { readonly number: number } | { readonly firstMs: number; readonly lastMs: number } | undefined

const dayMs = 86_400_000

/** Throws PackFault for what is neither a number nor a time. A day is all of it. */
function boundOf(text: string | undefined): Bound {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return { number: Number(text) }
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  const firstMs = isDay || /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(firstMs)) return { firstMs, lastMs: isDay ? firstMs + dayMs - 1 : firstMs }
  const forms = '12, 2026-03-01 or 2026-03-01T12:00:00Z'
  throw new PackFault(
    'impossible',
    `'${text.slice(0, 60)}' is neither the number of a block nor a time, such as ${forms}.`,
  )
}

function isAfter({ sequence, timeMs }: ListedBlock, bound: Bound): boolean {
  return bound === undefined || ('number' in bound ? sequence >= bound.number : timeMs >= bound.firstMs)
}

function isBefore({ sequence, timeMs }: ListedBlock, bound: Bound): boolean {
  return bound === undefined || ('number' in bound ? sequence <= bound.number : timeMs <= bound.lastMs)
}

function blocksIn(page: JsonValue): ListedBlock[] {
  return itemsAt(page, 'blocks').flatMap((value) => {
    const [hash, sequence] = [textAt(value, 'hash'), numberAt(value, 'sequence')]
    const timeMs = Date.parse(textAt(value, 'systemTime') ?? '')
    return hash === undefined || sequence === undefined || Number.isNaN(timeMs) ? [] : [{ hash, sequence, timeMs }]
  })
}

async function jsonAt(get: Get, path: string): Promise<JsonValue> {
  const { status, bytes } = await get(path)
  if (status === 200) return parseJson(bytes)
  throw new PackFault(
    'impossible',
    status === 404
      ? `There is no dataset ${decodeURIComponent(path.slice(1))}.`
      : `The node answers ${status} to ${path}.`,
  )
}
