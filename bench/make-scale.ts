// Makes a data directory with one dataset of very many rows in large blocks, by the codecs: a row a second, each of one of
// seventeen cities, a block of 500,000 rows. The log has been read to its end.

import { sha3Hash } from '../src/libraries/base/ids/identifiers.ts'
import { utf8 } from '../src/libraries/base/bytes.ts'
import { systemClock } from '../src/libraries/base/clock.ts'
import { silentLogger } from '../src/libraries/base/logger.ts'
import { openFileLog } from '../src/node/log/file/file-log.ts'
import { openStore } from '../src/app/open-storage.ts'
import { dataKey, dataPaths, headKey, packableOf } from '../src/node/store/layout.ts'
import { putLog, putLowWaterMark } from '../src/node/store/records.ts'
import { chainObjects, nameObject } from '../test/helpers/long-chain.ts'
import { type SmallSlice, smallSlice } from '../test/helpers/small-slice.ts'

export const rowsPerBlock = 500_000
const dataset = `did:odf:fed01${'3'.repeat(64)}`
const partition = 0
/** Stands for each message that was read: foreign bytes, which say nothing. */
const message = utf8('m')

/** Makes `blocks` blocks of the dataset `alias`. The directory must be new. */
export async function makeScale(data: string, alias: string, blocks: number): Promise<void> {
  const paths = dataPaths(data)
  const log = await openFileLog({ directory: paths.log, clock: systemClock, logger: silentLogger })
  // The creation is a message, and so is what each block was made of.
  const position = blocks + 1
  await log.append(
    partition,
    Array.from({ length: position }, () => message),
  )
  await log.close()
  const store = await openStore(paths.store, 'write')
  const made: SmallSlice[] = []
  const sliceOf = (number: number): SmallSlice['about'] => {
    const slice = smallSlice(number, rowsPerBlock)
    made.push(slice)
    return slice.about
  }
  let head = ''
  const spec = { dataset, log: log.id, anchor: sha3Hash(message), blocks, sliceOf }
  for (const { key, bytes } of chainObjects({ ...spec, atMs: (number) => (number + 1) * rowsPerBlock * 1000 })) {
    for (const slice of made.splice(0)) await store.put(dataKey(dataset, slice.about.physicalHash), slice.bytes)
    const asked = packableOf(key)
    if (asked?.kind === 'blocks') head = asked.hash
    await store.put(key, bytes)
  }
  const name = nameObject(dataset, alias, log.id)
  await store.put(name.key, name.bytes)
  await store.replace(headKey(dataset), utf8(head))
  await putLog(store, { id: log.id, kind: log.kind, partitions: log.partitions })
  await putLowWaterMark(store, { log: log.id, partition, position, anchor: sha3Hash(message), halted: [] })
  await store.close()
}
