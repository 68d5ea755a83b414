// Puts a fixture's dataset (written by deployed ODF software) into a store, optionally with commits as a node makes them.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { must } from '../../src/lib/assert.ts'
import type { DatasetId, Hash } from '../../src/model/events.ts'
import { putCommit } from '../../src/store/records.ts'
import { datasetKey } from '../../src/store/layout.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'

const fixtures = join(import.meta.dirname, '..', 'fixtures')

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
