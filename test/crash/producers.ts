// Producers that a killed node does not stop: each posts batches one after the other and keeps account of what it was
// told. A keyed batch is repeated until it is acknowledged; one without a key is sent once, whatever comes of it.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Receipt } from '../../src/model/receipt.ts'
import type { Random } from './random.ts'

/** One batch and what is known of it. Its rows carry `id`, their number in the batch, and the size of the batch. */
export interface SentBatch {
  readonly id: string
  readonly alias: string
  readonly rows: number
  readonly keyed: boolean
  attempts: number
  /** What the node answered; undefined while it has acknowledged nothing. */
  receipt: Receipt | undefined
}

export interface Target {
  /** Where the node listens now; waits while it is down. */
  address(): Promise<{ readonly url: string; readonly token: string }>
  readonly stopping: () => boolean
}

/** Answers that leave the outcome open or ask to come back: everything else but 200 and 202 is a fault. */
const passing = new Set([429, 500, 502, 503])

export class Ledger {
  readonly batches: SentBatch[] = []
  /** Answers that no producer should ever see. */
  readonly faults: string[] = []
  replays = 0
  lostConnections = 0

  open(batch: Omit<SentBatch, 'attempts' | 'receipt'>): SentBatch {
    const sent = { ...batch, attempts: 0, receipt: undefined }
    this.batches.push(sent)
    return sent
  }
}

export interface Post {
  readonly alias: string
  readonly rows: number
  /** Bytes of filling in each row. */
  readonly fill: number
  readonly keyed: boolean
  readonly create: boolean
  readonly prefer: string | undefined
}

/** Posts batches that `choose` describes until the run ends, then finishes the one under way. */
export async function produce(name: string, target: Target, ledger: Ledger, choose: () => Post): Promise<void> {
  for (let number = 0; !target.stopping(); number++) {
    const post = choose()
    const batch = ledger.open({ id: `${name}-${number}`, alias: post.alias, rows: post.rows, keyed: post.keyed })
    const body = bodyOf(batch, post.fill)
    do {
      await attempt(batch, { post, body }, target, ledger)
      if (batch.receipt === undefined) await sleep(20)
    } while (post.keyed && batch.receipt === undefined && ledger.faults.length === 0)
  }
}

async function attempt(
  batch: SentBatch,
  sent: { post: Post; body: string },
  target: Target,
  ledger: Ledger,
): Promise<void> {
  const { post, body } = sent
  const { url, token } = await target.address()
  batch.attempts++
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/x-ndjson',
    ...(post.keyed ? { 'idempotency-key': batch.id } : {}),
    ...(post.prefer === undefined ? {} : { prefer: post.prefer }),
  }
  let status = 0
  let text = ''
  try {
    const answer = await fetch(`${url}/${post.alias}/ingest${post.create ? '?create=true' : ''}`, {
      method: 'POST',
      headers,
      body,
    })
    status = answer.status
    if (answer.headers.get('idempotent-replayed') === 'true') ledger.replays++
    text = await answer.text()
  } catch {
    ledger.lostConnections++
    return
  }
  if (status === 200 || status === 202) batch.receipt = JSON.parse(text) as Receipt
  else if (!passing.has(status)) ledger.faults.push(`${batch.id} to ${post.alias}: ${status} ${text}`)
}

function bodyOf(batch: SentBatch, fill: number): string {
  let body = ''
  for (let i = 0; i < batch.rows; i++) {
    body += `${JSON.stringify({ batch: batch.id, i, of: batch.rows, fill: 'x'.repeat(fill) })}\n`
  }
  return body
}

const prefers = [undefined, 'respond-async', 'respond-async', 'wait=10']

/** Small posts to one dataset, some with a key and some without. */
export function smallPosts(random: Random, alias: string, keyed: boolean): () => Post {
  return () => ({
    alias,
    rows: random.between(1, 12),
    fill: random.between(0, 40),
    keyed,
    create: false,
    prefer: prefers[random.between(0, prefers.length - 1)],
  })
}

/** Batches of several parts in the log. */
export function largePosts(random: Random, alias: string): () => Post {
  return () => ({ alias, rows: random.between(400, 900), fill: 2500, keyed: true, create: false, prefer: undefined })
}

/** Posts that make their dataset; producers that share `random`'s seed race for the same names. */
export function creatingPosts(random: Random): () => Post {
  let number = 0
  return () => ({
    alias: `acme/made-${number++}`,
    rows: random.between(1, 5),
    fill: 3,
    keyed: true,
    create: true,
    prefer: undefined,
  })
}
