// Senders of numbered streams over real connections, each cut at a random byte, in NDJSON and in CSV, by POST and over
// WebSocket: they come back, to any gateway, with what they were not told of. Each record is a batch of one row to the checker. STREAM_CUTS says how many
// connections are cut or lost with a process (default 150), SEED other choices.

import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type BatchSent, judge } from '../history/history.ts'
import { type Address, type Random, readBack, type Seen } from '../history/load.ts'
import { PostConnection, SocketConnection, type StreamConnection } from './stream-connections.ts'

export const streamCuts = Number(process.env['STREAM_CUTS'] ?? 150)

export const streamAliases = ['cuts/a', 'cuts/b', 'cuts/c'] as const
const senderCount = 12
/** A connection on which nothing is told for so long is given up. */
const silentMs = 60_000
const drainWithinMs = 120_000
/** What a sender that keeps to the rules is never told. */
const neverTold = new Set(['SequenceGap', 'ProducerFenced', 'IdempotencyKeyReused', 'RecordsDoNotFit', 'Internal'])

export interface SendersSpec {
  readonly random: Random
  readonly seen: Seen
  /** A process that takes rows; waits while there is none. */
  readonly gateway: () => Promise<Address>
  readonly isOver: () => boolean
}

export interface SenderCounts {
  connections: number
  /** By the sender, within its bytes or after them. */
  cuts: number
  /** By a process that was killed. */
  lost: number
  told: number
}

/** Makes the datasets: stream senders name columns, and make none. */
export async function makeDatasets({ url, token }: Address): Promise<void> {
  const field = (name: string, kind: string): object => ({ name, type: { kind } })
  const fields = [field('batch', 'String'), field('i', 'Int64'), field('of', 'Int64'), field('fill', 'String')]
  for (const alias of streamAliases) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const made = await fetch(`${url}/${alias}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify({ schema: { fields } }),
    })
    expect(made.status).toBe(201)
  }
}

/** Sends until `isOver`, and then until all that was sent is durable. */
export async function sendStreams(spec: SendersSpec, counts: SenderCounts): Promise<void> {
  const senders = Array.from({ length: senderCount }, (_, n) => new Sender(spec, n, counts))
  await Promise.all(senders.map((sender) => sender.run()))
}

class Sender {
  readonly #spec: SendersSpec
  readonly #counts: SenderCounts
  readonly #name: string
  readonly #alias: string
  readonly #isCsv: boolean
  readonly #isSocket: boolean
  readonly #records: BatchSent[] = []
  readonly #texts: string[] = []
  /** Records that are durable, as far as it was told. */
  #told = 0

  constructor(spec: SendersSpec, n: number, counts: SenderCounts) {
    this.#spec = spec
    this.#counts = counts
    this.#name = `sender-${n}`
    this.#alias = streamAliases[n % streamAliases.length] ?? ''
    this.#isCsv = n % 2 === 1
    this.#isSocket = n % 4 > 1
  }

  async run(): Promise<void> {
    while (!this.#spec.isOver() || this.#told < this.#records.length) await this.#connection()
  }

  async #connection(): Promise<void> {
    const { random, seen, isOver } = this.#spec
    const at = await this.#spec.gateway()
    if (!isOver()) this.#make(random.between(1, 40))
    const from = this.#told
    const isCut = !isOver() && random.next() < 0.9
    const sentAt = seen.tick()
    for (const { attempts } of this.#records.slice(from)) {
      if (attempts.length > 0) continue
      attempts.push({ sentAt, answeredAt: sentAt, session: at.session, answer: { kind: 'unknown', error: 'a stream' } })
    }
    const connection = this.#open(at, from)
    const over = this.#listen(connection, { at, sentAt })
    this.#counts.connections++
    await connection.ready()
    const records = this.#texts.slice(from)
    const bytes = connection.bytesOf(this.#isCsv ? ['batch,i,of,fill\n', ...records] : records)
    await this.#write(connection, isCut ? bytes.subarray(0, random.between(0, bytes.length)) : bytes)
    if (!isCut) connection.end()
    else {
      await Promise.race([over, sleep(random.next() < 0.5 ? 0 : random.between(0, 400))])
      this.#counts.cuts++
      connection.cut()
    }
    await over
  }

  #make(count: number): void {
    const { random, seen } = this.#spec
    for (let n = 0; n < count; n++) {
      const id = `${this.#name}-${this.#records.length}`
      const fill = `${'x'.repeat(random.between(0, random.next() < 0.02 ? 20_000 : 60))}\n`
      const cells = `${id},0,1,"${fill}"\n`
      this.#texts.push(this.#isCsv ? cells : `${JSON.stringify({ batch: id, i: 0, of: 1, fill })}\n`)
      const sent: BatchSent = { id, dataset: this.#alias, rows: 1, attempts: [] }
      this.#records.push(sent)
      seen.batches.push(sent)
    }
  }

  #open({ url, token }: Address, from: number): StreamConnection {
    const spec = {
      url: `${url}/${this.#alias}/stream`,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': this.#isCsv ? 'text/csv' : 'application/x-ndjson',
        'producer-id': this.#name,
        'producer-sequence': String(from),
      },
      silentMs,
      onSilence: () => this.#spec.seen.faults.push(`${this.#name}: nothing was told for ${silentMs} ms`),
    }
    return this.#isSocket ? new SocketConnection(spec) : new PostConnection(spec)
  }

  async #write(connection: StreamConnection, bytes: Uint8Array): Promise<void> {
    const { random } = this.#spec
    for (let at = 0; at < bytes.length && !connection.isCut;) {
      const size = random.between(1, random.next() < 0.3 ? 40 : 4_000)
      connection.write(bytes.subarray(at, at + size))
      at += size
      if (random.next() < 0.4) await sleep(random.between(0, 30))
    }
  }

  /** Hears what it is told until the connection is over; after it was cut it hears nothing. */
  async #listen(connection: StreamConnection, on: { readonly at: Address; readonly sentAt: number }): Promise<void> {
    try {
      for await (const line of connection.lines()) if (!connection.isCut) this.#hear(line, on)
    } catch {
      if (!connection.isCut) this.#counts.lost++
    }
    connection.cut()
  }

  #hear(line: string, { at, sentAt }: { readonly at: Address; readonly sentAt: number }): void {
    const { seen } = this.#spec
    const { numbers, receiptId = '', problem, error } = JSON.parse(line) as Told
    const kind = problem?.error?.kind ?? error?.kind ?? ''
    if (neverTold.has(kind)) seen.faults.push(`${this.#name}: ${line.slice(0, 500)}`)
    if (numbers === undefined) return
    for (; this.#told <= numbers.last; this.#told++) {
      const answer = { kind: 'ok', receiptId } as const
      const attempt = { sentAt, answeredAt: seen.tick(), session: at.session, answer }
      this.#records[this.#told]?.attempts.push(attempt)
      this.#counts.told++
    }
  }
}

/** A line of the answer, or the body of an error. */
interface Told {
  readonly numbers?: { readonly last: number }
  readonly receiptId?: string
  readonly problem?: { readonly error?: { readonly kind: string } }
  readonly error?: { readonly kind: string }
}

/** In peace: waits until all is in blocks, and judges what was told and stored. */
export async function judgeStreams(at: Address, seen: Seen): Promise<readonly unknown[]> {
  const { batches, heads, proofs, faults } = seen
  const beganMs = performance.now()
  let stored = await readBack(at, streamAliases)
  const isThere = (): boolean => stored.reduce((sum, { rows }) => sum + rows.length, 0) >= batches.length
  while (!isThere() && performance.now() - beganMs < drainWithinMs) {
    await sleep(1_000)
    stored = await readBack(at, streamAliases)
  }
  const drain = { tookMs: isThere() ? performance.now() - beganMs : undefined, withinMs: drainWithinMs }
  return [
    ...judge({ batches, heads, proofs, rejected: [], stored, drain, held: [] }).slice(0, 20),
    ...faults.slice(0, 20),
  ]
}
