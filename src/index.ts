// Public interface of the package: run a node inside another program, check a stored one. Light to load: the node and
// the checker come in when they are called. Proofs are checked through the sub-path `proofstream/verify`.

import { loadConfig } from './app/config.ts'
import type { Config } from './node/config.ts'
import type { FsckOptions } from './node/upkeep/fsck.ts'
import type { DatasetReport, StoreReport } from './node/upkeep/report.ts'
import type { Logger } from './libraries/base/logger.ts'
import type { RunningNode } from './app/node.ts'
import { schemeOf } from './node/options.ts'
import type { ObjectStore } from './node/store/object-store.ts'

export { fromPlain, jsonText, parseJson, toPlain } from './libraries/base/json/json.ts'
export type { PlainJson } from './libraries/base/json/json.ts'
export { addressText, hasSigned } from './libraries/proof/possession.ts'
export { loadConfig, optionTable, packageVersion, readOptions, variableOf } from './app/config.ts'
export { refuseIdleOptions } from './app/idle-options.ts'
export type { ClientEnvironment, ReadOption } from './app/config.ts'
export type { Config } from './node/config.ts'
export type { OptionRow, OptionValue } from './node/options.ts'
export { systemClock } from './libraries/base/clock.ts'
export type { Clock } from './libraries/base/clock.ts'
export { silentLogger } from './libraries/base/logger.ts'
export type { Logger } from './libraries/base/logger.ts'
export { DecodeError, HaltError, NodeError } from './libraries/base/errors.ts'
export { JsonNumber } from './libraries/base/json/value.ts'
export type { JsonObject, JsonValue } from './libraries/base/json/value.ts'
export type { RunningNode } from './app/node.ts'
export type { CopyProgress, CopyReport } from './node/store/copy-store.ts'
export type { FsckOptions } from './node/upkeep/fsck.ts'
export type { DatasetReport, FsckProgress, Problem, StoreReport } from './node/upkeep/report.ts'

/**
 * Starts a node; it is ready when this resolves. Without a logger it writes JSON lines to stderr. Throws NodeError,
 * HaltError and what the file system throws.
 */
export async function startNode(config: Config, logger?: Logger): Promise<RunningNode> {
  const node = await import('./app/node.ts')
  return node.startNode(config, logger)
}

/**
 * Checks all that a store, or the store of a data directory, holds: every chain from seed to head, every slice, name
 * and floor. Reads only, also beside a running node. Throws NodeError `ObjectNotFound` where there is no store.
 */
export async function checkStore(dataDir: string, options: FsckOptions = {}): Promise<StoreReport> {
  const [{ fsck }, { storeChecks }, store] = await Promise.all([
    import('./node/upkeep/fsck.ts'),
    import('./app/features.ts'),
    openStoreOf(dataDir, 'read'),
  ])
  try {
    return await fsck(store, { checks: storeChecks, ...options })
  } finally {
    await store.close()
  }
}

/**
 * Removes what creations left that no name leads to, that holds no rows and is a day old by `nowMs`, from the store that
 * `report` is of; nothing where it tells of a problem. Returns what it removed. Throws what the file system throws.
 */
export async function sweepStore(
  dataDir: string,
  report: StoreReport,
  nowMs: number,
): Promise<readonly DatasetReport[]> {
  const [{ sweepable, sweep }, store] = await Promise.all([
    import('./node/upkeep/sweep.ts'),
    openStoreOf(dataDir, 'write'),
  ])
  try {
    const swept = await sweepable(store, report, nowMs)
    for (const { id } of swept) await sweep(store, id)
    return swept
  } finally {
    await store.close()
  }
}

/** Opens the store that `place` names, a bucket with the options that the environment has for it. */
async function openStoreOf(place: string, use: 'read' | 'write'): Promise<ObjectStore> {
  const { openStore, openStoreThatIs, optionsOfStore } = await import('./app/open-storage.ts')
  if (schemeOf(place) !== undefined) return openStoreThatIs(loadConfig({ store: place }), use)
  return openStore((await optionsOfStore(place)).store, use)
}
