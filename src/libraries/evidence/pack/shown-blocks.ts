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
  readonly time: string
}

/** A dataset up to a block. */
export interface ShownChain {
  readonly name: string
  readonly id: string
  /** The newest block that the ledger holds; the head where no ledger has blocks of the dataset. */
  readonly newest: ListedBlock
}

const pageBlocks = 1000
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
  const blocks = [newest]
  const wantsMore = from !== undefined || to !== undefined
  for (let before: string | undefined = newest.hash; wantsMore && before !== undefined;) {
    const page: JsonValue = await jsonAt(get, `${pathOf(name)}/blocks?limit=${pageBlocks}&before=${before}`)
    const listed = blocksIn(page)
    blocks.push(...listed)
    before = listed.every((one) => isAfter(one, from)) ? textAt(page, 'next') : undefined
  }
  const proofs: ProvenBlock[] = []
  for (const block of blocks.filter((one) => isAfter(one, from) && isBefore(one, to)).toReversed()) {
    onProof(block.sequence)
    const proof = await proofOf(name, block, get)
    if (proof === 'not yet')
      throw new PackFault('impossible', `The ledger does not hold block ${block.sequence} of ${name} yet.`)
    if (proof !== 'none') proofs.push({ sequence: block.sequence, json: proof })
  }
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

function isAfter({ sequence, time }: ListedBlock, from: string | undefined): boolean {
  return from === undefined || (isNumber(from) ? sequence >= Number(from) : time >= from)
}

/** A time that is a day covers all of it. */
function isBefore({ sequence, time }: ListedBlock, to: string | undefined): boolean {
  return to === undefined || (isNumber(to) ? sequence <= Number(to) : time.slice(0, to.length) <= to)
}

const isNumber = (bound: string): boolean => /^\d{1,9}$/.test(bound)

function blocksIn(page: JsonValue): ListedBlock[] {
  return itemsAt(page, 'blocks').flatMap((value) => {
    const [hash, sequence, time] = [textAt(value, 'hash'), numberAt(value, 'sequence'), textAt(value, 'systemTime')]
    return hash === undefined || sequence === undefined || time === undefined ? [] : [{ hash, sequence, time }]
  })
}

async function jsonAt(get: Get, path: string): Promise<JsonValue> {
  const { status, bytes } = await get(path)
  if (status === 200) return parseJson(bytes)
  throw new PackFault(
    'impossible',
    status === 404 ? `There is no ${decodeURIComponent(path.slice(1))}.` : `The node answers ${status} to ${path}.`,
  )
}
