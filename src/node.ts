// The composition root of a node: names the adapters of store, roles and server and opens them in one process.

import { readdir, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { TokenRegistry } from './access/tokens.ts'
import type { Builder, BuilderStatus } from './builder/builder.ts'
import { Catalog } from './catalog/catalog.ts'
import { ObjectCheck, Objects } from './catalog/objects.ts'
import type { Config } from './config.ts'
import { lockDirectory } from './disk/directory-lock.ts'
import { nodeFileSystem } from './disk/files.ts'
import { type Engine, openEngine } from './engine/engine.ts'
import { ensureAdminToken, ensureNodeKey, makeNodeDirectories } from './first-start.ts'
import type { Gateway } from './gateway/gateway.ts'
import type { LogWatch } from './gateway/log-watch.ts'
import { createServer } from './http/server.ts'
import { sha3256 } from './ids/native-crypto.ts'
import { must } from './lib/assert.ts'
import { toHex } from './lib/bytes.ts'
import { systemClock } from './lib/clock.ts'
import type { Limits } from './lib/limits.ts'
import type { Logger } from './lib/logger.ts'
import type { Announcements } from './log/announcements.ts'
import type { EventLog } from './log/event-log.ts'
import type { PartitionShare } from './log/partitions.ts'
import type { Role } from './model/names.ts'
import { type OpenedLog, openLog } from './open-storage.ts'
import { createLogger } from './ops/create-logger.ts'
import { Health, SpaceWatch } from './ops/health.ts'
import { measureCatalog, measureEngine, Metrics } from './ops/metrics.ts'
import { packageVersion } from './ops/package-version.ts'
import { openBuilder, openGateway, openLogWatch, type Shared } from './roles.ts'
import { openDirectoryStore, openReadOnlyDirectoryStore } from './store/directory/directory-store.ts'
import { type DataPaths, dataPaths, logsPrefix } from './store/layout.ts'
import { listSigners, putSigner, sharedSecret } from './store/records.ts'
import { ThreadPool, type ThreadPoolOptions } from './work/thread-pool.ts'

export interface RunningNode {
  /** `http://host:port`. */
  readonly url: string
  readonly did: string
  readonly version: string
  readonly roles: readonly Role[]
  readonly dataDir: string
  /** Where the first admin token is, if this is a gateway. */
  readonly tokenFile: string
  /** `none` where no log is opened. */
  readonly logKind: string
  readonly anonymousRead: boolean
  /** Resolves when the node stopped by itself because it cannot go on; the error says why. */
  readonly failed: Promise<unknown>
  /** Refuses new work, finishes what is under way, closes everything. */
  stop(): Promise<void>
}

/** Starts a node; it is ready when this resolves. Throws NodeError, HaltError and what the file system throws. */
export async function startNode(config: Config, logger: Logger = createLogger(config.logLevel)): Promise<RunningNode> {
  const paths = dataPaths(config.dataDir, config.storeDir)
  await makeNodeDirectories([config.dataDir, paths.keys, paths.cache])
  const failure = createFailure()
  const opened: (() => Promise<void>)[] = []
  // The log is opened first; until the builder runs, nothing is known to be open.
  let running: Builder | undefined
  const openBytes = (): number => running?.openBytes() ?? 0
  try {
    const opening = await openLog({ config, paths, logger, fail: failure.fail, openBytes }, opened)
    await emptyCache(paths.cache, opened)
    const shared = await openShared(config, { paths, logger, opened, fail: failure.fail, ...opening })
    const parts: Parts = { ...shared, ...opening, paths }
    const builder = has(config, 'builder')
      ? await openBuilder(shared, {
          log: logOf(parts),
          compressor,
          share: await shareOf(parts),
          notesDir: paths.builds,
        })
      : undefined
    running = builder
    return await serve({ ...parts, builder, watch: watchOf(parts) }, failure.failed)
  } catch (error) {
    await closeAll(opened)
    throw error
  }
}

export const compressor = {
  name: `zstd ${process.versions['zstd'] ?? 'unknown'}`,
  compress: (bytes: Uint8Array) => zstdCompressSync(bytes),
  decompress: (bytes: Uint8Array) => zstdDecompressSync(bytes),
}

function has({ roles }: Config, role: Role): boolean {
  return roles.includes(role)
}

interface ToShare {
  readonly paths: DataPaths
  readonly logger: Logger
  readonly opened: (() => Promise<void>)[]
  readonly fail: (error: unknown) => void
  readonly announcements: Announcements
}

/** Opens store and catalog. A replica alone never writes to the store. */
async function openShared(config: Config, needs: ToShare): Promise<Shared> {
  const { paths, logger, opened, announcements } = needs
  const isReader = !has(config, 'gateway') && !has(config, 'builder')
  const store = isReader
    ? await openReadOnlyDirectoryStore(paths.store)
    : await openDirectoryStore(paths.store, undefined, needs.fail)
  opened.push(() => store.close())
  // Only the commits of a file log are all made and announced in this process.
  const hearsAll = config.kafka === undefined && has(config, 'builder')
  const clock = hearsAll ? undefined : systemClock
  const catalog = new Catalog({ store, announcements, logger, clock, bytesMost: config.limits.catalogBytes })
  opened.push(async () => catalog.close())
  const metrics = new Metrics()
  measureCatalog(metrics, catalog, () => systemClock.nowMs())
  return { config, clock: systemClock, logger, store, announcements, catalog, metrics, opened }
}

interface Parts extends Shared, OpenedLog {
  readonly paths: DataPaths
}

interface Running extends Parts {
  readonly builder: Builder | undefined
  /** Of a gateway whose log deletes what is old. */
  readonly watch: LogWatch | undefined
}

function watchOf(parts: Parts): LogWatch | undefined {
  const { aging, config } = parts
  return aging === undefined || !has(config, 'gateway') ? undefined : openLogWatch(parts, aging)
}

function logOf({ log }: OpenedLog): EventLog {
  return must(log, 'gateways and builders have a log')
}

/** Builders of one store share its partitions; those of another store that read the same topic have their own group. */
async function shareOf({ share, store }: Parts): Promise<PartitionShare | undefined> {
  return share?.(toHex(sha3256(await sharedSecret(store, 'builders')).subarray(0, 8)))
}

/** Opens gateway and replica, if the process has these roles, and the server. */
async function serve(parts: Running, failed: Promise<unknown>): Promise<RunningNode> {
  const { config, logger, paths, log, store, catalog, opened } = parts
  const nodeKey = await ensureNodeKey(config.nodeKeyFile ?? paths.nodeKey, logger)
  const tokens = new TokenRegistry({ store, clock: systemClock, logger, anonymousRead: config.anonymousRead })
  const gateway = has(config, 'gateway') ? await serveGateway(parts, tokens) : undefined
  const engine = has(config, 'replica') ? await openEngine(engineOptions(parts)) : undefined
  if (engine !== undefined) opened.push(() => engine.close())
  const work = new ThreadPool(workOptions(config.limits))
  opened.push(() => work.close())
  const check = new ObjectCheck(store)
  // Whoever has the role alone reads a store that is open for reading only.
  if (engine !== undefined && config.roles.length > 1) await putSigner(store, nodeKey.did)
  const app = await createServer({
    ...config,
    signers: () => listSigners(store),
    facts: {
      did: nodeKey.did,
      version: packageVersion(),
      roles: config.roles,
      log: log === undefined ? undefined : { kind: log.kind, id: log.id, partitions: log.partitions, ...parts.facts },
    },
    gateway,
    replica: engine === undefined ? undefined : { check, engine, nodeKey, catalog, store, limits: config.limits },
    catalog,
    store,
    objects: new Objects(store, check),
    tokens,
    health: createHealth(parts, engine, openSpaceWatch(parts)),
    metrics: measured(parts, engine),
    clock: systemClock,
    work,
    logger,
  })
  const port = await app.listen(config.listenHost, config.listenPort)
  opened.push(async () => {
    gateway?.drain()
    await app.close()
  })
  if (!config.loopbackOnly) logger.warn({}, 'This node speaks plain HTTP to the network: put it behind TLS')
  return {
    url: `http://${config.listenHost.includes(':') ? `[${config.listenHost}]` : config.listenHost}:${port}`,
    did: nodeKey.did,
    version: packageVersion(),
    roles: config.roles,
    dataDir: config.dataDir,
    tokenFile: paths.token,
    logKind: [log?.kind ?? 'none', parts.facts.caution ?? []].flat().join('; '),
    anonymousRead: config.anonymousRead,
    failed,
    stop: () => closeAll(opened),
  }
}

/** Opens the gateway, with what the first one puts into the store. */
async function serveGateway(parts: Running, tokens: TokenRegistry): Promise<Gateway> {
  const { paths, store, share, logger } = parts
  await ensureAdminToken(tokens, paths.token, logger)
  const receiptSecret = await sharedSecret(store, 'receipts')
  const hasOtherBuilders = share !== undefined
  const own = { log: logOf(parts), hasOtherBuilders, spoolDir: paths.cache, receiptSecret }
  return openGateway(parts, { ...parts, ...own })
}

/** Watches the volumes of a process that writes. */
function openSpaceWatch({ log, store, builder, paths, opened, ...shared }: Running): SpaceWatch | undefined {
  if (log === undefined) return undefined
  const logVolume = { name: 'log', freeSpace: () => nodeFileSystem.freeSpace(paths.log) }
  const volumes = [...(log.kind === 'file' ? [logVolume] : []), { name: 'store', freeSpace: () => store.freeSpace() }]
  const space = new SpaceWatch({ ...shared, volumes, openBytes: () => builder?.openBytes() ?? 0 })
  opened.push(async () => space.close())
  return space
}

/** What each role must have to be ready. */
function createHealth(parts: Running, engine: Engine | undefined, space: SpaceWatch | undefined): Health {
  const { builder, store, log, share, watch } = parts
  const health = new Health()
  if (builder !== undefined) {
    if (share !== undefined) health.tell('partitions', () => builder.status().partitions.map(partitionFact))
    health.add('builder', () => {
      const { ready, halted } = builder.status()
      // A halted dataset stops no other.
      const halt = halted.find(({ dataset }) => dataset === undefined)
      if (ready) return undefined
      return halt === undefined ? 'the builder is catching up' : `${halt.reason}: ${halt.what}`
    })
  }
  if (log !== undefined) health.add('log', parts.logFault)
  if (space !== undefined) health.add('space', () => space.reason())
  if (watch !== undefined) health.add('retention', () => watch.fault())
  if (engine !== undefined) health.add('engine', () => engine.fault())
  if (engine !== undefined && log === undefined) {
    health.add('store', async () =>
      (await store.list(logsPrefix)).length > 0 ? undefined : 'nothing has been written to the store yet',
    )
  }
  return health
}

function partitionFact({ partition, floor, lag }: BuilderStatus['partitions'][number]): object {
  return { partition, floor, lag: lag ?? null }
}

/** The metrics of the process, with what is not of one role alone. */
function measured({ metrics, announcements, builder, watch }: Running, engine: Engine | undefined): Metrics {
  if (engine !== undefined) measureEngine(metrics, () => engine.load())
  announcements.subscribe(() => metrics.commits.inc())
  if (watch !== undefined) metrics.watchOpenAges(() => watch.openAges())
  if (builder !== undefined) metrics.watchLag(() => builder.status().partitions)
  return metrics
}

function engineOptions({ config, paths, logger, catalog }: Running): Parameters<typeof openEngine>[0] {
  const { limits, anonymousRead } = config
  return {
    processes: limits.concurrentQueries === 0 ? availableParallelism() : limits.concurrentQueries,
    queryMs: limits.queryMs,
    memoryBytes: limits.queryMemoryBytes,
    resultBytes: limits.resultBytes,
    queueLimit: limits.queuedQueries,
    callerSharePercent: limits.callerQueryShare,
    isOpen: (dataset) => anonymousRead && catalog.heldName(dataset)?.visibility === 'public',
    dataRoots: [paths.store],
    logger,
    clock: systemClock,
  }
}

/** Threads that read large requests: few, since each may need the memory of the largest one. */
function workOptions({ verifyBytes, jsonValues, openJsonRequests }: Limits): ThreadPoolOptions {
  const mebibyte = 1024 * 1024
  // Text of one or two bytes a character, and what a value takes at most; the rest of a thread is small.
  const heapMiB = 128 + Math.ceil((3 * verifyBytes + 256 * jsonValues) / mebibyte)
  return { threads: Math.min(4, availableParallelism()), queueLimit: openJsonRequests, heapMiB }
}

/** Closes in reverse order of opening, each once. */
async function closeAll(opened: (() => Promise<void>)[]): Promise<void> {
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close()
}

function createFailure(): { failed: Promise<unknown>; fail: (error: unknown) => void } {
  let fail: (error: unknown) => void = () => {}
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve
  })
  return { failed, fail: (error) => fail(error) }
}

/** What lies in cache/ is derived: spools of a process that died are of no use. Its lock keeps those of another. */
async function emptyCache(dir: string, opened: (() => Promise<void>)[]): Promise<void> {
  const unlock = lockDirectory(dir, 'cache')
  opened.push(async () => unlock())
  for (const name of await readdir(dir)) {
    if (!/^(?:lock|owner)/.test(name)) await rm(join(dir, name), { recursive: true, force: true })
  }
}
