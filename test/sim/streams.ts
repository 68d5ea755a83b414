// Senders of numbered streams: their connections are cut at random bytes, and they come back at whatever gateway there is,
// sometimes while what they sent before is still on its way. Each record is a batch of one row to the checker.

import { Readable } from 'node:stream'
import { ndjson } from '../../src/libraries/formats/json/format.ts'
import { readControls } from '../../src/node/gateway/controls.ts'
import type { IngestStream, StreamLine } from '../../src/node/gateway/ingest-stream.ts'
import type { BatchSent } from '../history/history.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { NodeError } from '../../src/libraries/base/errors.ts'
import { parseAliasText } from '../../src/libraries/model/names.ts'
import { type Clients, declared, type Seen } from './clients.ts'
import type { SimulatedNode } from './node.ts'
import type { World } from './world.ts'

/** What a sender that keeps to the rules is never told. */
const neverTold: ReadonlySet<string> = new Set([
  'SequenceGap',
  'ProducerFenced',
  'IdempotencyKeyReused',
  'RecordsDoNotFit',
  'Internal',
])

export interface StreamCounts {
  connections: number
  cuts: number
  ghosts: number
  streamed: number
}

interface Sender {
  readonly name: string
  readonly dataset: string
  /** Number of the first record. */
  readonly first: number
  readonly records: readonly { readonly text: string; readonly sent: BatchSent }[]
  /** How many are durable, as far as it was told. */
  told: number
  /** Connections that it opened: it hears of the last one alone. */
  turns: number
}

/** Sends `count` records as one stream, over as many connections as it takes. */
export async function streamRecords(
  clients: Clients,
  { seen, counts }: { readonly seen: Seen; readonly counts: StreamCounts },
  { name, count }: { readonly name: string; readonly count: number },
): Promise<void> {
  const { world } = clients
  const dataset = world.pick(clients.aliases)
  const records = Array.from({ length: count }, (_, n) => {
    const id = `${name}-${n}`
    const blank = world.chance(0.05) ? ' \n' : ''
    const text = `${blank}${JSON.stringify({ batch: id, i: 0, of: 1 })}\n`
    return { text, sent: { id, dataset, rows: 1, attempts: [] } satisfies BatchSent }
  })
  const sender = { name, dataset, first: world.random.between(0, 9), records, told: 0, turns: 0 }
  while (sender.told < count) {
    await world.after(world.random.next() * world.pick([5, 200]))
    const node = clients.gateway()
    if (node !== undefined) await connection(clients, node, { sender, seen, counts })
  }
}

/** Lines that records up to `told` use up. */
function linesOf({ records }: Sender, told: number): number {
  return records.slice(0, told).reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
}

interface Connection {
  readonly sender: Sender
  readonly seen: Seen
  readonly counts: StreamCounts
}

async function connection(
  { world }: Clients,
  node: SimulatedNode,
  { sender, seen, counts }: Connection,
): Promise<void> {
  const from = sender.told
  const turn = ++sender.turns
  const body = new Readable({ read: () => {} })
  body.on('error', () => {})
  const stream = await node.process
    .call(() => open(node, sender, body))
    .catch((error: unknown) => judged(seen, sender, error))
  if (stream === undefined) return
  counts.connections++
  const sentAt = world.tick()
  for (const { sent } of sender.records.slice(from)) {
    if (sent.attempts.length > 0) continue
    seen.batches.push(sent)
    // It may come to the log from now on, told or not.
    const answer = { kind: 'unknown', error: 'a stream' } as const
    sent.attempts.push({ sentAt, answeredAt: sentAt, session: node.process.name, answer })
  }
  const isLast = (): boolean => turn === sender.turns
  let isHeard = true
  const bytes = utf8(
    sender.records
      .slice(from)
      .map(({ text }) => text)
      .join(''),
  )
  const cutAt = world.chance(0.7) ? world.random.between(0, bytes.length) : undefined
  const pushing = push(world, body, bytes.subarray(0, cutAt)).then(async () => {
    if (cutAt === undefined) return body.push(null)
    counts.cuts++
    isHeard = world.chance(0.3)
    // What the network still holds comes later, when the sender is back elsewhere.
    const isGhost = world.chance(0.5)
    if (isGhost) counts.ghosts++
    void (async () => {
      if (isGhost) await push(world, body, bytes.subarray(cutAt, cutAt + world.random.between(0, 400)))
      body.destroy(new Error('cut'))
    })()
    return true
  })
  const listening = listen(
    { world, node, stream, sender, seen },
    { from, sentAt, isHeard: () => isHeard && isLast(), isLast },
  )
  counts.streamed += await Promise.race([listening, pushing.then(() => (cutAt === undefined ? listening : 0))])
}

async function open(node: SimulatedNode, sender: Sender, body: Readable): Promise<IngestStream | undefined> {
  const gateway = must(node.gateway, 'a gateway')
  const alias = parseAliasText(sender.dataset)
  const found = await node.catalog.byAlias(sender.dataset)
  const chain = found ?? (await gateway.create({ alias, visibility: 'public', schema: declared })).chain
  if (chain.aspects.schema === undefined) return undefined
  const start = { id: sender.name, epoch: 0, first: sender.first + linesOf(sender, sender.told) }
  const stream = await gateway.stream({
    alias,
    chain,
    tokenId: 't1',
    controls: readControls({ 'content-type': 'application/x-ndjson' }, {}),
    body,
    format: ndjson,
    producer: start,
    rights: async () => {},
  })
  void stream.run()
  return stream
}

/** Bytes in pieces of any length. */
async function push(world: World, body: Readable, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length && !body.destroyed;) {
    const length = world.random.between(1, world.pick([5, 60, 600]))
    body.push(bytes.slice(at, at + length))
    at += length
    await world.after(world.random.next() * world.pick([1, 10, 60]))
  }
}

interface Listening extends Omit<Connection, 'counts'> {
  readonly world: World
  readonly node: SimulatedNode
  readonly stream: IngestStream
}

interface Hearing {
  readonly from: number
  readonly sentAt: number
  readonly isHeard: () => boolean
  /** The sender has not connected again. */
  readonly isLast: () => boolean
}

/** Takes receipts until the end; how many came. */
async function listen(
  { world, node, stream, sender, seen }: Listening,
  { from, sentAt, isHeard, isLast }: Hearing,
): Promise<number> {
  const lines = stream.lines()
  let toldHere = from
  for (let heard = 0; ; heard++) {
    const line = await node.process
      .call(async (): Promise<StreamLine> => (await lines.next()).value)
      .catch(() => undefined)
    if (line === undefined) return heard
    if (line.kind === 'end') {
      if (isLast()) judged(seen, sender, line.error)
      return heard
    }
    if (!isHeard()) continue
    const { numbers, receiptId } = line.receipt
    for (; toldHere < sender.records.length; toldHere++) {
      if (sender.first + linesOf(sender, toldHere + 1) - 1 > numbers.last) break
      const answer = { kind: 'ok' as const, receiptId }
      sender.records[toldHere]?.sent.attempts.push({
        sentAt,
        answeredAt: world.tick(),
        session: node.process.name,
        answer,
      })
    }
    sender.told = Math.max(sender.told, toldHere)
  }
}

function judged(seen: Seen, { name }: Sender, error: unknown): undefined {
  if (error instanceof NodeError && neverTold.has(error.kind))
    seen.faults.push(`${name}: ${error.kind}: ${error.message}`)
}
