// The callers of a run and what they see: producers that post batches one after the other, readers that look at heads
// and keep proofs, and in the end the whole node read back over HTTP. A batch with a key is repeated until it is
// acknowledged, and some are sent again after that; one without a key is sent once, whatever comes of it. Rows name
// their batch in `batch`, their place in it in `i`, and the size of the batch in `of`.

import { systemClock } from '../../src/libraries/base/clock.ts'
import type { Answer, BatchSent, HeadSeen, ProofChecked, StoredDataset, StoredRow } from './history.ts'

/** Where a process answers, and with which token. */
export interface Address {
  readonly url: string
  readonly token: string
  /** Names the process in what is seen: a restarted one has another. */
  readonly session: string
}

/** Everything that was seen. */
export class Seen {
  readonly batches: BatchSent[] = []
  readonly heads: HeadSeen[] = []
  readonly proofs: ProofChecked[] = []
  /** Proofs by id, to be checked again in the end. */
  readonly proofTexts = new Map<string, string>()
  /** Of acknowledged batches: position in the log, by receipt id. */
  readonly positions = new Map<string, number>()
  /** Answers that nobody should ever get. */
  readonly faults: string[] = []
  requests = 0
  receipts = 0
  /** Answers that said to be the repetition of an earlier one. */
  replays = 0
  lostConnections = 0
  #order = 0

  /** A number that rises with every call. */
  tick(): number {
    return ++this.#order
  }
}

/** Where the load goes. */
export interface Target {
  /** A process that takes rows; waits while there is none. */
  gateway(): Promise<Address>
  /** A process that answers questions, or undefined while there is none. */
  replica(): Address | undefined
  isOver(): boolean
}

interface Post {
  readonly alias: string
  readonly rows: number
  /** Bytes of filling in each row. */
  readonly fillBytes: number
  readonly keyed: boolean
  readonly prefer: string | undefined
  /** How often a batch that was acknowledged is sent again. */
  readonly repeats: number
}

/** Refusals after which the same request may be sent again; others are faults. */
const passing = new Set([429, 503])
const pauseMs = 20

/** The datasets that get most of the load. */
export function aliasesOf(account: string): readonly [small: string, mixed: string, large: string] {
  return [`${account}/small`, `${account}/mixed`, `${account}/large`]
}

export interface LoadSpec {
  readonly account: string
  /** Producers of small batches with a key, and without one. */
  readonly keyed: number
  readonly bare: number
  readonly random: Random
}

/** Producers and a reader; resolves when the run is over and each has finished what it had in flight. */
export function startLoad({ account, keyed, bare, random }: LoadSpec, target: Target, seen: Seen): Promise<unknown> {
  const next = (): Random => randomOf(random.between(0, 2 ** 31))
  // Two producers with one seed create the same datasets at the same time.
  const raced = random.between(0, 2 ** 31)
  const aliases = aliasesOf(account)
  const [small, mixed, large] = aliases
  const times = (count: number): number[] => Array.from({ length: count }, (_, n) => n)
  return Promise.all([
    ...times(keyed).map((n) => produce(`keyed${n}`, smallPosts(next(), small, true), target, seen)),
    ...times(bare).map((n) => produce(`bare${n}`, smallPosts(next(), small, false), target, seen)),
    ...[true, false].map((isKeyed) => produce(`mixed-${isKeyed}`, smallPosts(next(), mixed, isKeyed), target, seen)),
    produce('large', largePosts(next(), large), target, seen),
    ...times(2).map((n) => produce(`maker${n}`, creatingPosts(randomOf(raced), account), target, seen)),
    watch(aliases, next(), target, seen),
  ])
}

/** Posts batches that `choose` describes until the run is over, then finishes the one in flight. */
async function produce(name: string, choose: () => Post, target: Target, seen: Seen): Promise<void> {
  for (let number = 0; !target.isOver(); number++) {
    const post = choose()
    const id = `${name}-${number}`
    const key = post.keyed ? { key: id } : {}
    const batch: BatchSent = { id, dataset: post.alias, rows: post.rows, ...key, attempts: [] }
    seen.batches.push(batch)
    const send = (): Promise<Answer> => attempt(batch, post, target, seen)
    let answer = await send()
    while (post.keyed && answer.kind !== 'ok' && seen.faults.length === 0) {
      await systemClock.sleep(pauseMs)
      answer = await send()
    }
    for (let again = 0; post.keyed && again < post.repeats; again++) await send()
  }
}

/** Sends a batch once and keeps what came of it. */
async function attempt(batch: BatchSent, post: Post, target: Target, seen: Seen): Promise<Answer> {
  const { url, token, session } = await target.gateway()
  const body = bodyOf(batch, post.fillBytes)
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/x-ndjson',
    ...(batch.key === undefined ? {} : { 'idempotency-key': batch.key }),
    ...(post.prefer === undefined ? {} : { prefer: post.prefer }),
  }
  const sentAt = seen.tick()
  seen.requests++
  let answer: Answer
  try {
    const path = `/${post.alias}/ingest?create=true`
    const response = await fetch(url + path, { method: 'POST', headers, body })
    const text = await response.text()
    if (response.headers.get('idempotent-replayed') === 'true') seen.replays++
    answer = answerOf(response.status, text, seen)
    if (answer.kind === 'refused' && !passing.has(response.status)) {
      seen.faults.push(`${batch.id} to ${post.alias}: ${response.status} ${text}`)
    }
  } catch (error) {
    seen.lostConnections++
    answer = { kind: 'unknown', error: String(error) }
  }
  batch.attempts.push({ sentAt, answeredAt: seen.tick(), session, answer })
  return answer
}

/** What is used of a receipt. */
interface ReceiptJson {
  readonly receiptId: string
  readonly log: { readonly position: number }
  readonly block?: { readonly sequence: number; readonly hash: string }
  readonly offsets?: { readonly start: number; readonly end: number }
}

function answerOf(status: number, text: string, seen: Seen): Answer {
  if (status >= 400) return { kind: status === 500 ? 'unknown' : 'refused', error: text }
  const { receiptId, log, block, offsets } = JSON.parse(text) as ReceiptJson // the body of 200 and 202
  seen.receipts++
  seen.positions.set(receiptId, log.position)
  return {
    kind: 'ok',
    receiptId,
    ...(block === undefined ? {} : { block: { sequence: block.sequence, hash: block.hash } }),
    ...(offsets === undefined ? {} : { offsets }),
  }
}

function bodyOf(batch: BatchSent, fillBytes: number): string {
  let body = ''
  for (let i = 0; i < batch.rows; i++) {
    body += `${JSON.stringify({ batch: batch.id, i, of: batch.rows, fill: 'x'.repeat(fillBytes) })}\n`
  }
  return body
}

const prefers = [undefined, 'respond-async', 'respond-async', 'wait=10']

/** Small posts to one dataset. */
function smallPosts(random: Random, alias: string, keyed: boolean): () => Post {
  return () => ({
    alias,
    rows: random.between(1, 12),
    fillBytes: random.between(0, 40),
    keyed,
    prefer: prefers[random.between(0, prefers.length - 1)],
    repeats: random.next() < 0.4 ? random.between(1, 4) : 0,
  })
}

/** Batches of several parts in the log. */
function largePosts(random: Random, alias: string): () => Post {
  return () => ({
    alias,
    rows: random.between(360, 500),
    fillBytes: 2500,
    keyed: true,
    prefer: undefined,
    repeats: random.next() < 0.2 ? 1 : 0,
  })
}

/** Posts that make their dataset; producers whose chance has one seed race for the same names. */
function creatingPosts(random: Random, account: string): () => Post {
  let number = 0
  return () => ({
    alias: `${account}/made-${number++}`,
    rows: random.between(1, 5),
    fillBytes: 3,
    keyed: true,
    prefer: undefined,
    repeats: 0,
  })
}

/** Looks at heads of `aliases`, and now and then keeps a proof, until the run is over. */
async function watch(aliases: readonly string[], random: Random, target: Target, seen: Seen): Promise<void> {
  while (!target.isOver()) {
    await systemClock.sleep(random.between(50, 250))
    const at = target.replica()
    const alias = aliases[random.between(0, aliases.length - 1)]
    if (at === undefined || alias === undefined) continue
    // A process that dies, starts or is full has no answer: what counts is what it says when it does.
    await look(at, alias, seen).catch(() => {})
    if (random.next() < 0.1) await keepProof(at, alias, seen).catch(() => {})
  }
}

/** One request; `body` is posted as JSON text. */
async function ask(at: Address, path: string, body?: string): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${at.token}`, 'content-type': 'application/json' }
  const response = await fetch(at.url + path, body === undefined ? { headers } : { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

async function look(at: Address, alias: string, seen: Seen): Promise<void> {
  const askedAt = seen.tick()
  const { status, text } = await ask(at, `/${alias}/blocks?limit=1`)
  if (status !== 200) return
  const [head] = (JSON.parse(text) as BlockPage).blocks // as documented
  if (head === undefined) return
  const { sequence, hash } = head
  seen.heads.push({ at: askedAt, session: at.session, dataset: alias, sequence, hash })
}

async function keepProof(at: Address, alias: string, seen: Seen): Promise<void> {
  const query = `select count(*), sum(i), max("offset") from "${alias}"`
  const proof = await ask(at, '/query', JSON.stringify({ query, include: ['Proof'] }))
  if (proof.status !== 200) return
  const id = `${alias} #${seen.proofTexts.size}`
  seen.proofTexts.set(id, proof.text)
  await checkProof(at, id, seen)
}

/** Verifies a kept proof once more. */
export async function checkProof(at: Address, id: string, seen: Seen): Promise<void> {
  const { status, text } = await ask(at, '/verify', seen.proofTexts.get(id) ?? '')
  if (passing.has(status)) return
  const { ok } = JSON.parse(text) as { ok?: boolean } // a verdict, or a problem without it
  seen.proofs.push({ at: seen.tick(), id, holds: ok === true })
}

/** Rows of one question when all is read back. */
const pageRows = 50_000

interface BlockPage {
  readonly blocks: readonly {
    readonly sequence: number
    readonly hash: string
    readonly event: { readonly newData?: { readonly offsetInterval: { readonly start: number; readonly end: number } } }
  }[]
  readonly next?: string
}
type BlockJson = BlockPage['blocks'][number]

/** Blocks and rows of `aliases`; none of a dataset that is not there. Throws RangeError for any other answer. */
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

/** Oldest first. */
async function blocksOf(at: Address, alias: string): Promise<BlockJson[]> {
  const blocks: BlockJson[] = []
  for (let before: string | undefined = ''; before !== undefined;) {
    const { status, text } = await ask(at, `/${alias}/blocks?limit=1000${before === '' ? '' : `&before=${before}`}`)
    if (status === 404) return []
    if (status !== 200) throw new RangeError(`the blocks of ${alias}: ${status} ${text}`)
    const page = JSON.parse(text) as BlockPage // as documented
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
    const asked = JSON.stringify({ query, dataFormat: 'JsonAoa', limit: pageRows })
    const { status, text } = await ask(at, '/query', asked)
    if (status !== 200) throw new RangeError(`the rows of ${alias}: ${status} ${text}`)
    const { output } = JSON.parse(text) as { output: { data: [string, number, number, number][] } } // as asked for
    for (const [batch, number, of, offset] of output.data) {
      while (offset > (holders[holder]?.end ?? Number.POSITIVE_INFINITY)) holder++
      rows.push({ batch, number, of, offset, sequence: holders[holder]?.sequence ?? -1 })
    }
  }
  return rows
}

const receiptIdsOf = ({ attempts }: BatchSent): string[] =>
  attempts.flatMap(({ answer }) => (answer.kind === 'ok' ? [answer.receiptId] : []))

/** Waits until of each dataset the acknowledged batch that is furthest in the log is committed: so are those before it. */
export async function drained(at: Address, seen: Seen, withinMs: number): Promise<number | undefined> {
  const last = new Map<string, { readonly id: string; readonly position: number }>()
  for (const batch of seen.batches) {
    for (const id of receiptIdsOf(batch)) {
      const position = seen.positions.get(id) ?? -1
      if (position > (last.get(batch.dataset)?.position ?? -1)) last.set(batch.dataset, { id, position })
    }
  }
  const beganMs = systemClock.monotonicMs()
  for (const { id } of last.values()) {
    while ((await receiptOf(at, id)).status === 'accepted') {
      if (systemClock.monotonicMs() - beganMs > withinMs) return undefined
      await systemClock.sleep(50)
    }
  }
  return systemClock.monotonicMs() - beganMs
}

/** What the node says now of a batch; a problem body has a number for its status. */
async function receiptOf(at: Address, id: string): Promise<{ status?: unknown; offsets?: { start: number } }> {
  const { text } = await ask(at, `/receipts/${id}`)
  return JSON.parse(text) as { status?: unknown; offsets?: { start: number } } // a receipt, or a problem
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
    const [id] = receiptIdsOf(batch)
    if (id === undefined) continue
    const receipt = await receiptOf(at, id)
    const start = starts.get(batch.id)
    if (receipt.status !== 'committed' || receipt.offsets?.start !== start) {
      faults.push(`the receipt of ${batch.id} says ${JSON.stringify(receipt)}, its rows begin at ${start}`)
    }
  }
  return faults
}

/** Chance that can be repeated. */
export interface Random {
  /** In [0, 1). */
  next(): number
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number
}

/** The same seed gives the same numbers (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { next, between: (least, most) => least + Math.floor(next() * (most - least + 1)) }
}
