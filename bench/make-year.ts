// Makes a data directory with a stream of a row a second that has gone on for long, a block of 60 rows a minute, as a builder
// leaves it that packs and sweeps: by the codecs, straight into packs, in minutes where a builder would take hours. Of the last
// day nothing is packed, which a builder does as soon as it looks.

import { packLevelMost, spanOf } from '../src/libraries/odf/chain/pack-span.ts'
import { endOfPack, type PackStart } from '../src/libraries/odf/chain/pack-summary.ts'
import { packCodec } from '../src/libraries/odf/chain/records.ts'
import { sha3Hash } from '../src/libraries/base/ids/identifiers.ts'
import { must } from '../src/libraries/base/assert.ts'
import { utf8 } from '../src/libraries/base/bytes.ts'
import { systemClock } from '../src/libraries/base/clock.ts'
import { silentLogger } from '../src/libraries/base/logger.ts'
import { openFileLog } from '../src/node/log/file/file-log.ts'
import type { AddData } from '../src/libraries/model/events.ts'
import { openStore } from '../src/app/open-storage.ts'
import { dataKey, dataPaths, headKey, packableOf, packFileKey, packKey } from '../src/node/store/layout.ts'
import type { ObjectStore } from '../src/node/store/object-store.ts'
import { listPacks, PackReader } from '../src/node/store/packs.ts'
import { putLog, putLowWaterMark } from '../src/node/store/records.ts'
import { markSwept } from '../src/node/store/sweep.ts'
import { packFile } from '../src/node/store/write-pack.ts'
import { openMemoryStore } from '../test/adapters/memory-store.ts'
import { chainObjects, nameObject } from '../test/helpers/long-chain.ts'
import { smallSlice } from '../test/helpers/small-slice.ts'

export const yearDataset = `did:odf:fed01${'1'.repeat(64)}`
export const rowsPerBlock = 60
const creationBlocks = 3
const blockEveryMs = 60_000
const blocksLoose = 24 * 60
const partition = 0
/** Stands for each message that was read: foreign bytes, which say nothing. */
const message = utf8('m')
const messagesAtOnce = 10_000

/** Makes `blocks` blocks of the dataset `alias`, and a log that has been read to its end. The directory must be new. */
export async function makeYear(data: string, alias: string, blocks: number): Promise<void> {
  const paths = dataPaths(data)
  const log = await openFileLog({ directory: paths.log, clock: systemClock, logger: silentLogger })
  // The creation is a message, and so is what each block was made of.
  const position = blocks + 1
  for (let at = 0; at < position; at += messagesAtOnce) {
    await log.append(
      partition,
      Array.from({ length: Math.min(messagesAtOnce, position - at) }, () => message),
    )
  }
  await log.close()
  const store = await openStore(paths.store, 'write')
  await putPacked(store, { log: log.id, alias, blocks })
  await putLog(store, { id: log.id, kind: log.kind, partitions: log.partitions })
  await putLowWaterMark(store, { log: log.id, partition, position, anchor: sha3Hash(message), halted: [] })
  await markSwept(store)
  await store.close()
}

/** Packs are made at once as those that repacking leads to: a pack is the same whoever makes it, and from what. */
async function putPacked(
  store: ObjectStore,
  { log, alias, blocks }: { readonly log: string; readonly alias: string; readonly blocks: number },
): Promise<void> {
  let start: PackStart = { sequence: 0, offset: 0 }
  let range = nextRange(0, blocks)
  let held = openMemoryStore()
  let waiting: { readonly key: string; readonly bytes: Uint8Array }[] = []
  let [head, sequence] = ['', 0]
  const slices: { readonly key: string; readonly bytes: Uint8Array }[] = []
  const sliceOf = (number: number): NonNullable<AddData['newData']> => {
    const { bytes, about } = smallSlice(number, rowsPerBlock)
    slices.push({ key: dataKey(yearDataset, about.physicalHash), bytes })
    return about
  }
  const spec = { dataset: yearDataset, log, anchor: sha3Hash(message), blocks, sliceOf }
  for (const object of chainObjects({ ...spec, atMs: (number) => (number + 1) * blockEveryMs })) {
    const asked = packableOf(object.key)
    for (const one of [...slices.splice(0), object]) {
      waiting.push(one)
      await held.put(one.key, one.bytes)
    }
    if (asked?.kind === 'blocks') head = asked.hash
    if (asked?.kind === 'commits') sequence = Math.max(asked.sequence + 1, creationBlocks)
    // The creation yields its commit before its blocks.
    if (range === undefined || asked?.kind !== 'commits' || sequence < (range.number + 1) * spanOf(range.level))
      continue
    const file = packFile(held, { id: yearDataset, ...range }, start)
    await store.putStream(file.chunks(), () => packFileKey(yearDataset, file.record().hash))
    await store.put(packKey(yearDataset, range.level, range.number), packCodec.encode(file.record()))
    const pack = must((await listPacks(store, yearDataset)).at(-1), 'the pack that was put')
    start = endOfPack(await new PackReader(store).summary(pack))
    console.error(`pack ${range.level}/${range.number}: ${(file.record().sizeBytes / 2 ** 20).toFixed(1)} MiB`)
    range = nextRange(pack.to, blocks)
    held = openMemoryStore()
    waiting = []
  }
  for (const { key, bytes } of [...waiting, nameObject(yearDataset, alias, log)]) await store.put(key, bytes)
  await store.replace(headKey(yearDataset), utf8(head))
}

/** The largest pack that begins at `from` and is full at the end. */
function nextRange(from: number, blocks: number): { readonly level: number; readonly number: number } | undefined {
  for (let level = packLevelMost; level >= 0; level--) {
    const span = spanOf(level)
    if (from % span === 0 && from + span <= blocks + creationBlocks - blocksLoose) return { level, number: from / span }
  }
  return undefined
}
