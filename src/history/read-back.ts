// What a node holds in the end, read the way every reader does: blocks from the list of blocks, rows by SQL. Rows name their
// batch in `batch`, their place in it in `i`, and the size of the batch in `of`.

import { systemClock } from '../index.ts'
import type { BatchSent, StoredDataset, StoredRow } from './history.ts'
import { postJson, type Seen } from './load.ts'
import type { Address } from './served-node.ts'

/** Rows of one question. */
const pageRows = 50_000
const pageBlocks = 1_000

interface BlockJson {
  readonly sequence: number
  readonly hash: string
  readonly event: { readonly newData?: { readonly offsetInterval: { readonly start: number; readonly end: number } } }
}

/** Blocks and rows of `aliases`; of one that is not there, none. Throws RangeError for any other answer. */
export async function readBack(at: Address, aliases: Iterable<string>): Promise<StoredDataset[]> {
  const stored: StoredDataset[] = []
  for (const alias of aliases) {
    const blocks = await blocksOf(at, alias)
    stored.push({
      alias,
      blocks: blocks.map(({ sequence, hash }) => ({ sequence, hash })),
      rows: await rowsOf(at, alias, blocks),
    })
  }
  return stored
}

async function get(at: Address, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(at.url + path, { headers: { authorization: `Bearer ${at.token}` } })
  return { status: response.status, text: await response.text() }
}

/** Oldest first. */
async function blocksOf(at: Address, alias: string): Promise<BlockJson[]> {
  const blocks: BlockJson[] = []
  for (let before: string | undefined = ''; before !== undefined; ) {
    const { status, text } = await get(
      at,
      `/${alias}/blocks?limit=${pageBlocks}${before === '' ? '' : `&before=${before}`}`,
    )
    if (status === 404) return []
    if (status !== 200) throw new RangeError(`the blocks of ${alias}: ${status} ${text}`)
    const page = JSON.parse(text) as { blocks: BlockJson[]; next?: string } // as documented
    blocks.push(...page.blocks)
    before = page.next
  }
  return blocks.reverse()
}

async function rowsOf(at: Address, alias: string, blocks: readonly BlockJson[]): Promise<StoredRow[]> {
  const holders = blocks.flatMap(({ sequence, event }) => {
    const interval = event.newData?.offsetInterval
    return interval === undefined ? [] : [{ sequence, end: interval.end }]
  })
  const end = (holders.at(-1)?.end ?? -1) + 1
  const rows: StoredRow[] = []
  let holder = 0
  for (let from = 0; from < end; from += pageRows) {
    const range = `"offset" >= ${from} and "offset" < ${Math.min(end, from + pageRows)}`
    const query = `select batch, i, "of", "offset" from "${alias}" where ${range} order by "offset"`
    const { status, text } = await postJson(
      at,
      '/query',
      JSON.stringify({ query, dataFormat: 'JsonAoa', limit: pageRows }),
    )
    if (status !== 200) throw new RangeError(`the rows of ${alias}: ${status} ${text}`)
    const { output } = JSON.parse(text) as { output: { data: [string, number, number, number][] } } // as asked for
    for (const [batch, number, of, offset] of output.data) {
      while (offset > (holders[holder]?.end ?? Number.POSITIVE_INFINITY)) holder++
      rows.push({ batch, number, of, offset, sequence: holders[holder]?.sequence ?? -1 })
    }
  }
  return rows
}

const idsOf = ({ attempts }: BatchSent): string[] =>
  attempts.flatMap(({ answer }) => (answer.kind === 'ok' ? [answer.receiptId] : []))

/** Waits until of each dataset the acknowledged batch that is furthest in the log is committed: so are those before it. */
export async function drained(at: Address, seen: Seen, withinMs: number): Promise<number | undefined> {
  const last = new Map<string, string>()
  const positionOf = (id: string | undefined): number => (id === undefined ? -1 : (seen.positions.get(id) ?? -1))
  for (const batch of seen.batches) {
    for (const id of idsOf(batch)) {
      if (positionOf(id) > positionOf(last.get(batch.dataset))) last.set(batch.dataset, id)
    }
  }
  const beganMs = systemClock.monotonicMs()
  for (const id of last.values()) {
    while ((await statusOf(at, id)) === 'accepted') {
      if (systemClock.monotonicMs() - beganMs > withinMs) return undefined
      await systemClock.sleep(50)
    }
  }
  return systemClock.monotonicMs() - beganMs
}

async function statusOf(at: Address, receiptId: string): Promise<string> {
  const { status, text } = await get(at, `/receipts/${receiptId}`)
  return status === 200 ? (JSON.parse(text) as { status: string }).status : `${status} ${text}` // a receipt
}

/** Receipts of `batches` that do not say, in the end, what became of them. */
export async function receiptFaults(
  at: Address,
  batches: readonly BatchSent[],
  stored: readonly StoredDataset[],
): Promise<string[]> {
  const starts = new Map<string, number>()
  for (const { rows } of stored) for (const row of rows) if (row.number === 0) starts.set(row.batch, row.offset)
  const faults: string[] = []
  for (const batch of batches) {
    const [id] = idsOf(batch)
    if (id === undefined) continue
    const { text } = await get(at, `/receipts/${id}`)
    const { status, offsets } = JSON.parse(text) as { status?: string; offsets?: { start: number } } // or a problem
    const start = starts.get(batch.id)
    if (status !== 'committed' || offsets?.start !== start) {
      faults.push(`the receipt of ${batch.id} says ${text}, its rows begin at ${start}`)
    }
  }
  return faults
}
