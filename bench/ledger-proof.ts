// Proofs of blocks out of a ledger of 10,000,000 entries (`--ledger-entries=N`), by the code of the node over a directory: how long
// one takes, and how many tiles it reads. The library makes the tiles; every hundredth entry is of the dataset that is asked for.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Answers, blockShown } from '../src/features/ledger/answers.ts'
import { BlockRecords } from '../src/node/files/block-records.ts'
import type { Growth, PlaceGroup } from '../src/features/ledger/history.ts'
import { claimOrigin, ledgerVerifierKey } from '../src/features/ledger/identity.ts'
import { LedgerKeys, type Tagger } from '../src/features/ledger/ledger-keys.ts'
import { newestTree } from '../src/features/ledger/stored-ledger.ts'
import { policyOf } from '../src/features/ledger/policy-file.ts'
import { Publisher } from '../src/features/ledger/publisher.ts'
import { placesPerGroup, stateCodec, storedTree } from '../src/features/ledger/records.ts'
import { TreeFiles } from '../src/features/ledger/tree-files.ts'
import { must } from '../src/libraries/base/assert.ts'
import { utf8 } from '../src/libraries/base/bytes.ts'
import { systemClock } from '../src/libraries/base/clock.ts'
import { type Hash, sha3Hash } from '../src/libraries/base/ids/identifiers.ts'
import { silentLogger } from '../src/libraries/base/logger.ts'
import { blockEntryBytes, noRoot } from '../src/libraries/ledger/entry.ts'
import { judgeProof } from '../src/libraries/ledger/judge-proof.ts'
import { type TileFile, TiledTree } from '../src/libraries/ledger/tiled-tree.ts'
import { entryBundle, fullTileWidth } from '../src/libraries/ledger/tiles.ts'
import { tlogProofText } from '../src/libraries/ledger/tlog-proof.ts'
import { leafHash } from '../src/libraries/ledger/tree.ts'
import { nodeKeyFromSeed } from '../src/libraries/proof/sign.ts'
import { runJob } from '../src/node/machine/work/jobs.ts'
import { openDirectoryStore } from '../src/node/store/directory/directory-store.ts'
import { ledgerStateKey } from '../src/node/store/layout.ts'
import type { ObjectStore } from '../src/node/store/object-store.ts'
import { makeDataDir } from './machine.ts'
import { type Measure, median, quantile } from './measure.ts'

const option = '--ledger-entries='
const entries = Number(process.argv.find((arg) => arg.startsWith(option))?.slice(option.length) ?? 10_000_000)
const dataset = `did:odf:fed01${'1'.repeat(64)}`
const ownEvery = 100
const origin = 'data.example/ledger'
const signer = nodeKeyFromSeed(new Uint8Array(32).fill(7))
const policy = policyOf(ledgerVerifierKey(origin, signer))
const bundlesAtOnce = 64
const proofs = 500

export async function measureLedgerProofs(): Promise<Measure[]> {
  const data = makeDataDir()
  try {
    const store = await openDirectoryStore(data)
    await makeLedger(store, data)
    return await measureProofs(store)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

async function measureProofs(store: ObjectStore): Promise<Measure[]> {
  const keys: string[] = []
  const counted: ObjectStore = {
    ...store,
    get: async (key) => {
      keys.push(key)
      return await store.get(key)
    },
  }
  const answers = new Answers({
    store: counted,
    clock: systemClock,
    tree: async () => await newestTree(counted, undefined),
    records: new BlockRecords({
      store,
      work: { run: (kind, pieces, { settings }) => runJob(kind, pieces, settings) },
    }),
    delayMs: 1_000,
    waitMs: 0,
    status: () => undefined,
  })
  const times: number[] = []
  const ofLevel: number[] = []
  for (let i = 0; i < proofs; i++) {
    // Anywhere in the ledger, one far from the other.
    const sequence = Math.floor(((i * 0.618034) % 1) * (entries / ownEvery))
    keys.length = 0
    times.push(await proveOne(answers, sequence))
    const levels = keys.flatMap((key) => /\/tile\/(\w+)\//.exec(key)?.[1] ?? [])
    // The first finds the newest state of the ledger, too.
    if (i > 0) ofLevel.push(Math.max(...levels.map((level) => levels.filter((one) => one === level).length)))
  }
  const [firstMs = Number.NaN, ...laterMs] = times
  const name = `proof out of ${entries.toLocaleString('en')} entries`
  return [
    { name: `first ${name}`, value: firstMs, unit: 'ms' },
    { name: `next ${name}`, value: median(laterMs), unit: 'ms', bar: { most: 5 } },
    { name: 'the same: p99', value: quantile(laterMs, 0.99), unit: 'ms' },
    { name: 'tiles of one level that a proof reads', value: Math.max(...ofLevel), unit: 'tiles', bar: { most: 2 } },
  ]
}

/** Milliseconds that the proof of a block took. */
async function proveOne(answers: Answers, sequence: number): Promise<number> {
  const name = { id: dataset, alias: 'acme/one', log: 'log', partition: 0, visibility: 'public' } as const
  const block = { sequence, hash: hashOf(sequence), systemTime: '2026-01-01T00:00:00.000Z' }
  const startMs = performance.now()
  const proven = await answers.prove(name, block, blockShown(block))
  const ms = performance.now() - startMs
  if (proven.kind !== 'proven') throw new Error(`block ${sequence} is not proven`)
  const judged = judgeProof(must(tlogProofText(proven.proof), 'a proof has a text'), policy)
  if (judged.verdict !== 'included') throw new Error(`the proof of block ${sequence} is ${judged.verdict}`)
  return ms
}

/** What a keeper leaves in the store of so many entries, but for the batches. */
async function makeLedger(store: ObjectStore, dir: string): Promise<void> {
  const key = await new LedgerKeys(store).of(dataset)
  const tree = new TiledTree()
  // Nothing of it has to outlive the machine.
  const put: ObjectStore['put'] = async (name, bytes) => {
    await mkdir(dirname(join(dir, name)), { recursive: true })
    await writeFile(join(dir, name), bytes)
    return 'stored'
  }
  const files = new TreeFiles({ ...store, put }, 1)
  for (const growth of growths(tree, key)) {
    files.add(growth)
    await files.storeFull()
  }
  await files.storeAll()
  const head = { size: tree.size, root: tree.root() }
  const sequence = Math.ceil(entries / ownEvery)
  const open = sequence % placesPerGroup
  const places = Array.from({ length: open }, (_, i) => (sequence - open + i) * ownEvery)
  const next = [{ tag: key.tag, sequence, places }]
  await store.put(
    ledgerStateKey(1, 1),
    stateCodec.encode({ tree: storedTree(head), statements: [{ hash: '0'.repeat(64), index: 0 }], next }),
  )
  await claimOrigin(store, 1, { origin, key: ledgerVerifierKey(origin, signer) })
  const of = { store, clock: systemClock, logger: silentLogger, ledger: 1, origin, signer, policy, waitMs: 0 }
  await new Publisher(of).offer(head)
}

/** The tiles, bundles and places of some entries after others. */
function* growths(tree: TiledTree, key: Tagger): Generator<Growth> {
  const stranger = new Uint8Array(blockEntryBytes).fill(1)
  const numbered = new DataView(stranger.buffer)
  let [bundles, places]: [TileFile[], PlaceGroup[]] = [[], []]
  let indexes: number[] = []
  for (let index = 0; index * fullTileWidth < entries; index++) {
    const start = index * fullTileWidth
    const bundle = Array.from({ length: Math.min(fullTileWidth, entries - start) }, (_, at) => {
      numbered.setFloat64(1, start + at)
      const sequence = (start + at) / ownEvery
      if (!Number.isInteger(sequence)) return stranger.slice()
      if (indexes.push(start + at) === placesPerGroup) {
        places.push({ tag: key.tag, group: Math.floor(sequence / placesPerGroup), indexes })
        indexes = []
      }
      return key.entryOf({ sequence, hash: hashOf(sequence), batchRoot: noRoot, rowRoot: noRoot })
    })
    for (const entry of bundle) tree.append(leafHash(entry))
    bundles.push({ tile: { level: 'entries', index, width: bundle.length }, bytes: entryBundle(bundle) })
    if (bundles.length < bundlesAtOnce) continue
    yield { tiles: [...bundles, ...tree.takeTiles()], places }
    bundles = []
    places = []
  }
  yield { tiles: [...bundles, ...tree.takeTiles()], places }
}

function hashOf(sequence: number): Hash {
  return sha3Hash(utf8(`block ${sequence}`))
}
