// Puts a fixture's dataset (written by deployed ODF software) into a store, optionally with commits as a node makes them.

import { cp, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DatasetId, type Hash, sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import type { DataSlice, MetadataEvent } from '../../../src/libraries/model/events.ts'
import { decodeBlock, encodeBlock } from '../../../src/libraries/odf/block.ts'
import { putCommit } from '../../../src/node/store/records.ts'
import { datasetKey } from '../../../src/node/store/layout.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'

const fixtures = join(import.meta.dirname, '..', '..', 'fixtures')

/** A chain as its `expected.json` tells it. */
export interface FixtureChain {
  readonly folder: string
  readonly id: DatasetId
  readonly alias: string
  readonly hashes: readonly Hash[]
}

interface ExpectedBlock {
  readonly hash: string
}

async function json(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'))
}

/** Two chains of the form that a node makes. */
export async function nodeChains(): Promise<FixtureChain[]> {
  const root = join(fixtures, 'odf-chain')
  const expected = (await json(join(root, 'expected.json'))) as {
    datasets: Record<string, { datasetId: string; blocks: ExpectedBlock[] }>
  }
  return Object.entries(expected.datasets).map(([alias, dataset]) => ({
    folder: join(root, alias),
    id: dataset.datasetId,
    alias,
    hashes: dataset.blocks.map((block) => block.hash),
  }))
}

/** Datasets of every kind, as deployed software keeps them. */
export async function deployedChains(): Promise<FixtureChain[]> {
  const root = join(fixtures, 'odf-datasets')
  const chains: FixtureChain[] = []
  for (const name of (await readdir(root)).sort()) {
    const expected = (await json(join(root, name, 'expected.json'))) as { datasetId: string; blocks: ExpectedBlock[] }
    const hashes = expected.blocks.map((block) => block.hash)
    chains.push({ folder: join(root, name), id: expected.datasetId, alias: `fixture/${name}`, hashes })
  }
  return chains
}

/**
 * The derivative dataset of the fixtures as it is once executed, in a folder of its own: its blocks, then a schema and an
 * ExecuteTransform for each slice of `sensor-readings`, which deployed software wrote too, by the codec whose bytes
 * `test/libraries/odf/block.test.ts` holds against published ones. `edit` changes what the last block says of its slice.
 */
export async function executedChain(
  chains: readonly FixtureChain[],
  edit: (data: DataSlice) => DataSlice = (data) => data,
): Promise<FixtureChain> {
  const named = (name: string): FixtureChain =>
    must(
      chains.find(({ alias }) => alias === `fixture/${name}`),
      name,
    )
  const [readings, derived] = [named('sensor-readings'), named('daily-average')]
  const folder = await mkdtemp(join(tmpdir(), 'proofstream-derived-'))
  await cp(derived.folder, folder, { recursive: true })
  await cp(join(readings.folder, 'data'), join(folder, 'data'), { recursive: true })
  const events: MetadataEvent[] = []
  for (const hash of readings.hashes) {
    const { event } = decodeBlock(await readFile(join(readings.folder, 'blocks', hash))).block
    if (event.kind === 'SetDataSchema') events.push(event)
    if (event.kind !== 'AddData' || event.newData === undefined) continue
    const { prevOffset, newData, newWatermark } = event
    events.push({
      kind: 'ExecuteTransform',
      queryInputs: [{ datasetId: readings.id, newBlockHash: hash }],
      ...(prevOffset === undefined ? {} : { prevOffset }),
      newData,
      ...(newWatermark === undefined ? {} : { newWatermark }),
    })
  }
  const last = events.pop()
  if (last?.kind === 'ExecuteTransform' && last.newData !== undefined) {
    events.push({ ...last, newData: edit(last.newData) })
  }
  const hashes = [...derived.hashes]
  for (const event of events) {
    const prevBlockHash = must(hashes.at(-1), 'a head')
    const bytes = encodeBlock({
      systemTime: '2026-11-22T00:00:00Z',
      prevBlockHash,
      sequenceNumber: hashes.length,
      event,
    })
    const hash = sha3Hash(bytes)
    hashes.push(hash)
    await writeFile(join(folder, 'blocks', hash), bytes)
  }
  await writeFile(join(folder, 'refs', 'head'), must(hashes.at(-1), 'a head'))
  return { ...derived, folder, hashes }
}

export async function trips(): Promise<FixtureChain> {
  return must(
    (await nodeChains()).find((chain) => chain.alias === 'acme/trips'),
    'the fixture has acme/trips',
  )
}

/** Copies refs, blocks, data and checkpoints as they are. */
export async function copyFixture(store: ObjectStore, chain: FixtureChain): Promise<void> {
  for (const folder of ['blocks', 'data', 'checkpoints', 'refs']) {
    const names = await readdir(join(chain.folder, folder)).catch(() => [])
    for (const name of names) {
      await store.put(`${datasetKey(chain.id)}/${folder}/${name}`, await readFile(join(chain.folder, folder, name)))
    }
  }
}

/** Writes commits over the chain: `sizes` new blocks each, the rest one by one. */
export async function putCommits(store: ObjectStore, chain: FixtureChain, sizes: readonly number[]): Promise<void> {
  let sequence = 0
  for (let at = 0; sequence < chain.hashes.length; at++) {
    const blocks = chain.hashes.slice(sequence, sequence + (sizes[at] ?? 1))
    await putCommit(store, { id: chain.id, sequence }, { blocks, log: 'log-1', partition: 0, next: at + 1 })
    sequence += blocks.length
  }
}
