// Checks what operators have rejected: records that can be read, of messages that a log can hold.

import type { LogRecord } from '../chain/records.ts'
import { numberOfName, rejectsRoot } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { readRejects } from '../store/records.ts'
import type { ProblemKind } from './report.ts'

/** Reads all rejections; what is wrong with one is added as a problem. A creation that was rejected left no dataset. */
export async function checkRejects(
  store: ObjectStore,
  logs: ReadonlyMap<string, LogRecord>,
  add: (kind: ProblemKind, message: string) => void,
): Promise<void> {
  for (const log of await store.list(rejectsRoot)) {
    const partitions = logs.get(log)?.partitions
    if (partitions === undefined) add('RecordDisagrees', `messages of log ${log} are rejected, which is not declared`)
    for (const name of await store.list(`${rejectsRoot}/${log}`)) {
      const partition = numberOfName(name)
      if (partition === undefined || (partitions !== undefined && partition >= partitions)) {
        add('UnknownObject', `${rejectsRoot}/${log}/${name} is no partition of the log`)
        continue
      }
      for (const position of await store.list(`${rejectsRoot}/${log}/${name}`)) {
        if (numberOfName(position) !== undefined) continue
        add('UnknownObject', `${rejectsRoot}/${log}/${name}/${position} is no position of a log`)
      }
      await readRejects(store, { log, partition }, (position, error) =>
        add('Malformed', `the rejection of message ${position} of ${log}/${partition}: ${error.message}`),
      )
    }
  }
}
