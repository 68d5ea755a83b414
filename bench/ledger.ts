// The ledger: how fast a store with a history is taken in (`--blocks=50000` of one dataset, of a release without hashes of
// bodies), and how fast the place of a block is found afterwards.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Keeper } from '../src/features/ledger/keeper.ts'
import { Places } from '../src/features/ledger/stored-ledger.ts'
import { systemClock } from '../src/libraries/base/clock.ts'
import { silentLogger } from '../src/libraries/base/logger.ts'
import { nodeKeyFromSeed } from '../src/libraries/proof/sign.ts'
import { openDirectoryStore } from '../src/node/store/directory/directory-store.ts'
import { keeperParts } from '../test/helpers/keeper-parts.ts'
import { chainObjects, nameObject } from '../test/helpers/long-chain.ts'
import { measureLedgerProofs } from './ledger-proof.ts'
import { makeDataDir } from './machine.ts'
import { type Measure, timeMs } from './measure.ts'

const blocks = Number(process.argv.find((arg) => arg.startsWith('--blocks='))?.slice('--blocks='.length) ?? 50_000)
const dataset = `did:odf:fed01${'1'.repeat(64)}`
const origin = 'data.example/ledger'
/** Half a million in a minute. */
const leastPerSecond = 500_000 / 60

export async function measureLedger(): Promise<Measure[]> {
  const data = makeDataDir()
  try {
    return [...(await measureHistory(join(data, 'store'))), ...(await measureLedgerProofs())]
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

/** A store is made in `dir` and taken in. */
async function measureHistory(dir: string): Promise<Measure[]> {
  for (const { key, bytes } of [...chainObjects({ dataset, blocks }), nameObject(dataset, 'acme/long')]) {
    await mkdir(dirname(join(dir, key)), { recursive: true })
    await writeFile(join(dir, key), bytes)
  }
  const store = await openDirectoryStore(dir)
  const { catalog, keys, waiting, left } = keeperParts(store)
  const keeper = new Keeper({
    store,
    clock: systemClock,
    logger: silentLogger,
    ledger: 1,
    origin,
    waiting,
    left,
    signer: nodeKeyFromSeed(new Uint8Array(32).fill(7)),
    facts: { ledger: { origin, keys: ['key'] }, version: '1', engines: [] },
    nodeKey: nodeKeyFromSeed(new Uint8Array(32).fill(8)),
  })
  const readMs = await timeMs(() => catalog.byId(dataset))
  const takenMs = await timeMs(() => keeper.step())
  const { tag } = await keys.of(dataset)
  const places = new Places(store, 1)
  const firstMs = await timeMs(() => places.indexOf(tag, 7))
  const nextMs =
    (await timeMs(async () => {
      for (let i = 0; i < 100; i++) await places.indexOf(tag, i * Math.floor(blocks / 100))
    })) / 100
  const perSecond = (blocks / takenMs) * 1000
  return [
    { name: 'chain read before it is taken in', value: readMs, unit: 'ms' },
    { name: 'blocks of old taken into the ledger', value: perSecond, unit: 'blocks/s', bar: { least: leastPerSecond } },
    { name: 'first place of an entry found', value: firstMs, unit: 'ms' },
    { name: 'next place of an entry found', value: nextMs, unit: 'ms', bar: { most: 5 } },
  ]
}
