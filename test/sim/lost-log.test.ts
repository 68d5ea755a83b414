// A log that was cut off at either end, or replaced by another: builders halt and say why, nothing is committed, and
// what was committed before stays as it was. Nothing is ever reset to where the log happens to begin or end.

import { expect, test, vi } from 'vitest'
import type { BuilderHalt } from '../../src/node/builder/builder.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openDirectoryStore } from '../../src/node/store/directory/directory-store.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { readStored } from '../helpers/stored.ts'
import { Broker } from './broker.ts'
import { seedBytes } from './chance.ts'
import { produce, Seen } from './clients.ts'
import { Fleet } from './fleet.ts'
import { storeFolder } from './node.ts'
import { Volume } from './volume.ts'
import { Process, World } from './world.ts'

vi.mock(import('../../src/libraries/base/ids/native-crypto.ts'), async (original) => {
  const { seededBytes } = await import('./chance.ts')
  return { ...(await original()), randomBytes: seededBytes }
})

type Loss = (messages: readonly Uint8Array[]) => { messages: readonly Uint8Array[]; start: number }

const losses: Record<string, { loss: Loss; reasons: readonly string[] }> = {
  'the end': {
    loss: (messages) => ({ messages: messages.slice(0, Math.ceil(messages.length / 2)), start: 0 }),
    reasons: ['LogRegressed'],
  },
  everything: { loss: () => ({ messages: [], start: 0 }), reasons: ['LogRegressed'] },
  'the end, and has others since': {
    loss: (messages) => ({ messages: messages.map((bytes, i) => (i < messages.length / 2 ? bytes : other)), start: 0 }),
    reasons: ['LogReplaced'],
  },
  'messages that nobody has read': {
    loss: (messages) => ({ messages: [...messages, other, other], start: messages.length + 2 }),
    reasons: ['LogTruncated'],
  },
}
const other = new TextEncoder().encode('a message of other software')

async function messagesOf(broker: Broker, world: World): Promise<Uint8Array[]> {
  const messages: Uint8Array[] = []
  for await (const entries of broker.forProcess(new Process(world, 'reader')).read(0, 0, { follow: false })) {
    messages.push(...entries.map(({ bytes }) => bytes))
  }
  return messages
}

async function storedIn(volume: Volume, world: World) {
  return readStored(await openDirectoryStore(storeFolder, volume.forProcess(new Process(world, 'reader'))))
}

async function liveOn(seed: number, loss: Loss) {
  seedBytes(seed)
  const world = new World(seed)
  const volume = new Volume(world)
  const id = '0'.repeat(32)
  const first = new Broker(world, openMemoryLog({ id }), { keepsAll: true })
  const fleet = new Fleet({ world, volume, broker: first, logger: silentLogger })
  const seen = new Seen()
  const clients = {
    world,
    gateway: () => fleet.pick(({ gateway }) => gateway !== undefined),
    anyNode: () => fleet.pick(() => true),
    aliases: ['acme/one', 'acme/two'] as const,
    large: 0,
    lostAnswers: 0,
  } as const
  return world.run(
    (async () => {
      await fleet.heal()
      await produce({ ...clients, aliases: ['acme/one', 'acme/two'] }, seen, 'p', 12)
      // Longer than a builder takes to commit all and to raise the floor.
      await world.after(30_000)
      await fleet.stop()
      const before = await storedIn(volume, world)
      const { messages, start } = loss(await messagesOf(first, world))
      const log = openMemoryLog({ id })
      if (messages.length > 0) await log.append(0, messages)
      if (start > 0) await log.release(0, start + 1)
      const second = new Fleet({ world, volume, broker: new Broker(world, log), logger: silentLogger })
      await second.heal()
      await world.after(30_000)
      const halts = second.halted()
      await second.stop()
      return { before, after: await storedIn(volume, world), halts }
    })(),
  )
}

const reasonsOf = (halts: readonly BuilderHalt[]): string[] => [...new Set(halts.map(({ reason }) => reason))]

test.each(Object.keys(losses))('a log that lost %s halts its builders', async (name) => {
  const { loss, reasons } = losses[name] ?? { loss: () => ({ messages: [], start: 0 }), reasons: [] }
  for (const seed of [1, 2, 3]) {
    const { before, after, halts } = await liveOn(seed, loss)
    expect(before.flatMap(({ rows }) => rows).length).toBeGreaterThan(10)
    expect({ seed, reasons: reasonsOf(halts) }).toEqual({ seed, reasons })
    expect(after).toEqual(before)
  }
})
