// Checks the records of logs that were given up for others, and that chains change their log only where one says so.

import type { LeftLog, LogRecord } from '../chain/records.ts'
import { DecodeError } from '../model/errors.ts'
import { adoptionsFrom } from '../store/records.ts'
import { adoptionsPrefix } from '../store/layout.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { ProblemKind } from './report.ts'

/** By log that was given up: the logs that took over, in order. */
export type Successors = ReadonlyMap<string, readonly string[]>

/** Reads all records; what is wrong with one is added as a problem. */
export async function readSuccessors(
  store: ObjectStore,
  logs: ReadonlyMap<string, LogRecord>,
  add: (kind: ProblemKind, message: string) => void,
): Promise<Successors> {
  const successors = new Map<string, readonly string[]>()
  for (const log of await store.list(adoptionsPrefix)) {
    try {
      const records = await adoptionsFrom(store, log)
      successors.set(
        log,
        records.map((record) => record.new),
      )
      const [own] = records
      if (own === undefined) continue
      for (const [id, count] of [
        [own.old, own.partitions.length],
        [own.new, own.begin.length],
      ] as const) {
        const declared = logs.get(id)?.partitions
        if (declared === undefined) add('RecordDisagrees', `log ${log} was given up, but log ${id} is not declared`)
        else if (declared !== count) {
          add('RecordDisagrees', `log ${log} was given up with ${count} partitions of log ${id}, which has ${declared}`)
        }
      }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      add('Malformed', `the record of log ${log}, which was given up: ${error.message}`)
    }
  }
  return successors
}

/** Why a chain may not go from log `from` to log `to`, or undefined when it may. */
export function changeFault(successors: Successors, from: string, to: string): string | undefined {
  if (from === to || successors.get(from)?.includes(to) === true) return undefined
  return `it goes from log ${from} to log ${to}, which has not taken over`
}

/** Why a block of log `to` may not say that its chain has left the logs `adopted`, having been in `from` before. */
export function leftFault(
  successors: Successors,
  change: { readonly from: string; readonly to: string; readonly adopted: readonly LeftLog[] },
): string | undefined {
  const { from, to, adopted } = change
  const later = successors.get(from) ?? []
  const left = from === to ? [] : [from, ...later.slice(0, later.indexOf(to))]
  const said = adopted.map(({ log }) => log)
  if (said.length === left.length && said.every((log, i) => log === left[i])) return undefined
  return `it says that its chain has left ${said.join(', ') || 'no log'}, not ${left.join(', ') || 'none'}`
}
