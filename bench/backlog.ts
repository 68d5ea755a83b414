// Datasets with long histories, for benchmarks: rows and cuts are logged alternately, and a builder makes blocks of them
// as fast as it can, before any node looks at the directory.

import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../src/libraries/base/clock.ts'
import { silentLogger } from '../src/libraries/base/logger.ts'
import { openFileLog } from '../src/node/log/file/file-log.ts'
import type { Field } from '../src/libraries/model/schema.ts'
import { openDirectoryStore } from '../src/node/store/directory/directory-store.ts'
import { dataPaths } from '../src/node/store/layout.ts'
import {
  type BatchSpec,
  datasetId,
  noCuts,
  schemaOf,
  start,
  TestWriter,
  userFields,
} from '../test/node/builder/support.ts'

export interface Backlog {
  readonly alias: string
  readonly blocks: number
  /** Batches of block `number`; one row by default. */
  readonly batches?: (number: number) => readonly BatchSpec[]
  /** Columns; city and n by default. */
  readonly fields?: readonly Field[]
}

const messagesAtOnce = 200

/** Makes the datasets in the data directory. */
export async function buildBacklog(data: string, backlogs: readonly Backlog[]): Promise<void> {
  const paths = dataPaths(data)
  const log = await openFileLog({ directory: paths.log, clock: systemClock, logger: silentLogger })
  const store = await openDirectoryStore(paths.store)
  const running = await start(log, store, { options: noCuts })
  let logged = 0
  for (const { alias, blocks, batches = () => [{ rows: 1 }], fields = userFields } of backlogs) {
    const dataset = datasetId(alias)
    const writer = new TestWriter(alias)
    const messages = [writer.create(dataset, alias, { schema: schemaOf(fields) })]
    for (let number = 0; number < blocks; number++) {
      messages.push(writer.rows(dataset, batches(number), { fields }), writer.cut([{ dataset, sequence: 3 + number }]))
    }
    for (let at = 0; at < messages.length; at += messagesAtOnce) {
      await log.append(0, messages.slice(at, at + messagesAtOnce))
    }
    logged += messages.length
  }
  for (;;) {
    const [partition] = running.builder.status().partitions
    if ((partition?.position ?? 0) >= logged && partition?.waitingPlans === 0) break
    await sleep(20)
  }
  await running.builder.stop()
  await store.close()
  await log.close()
}
