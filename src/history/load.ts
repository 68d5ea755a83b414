// The load of a run: producers that post batches one after the other, and readers that look at heads and keep proofs.
// All that they are told goes into what was seen. A batch with a key is repeated until it is acknowledged, and some
// are sent again after that; one without a key is sent once, whatever comes of it.

import { systemClock } from '../index.ts'
import type { Answer, BatchSent, HeadSeen, ProofChecked } from './history.ts'
import type { Random } from './random.ts'
import type { Address } from './served-node.ts'

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

export interface Post {
  readonly alias: string
  readonly rows: number
  /** Bytes of filling in each row. */
  readonly fillBytes: number
  readonly keyed: boolean
  readonly create: boolean
  readonly prefer: string | undefined
  /** How often a batch that was acknowledged is sent again. */
  readonly repeats: number
}

/** Refusals after which the same request may be sent again; others are faults. */
const passing = new Set([429, 503])
const pauseMs = 20

/** Posts batches that `choose` describes until the run is over, then finishes the one under way. */
export async function produce(name: string, choose: () => Post, target: Target, seen: Seen): Promise<void> {
  for (let number = 0; !target.isOver(); number++) {
    const post = choose()
    const id = `${name}-${number}`
    const key = post.keyed ? { key: id } : {}
    const batch: BatchSent = { id, dataset: post.alias, rows: post.rows, ...key, attempts: [] }
    seen.batches.push(batch)
    const body = bodyOf(batch, post.fillBytes)
    let answer = await attempt({ batch, post, body }, target, seen)
    while (post.keyed && answer.kind !== 'ok' && seen.faults.length === 0) {
      await systemClock.sleep(pauseMs)
      answer = await attempt({ batch, post, body }, target, seen)
    }
    for (let again = 0; post.keyed && again < post.repeats; again++) await attempt({ batch, post, body }, target, seen)
  }
}

interface Sending {
  readonly batch: BatchSent
  readonly post: Post
  readonly body: string
}

/** Sends a batch once and keeps what came of it. */
async function attempt({ batch, post, body }: Sending, target: Target, seen: Seen): Promise<Answer> {
  const { url, token, session } = await target.gateway()
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
    const path = `/${post.alias}/ingest${post.create ? '?create=true' : ''}`
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
export function smallPosts(random: Random, alias: string, keyed: boolean): () => Post {
  return () => ({
    alias,
    rows: random.between(1, 12),
    fillBytes: random.between(0, 40),
    keyed,
    create: true,
    prefer: prefers[random.between(0, prefers.length - 1)],
    repeats: random.next() < 0.4 ? random.between(1, 4) : 0,
  })
}

/** Batches of several parts in the log. */
export function largePosts(random: Random, alias: string): () => Post {
  return () => ({
    alias,
    rows: random.between(360, 500),
    fillBytes: 2500,
    keyed: true,
    create: true,
    prefer: undefined,
    repeats: random.next() < 0.2 ? 1 : 0,
  })
}

/** Posts that make their dataset; producers whose chance has one seed race for the same names. */
export function creatingPosts(random: Random, account: string): () => Post {
  let number = 0
  return () => ({
    alias: `${account}/made-${number++}`,
    rows: random.between(1, 5),
    fillBytes: 3,
    keyed: true,
    create: true,
    prefer: undefined,
    repeats: 0,
  })
}

/** Looks at heads of `aliases`, and now and then keeps a proof, until the run is over. */
export async function watch(aliases: readonly string[], random: Random, target: Target, seen: Seen): Promise<void> {
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

async function look({ url, token, session }: Address, alias: string, seen: Seen): Promise<void> {
  const at = seen.tick()
  const response = await fetch(`${url}/${alias}/blocks?limit=1`, { headers: { authorization: `Bearer ${token}` } })
  if (response.status !== 200) return
  const page = (await response.json()) as { blocks: { sequence: number; hash: string }[] } // as documented
  const [head] = page.blocks
  if (head === undefined) return
  seen.heads.push({ at, session, dataset: alias, sequence: head.sequence, hash: head.hash })
}

async function keepProof(at: Address, alias: string, seen: Seen): Promise<void> {
  const sql = `select count(*), sum(i), max("offset") from "${alias}"`
  const proof = await postJson(at, '/query', JSON.stringify({ query: sql, include: ['Proof'] }))
  if (proof.status !== 200) return
  const id = `${alias} #${seen.proofTexts.size}`
  seen.proofTexts.set(id, proof.text)
  await checkProof(at, id, seen)
}

/** Verifies a kept proof once more. */
export async function checkProof(at: Address, id: string, seen: Seen): Promise<void> {
  const verified = await postJson(at, '/verify', seen.proofTexts.get(id) ?? '')
  if (verified.status === 429 || verified.status === 503) return
  const { ok } = JSON.parse(verified.text) as { ok?: boolean } // a verdict, or a problem without it
  seen.proofs.push({ at: seen.tick(), id, holds: ok === true })
}

export async function postJson(at: Address, path: string, body: string): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${at.token}`, 'content-type': 'application/json' }
  const response = await fetch(at.url + path, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}
