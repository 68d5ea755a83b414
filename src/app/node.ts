// The composition root of a node: opens log, store and catalog, the roles that the process has, and the server.

import { availableParallelism } from 'node:os'
import { TokenRegistry } from '../node/access/tokens.ts'
import { SavedQueries } from '../node/catalog/saved-queries.ts'
import type { Builder, BuilderStatus } from '../node/builder/builder.ts'
import { Catalog } from '../node/catalog/catalog.ts'
import { Objects } from '../node/catalog/objects.ts'
import { packageVersion } from './config.ts'
import type { Config } from '../node/config.ts'
import { makeDurableDirectory, nodeFileSystem } from '../node/machine/disk/files.ts'
import type { Engine } from '../node/engine/engine.ts'
import { engineVersion } from '../node/engine/messages.ts'
import { engineAbsent } from '../node/engine/native-engine.ts'
import type { FeatureCode, Origin, Shared } from '../node/feature.ts'
import { loadFeatures, originOf } from './features.ts'
import { formatsBut, outputsBut } from './formats.ts'
import { ensureAdminToken, ensureNodeKey } from './first-start.ts'
import type { Gateway } from '../node/gateway/gateway.ts'
import type { LogWatch } from '../node/gateway/log-watch.ts'
import { answerBeforeStart } from '../node/http/before-start.ts'
import type { NodeFacts } from '../node/http/context.ts'
import { valueBytes } from '../node/http/json-body.ts'
import { createServer } from '../node/http/server.ts'
import { sha3256 } from '../libraries/base/ids/native-crypto.ts'
import { must } from '../libraries/base/assert.ts'
import { toHex } from '../libraries/base/bytes.ts'
import { systemClock } from '../libraries/base/clock.ts'
import type { Limits } from '../libraries/base/limits.ts'
import type { Logger } from '../libraries/base/logger.ts'
import type { EventLog } from '../node/log/event-log.ts'
import type { PartitionAssignment } from '../node/log/partitions.ts'
import type { Role } from '../libraries/model/names.ts'
import type { OpenedLog, Opening } from '../node/driver.ts'
import { closeAll, isCopy, isDirectoryStore, openConfiguredStore, openLog } from './open-storage.ts'
import { Health, SpaceWatch } from '../node/machine/ops/health.ts'
import { collectWhenIdle } from '../node/machine/ops/idle-memory.ts'
import { createLogger } from '../node/machine/ops/logger.ts'
import { measureCatalog, measureEngine, Metrics } from '../node/machine/ops/metrics.ts'
import type { NodeKey } from '../libraries/proof/sign.ts'
import { KeptAnswers } from '../node/answers/kept-answers.ts'
import { Files } from '../node/files/files.ts'
import {
  emptyCache,
  openAnswerFiles,
  openBuilder,
  openGateway,
  openLogWatch,
  openMerged,
  openQueries,
  openSliceFiles,
} from './roles.ts'
import { NodeError } from '../libraries/base/errors.ts'
import { dataPaths, logsPrefix } from '../node/store/layout.ts'
import { warnAtStart } from './start-warnings.ts'
import type { ObjectStore } from '../node/store/object-store.ts'
import { sharedSecret } from '../node/store/records.ts'
import { listSigners, putSigner, readRetired } from '../node/store/signers.ts'
import { ThreadPool, type ThreadPoolOptions } from '../node/machine/work/thread-pool.ts'

/** A bucket that is away for a moment ends no node that starts. */
const bucketPatienceMs = 60_000
/** A thread and what it reads: with less memory there are fewer than cores. */
const memoryOfThread = 128 * 1024 * 1024
/** For closing after a start that failed. */
const closeWithinMs = 10_000

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
  /** Of its features, by what it is with them: `witness`. */
  readonly keys: Readonly<Record<string, string>>
  /** Resolves when the node stopped by itself because it cannot go on; the error says why. */
  readonly failed: Promise<unknown>
  /** Refuses new work, finishes what is in flight, closes everything. */
  stop(): Promise<void>
}

/** What the parts of a process have been opened to, one after the other. */
interface Parts extends Shared {
  readonly opening: Opening
  readonly log: OpenedLog
  readonly builder: Builder | undefined
  /** Of a gateway whose log deletes what is old. */
  readonly watch: LogWatch | undefined
  readonly features: readonly FeatureCode[]
  /** The node whose datasets are copied into the store of this one. */
  readonly origin: Origin | undefined
}

/** Starts a node; it is ready when this resolves. Throws NodeError, HaltError and what the file system throws. */
export async function startNode(config: Config, logger: Logger = createLogger(config.logLevel)): Promise<RunningNode> {
  const paths = dataPaths(config.dataDir, config.storeDir)
  for (const directory of [config.dataDir, paths.keys, paths.cache]) await makeDurableDirectory(directory)
  let onFailure: (error: unknown) => void = () => {}
  const failed = new Promise<unknown>((resolve) => {
    onFailure = resolve
  })
  const opening: Opening = { logger, onFailure, opened: [] }
  const open = new OpenRows()
  try {
    const log = await openLog(config, opening, () => open.bytes)
    await emptyCache(paths.cache, opening)
    const shared = await openShared(config, log, { opening, open })
    const builder = has(config, 'builder')
      ? await openBuilder(shared, { log: logOf(log), assignment: await assignmentOf(log, shared) })
      : undefined
    open.builder = builder
    const features = await loadFeatures(config.without)
    const origin = await originOf(features, shared)
    const watch = log.aging !== undefined && has(config, 'gateway') ? openLogWatch(shared, log.aging) : undefined
    return await serve({ ...shared, opening, log, builder, watch, features, origin }, failed)
  } catch (error) {
    await closeInTime(opening, error)
    throw error
  }
}

/** What was opened before a start failed is closed, as far as that goes: why it failed is told however that ends. */
async function closeInTime({ opened, logger }: Opening, cause: unknown): Promise<void> {
  const closing = closeAll(opened).catch((err: unknown) => logger.warn({ err, cause }, 'Closing after a failed start'))
  const over = new AbortController()
  await Promise.race([closing, systemClock.sleep(closeWithinMs, over.signal)])
  over.abort()
}

function has({ roles }: Config, role: Role): boolean {
  return roles.includes(role)
}

/** Rows that are in the log and in no block yet. The log is opened first; until the builder runs, none are known. */
class OpenRows {
  builder: Builder | undefined

  get bytes(): number {
    return this.builder?.openBytes() ?? 0
  }
}

/** Opens store and catalog. A replica alone never writes to the store, unless it follows another node. */
async function openShared(
  config: Config,
  { announcements, log }: OpenedLog,
  { opening, open }: { readonly opening: Opening; readonly open: OpenRows },
): Promise<Shared> {
  const { logger, opened } = opening
  const paths = dataPaths(config.dataDir, config.storeDir)
  const isWriter = config.roles.some((role) => role !== 'replica') || isCopy(config)
  const metrics = new Metrics()
  const onRequest = metrics.countStoreRequests()
  const { listenHost, listenPort, limits } = config
  // A bucket may be away for a while: a supervisor hears that it waits.
  const isFar = !isDirectoryStore(config)
  const isOpen = isFar ? await answerBeforeStart(listenHost, listenPort, limits.requestHeaderMs) : undefined
  const watch = { ...opening, onRequest, patienceMs: bucketPatienceMs }
  const store = await openConfiguredStore(config, isWriter ? 'write' : 'read', watch).finally(isOpen)
  opened.push(() => store.close())
  // Only the commits of its own file log are all made and announced in this process; others may write to the store too.
  const heardLog = config.log === 'file' && has(config, 'builder') ? log?.id : undefined
  const bytesMost = config.limits.catalogBytes
  const catalog = new Catalog({ store, announcements, logger, clock: systemClock, heardLog, bytesMost })
  opened.push(async () => catalog.close())
  const work = new ThreadPool(workOptions(config.limits))
  opened.push(() => work.close())
  const idle = collectWhenIdle(systemClock, (err) => logger.warn({ err }, 'Memory was not given back'))
  opened.push(() => idle.close())
  measureCatalog(metrics, catalog, () => systemClock.nowMs())
  return {
    config,
    paths,
    clock: systemClock,
    logger,
    store,
    announcements,
    catalog,
    metrics,
    work,
    openBytes: () => open.bytes,
    beforeRemoval: [],
    opened,
  }
}

function logOf({ log }: OpenedLog): EventLog {
  return must(log, 'gateways and builders have a log')
}

/** Builders of one store share its partitions; those of another store that read the same topic have their own group. */
async function assignmentOf({ assignment }: OpenedLog, { store }: Shared): Promise<PartitionAssignment | undefined> {
  return assignment?.(toHex(sha3256(await sharedSecret(store, 'builders')).subarray(0, 8)))
}

/** Opens gateway and replica, if the process has these roles, and the server. */
async function serve(parts: Parts, failed: Promise<unknown>): Promise<RunningNode> {
  const { config, paths, clock, logger, store, catalog, work, opened, features, origin } = parts
  const nodeKey = await ensureNodeKey(config.nodeKeyFile ?? paths.nodeKey)
  await refuseRetired(store, nodeKey)
  const tokens = new TokenRegistry({ store, clock, logger, anonymousRead: config.anonymousRead })
  if (origin !== undefined) await ensureAdminToken(tokens, paths.token, logger)
  const gateway = has(config, 'gateway') ? await serveGateway(parts, tokens) : undefined
  const engines = has(config, 'replica') ? openQueries(parts) : undefined
  const engine = engines?.current
  const objects = new Objects(store, origin?.source)
  const slices = openSliceFiles(parts)
  const answers = new KeptAnswers(config.limits.keptAnswerBytes)
  // A process with this role alone has opened the store for reading only, unless it follows another node.
  if (engine !== undefined && (config.roles.length > 1 || origin !== undefined)) await putSigner(store, nodeKey.did)
  const health = createHealth(parts, engine)
  if (engines?.isComplete === false) health.tell('off', () => ({ queries: engineAbsent(engineVersion).message }))
  const app = await createServer({
    routes: features.flatMap(({ routes = [] }) => routes),
    without: config.without,
    formats: formatsBut(config.without),
    outputs: outputsBut(config.without),
    signers: () => listSigners(store),
    facts: { did: nodeKey.did, version: packageVersion(), roles: config.roles, log: factsOf(parts.log) },
    nodeKey,
    gateway,
    origin: origin?.url,
    replica: engines && {
      objects,
      files: new Files({ objects, slices, merging: await openMerged(parts, slices), limits: config.limits }),
      engine: engines.current,
      engines,
      nodeKey,
      catalog,
      answers,
      answerFiles: openAnswerFiles(parts),
      limits: config.limits,
    },
    catalog,
    objects,
    stored: (key) => store.get(key),
    tokens,
    savedQueries: new SavedQueries({ store, clock, logger }),
    health,
    metrics: measured(parts, engine),
    limits: config.limits,
    clock,
    work,
    logger,
    anonymousRead: config.anonymousRead,
    deleteGraceMs: config.deleteGraceMs,
    loopbackOnly: config.loopbackOnly,
    allowedHosts: config.allowedHosts,
    publicUrl: config.publicUrl,
    corsOrigins: config.corsOrigins,
    trustedSigners: config.trustedSigners,
  })
  opened.push(async () => {
    gateway?.drain()
    await app.close()
  })
  const port = await app.listen(config.listenHost, config.listenPort)
  for (const feature of features)
    await feature.start?.({ ...parts, gateway, health, nodeKey, version: packageVersion() })
  await warnAtStart(config, logger)
  // Queries start what they need; a node whose engine cannot run says so before somebody asks.
  engine?.prove().catch(() => undefined)
  return describe(parts, { port, nodeKey, failed })
}

/** Throws NodeError `InvalidParameter` for a key that was retired: its rotation was interrupted, or it came from an old copy. */
async function refuseRetired(store: ObjectStore, { did }: NodeKey): Promise<void> {
  const retired = await readRetired(store, did)
  if (retired === undefined) return
  throw new NodeError(
    'InvalidParameter',
    `The key ${did} was retired at ${retired.at}; nobody signs with it any more.`,
    {
      hint: "Finish its rotation with 'key rotate', or put the file of the present key in its place.",
    },
  )
}

function factsOf({ log, facts }: OpenedLog): NodeFacts['log'] {
  return log && { kind: log.kind, id: log.id, partitions: log.partitions, ...facts }
}

function describe(
  { config, paths, log, opened, features }: Parts,
  { port, nodeKey, failed }: { readonly port: number; readonly nodeKey: NodeKey; readonly failed: Promise<unknown> },
): RunningNode {
  const { listenHost } = config
  return {
    url: `http://${listenHost.includes(':') ? `[${listenHost}]` : listenHost}:${port}`,
    did: nodeKey.did,
    version: packageVersion(),
    roles: config.roles,
    dataDir: config.dataDir,
    tokenFile: paths.token,
    logKind: [log.log?.kind ?? 'none', log.facts.caution ?? []].flat().join('; '),
    anonymousRead: config.anonymousRead,
    keys: Object.assign({}, ...features.map((feature) => feature.keys?.())),
    failed,
    stop: () => closeAll(opened),
  }
}

/** Opens the gateway, with what the first one puts into the store. */
async function serveGateway(parts: Parts, tokens: TokenRegistry): Promise<Gateway> {
  const { paths, store, logger, log, builder, watch } = parts
  await ensureAdminToken(tokens, paths.token, logger)
  const receiptSecret = await sharedSecret(store, 'receipts')
  const hasOtherBuilders = log.assignment !== undefined
  return openGateway(parts, { log: logOf(log), builder, watch, hasOtherBuilders, receiptSecret })
}

/** What each role must have to be ready. */
function createHealth(parts: Parts, engine: Engine | undefined): Health {
  const { builder, store, log, watch, origin } = parts
  const health = new Health()
  if (builder !== undefined) {
    if (log.assignment !== undefined) health.tell('partitions', () => builder.status().partitions.map(partitionFact))
    health.add('builder', () => {
      const { ready, halted, commitFault } = builder.status()
      // A halted dataset stops no other.
      const halt = halted.find(({ dataset }) => dataset === undefined)
      if (ready) return commitFault
      return halt === undefined ? 'the builder is catching up' : `${halt.reason}: ${halt.what}`
    })
  }
  if (log.log !== undefined) {
    const space = watchSpace(parts, log.log)
    health.add('log', log.fault)
    health.add('space', () => space.reason())
  }
  if (watch !== undefined) health.add('retention', () => watch.fault())
  if (engine !== undefined) health.add('engine', () => engine.fault())
  if (origin !== undefined) origin.tell(health)
  else if (engine !== undefined && log.log === undefined) {
    let isWritten = false
    health.add('store', async () => {
      isWritten ||= (await store.list(logsPrefix)).length > 0
      return isWritten ? undefined : 'nothing has been written to the store yet'
    })
  }
  return health
}

/** Watches the volumes of a process that writes. */
function watchSpace({ paths, store, clock, logger, metrics, openBytes, opened }: Parts, log: EventLog): SpaceWatch {
  const volumes = [{ name: 'store', freeSpace: () => store.freeSpace() }]
  if (log.kind === 'file') volumes.unshift({ name: 'log', freeSpace: () => nodeFileSystem.freeSpace(paths.log) })
  const space = new SpaceWatch({ volumes, openBytes, clock, logger, metrics })
  opened.push(() => space.close())
  return space
}

function partitionFact({ partition, floor, lag }: BuilderStatus['partitions'][number]): object {
  return { partition, floor, lag: lag ?? null }
}

/** The metrics of the process, with what is not of one role alone. */
function measured({ metrics, announcements, builder, watch }: Parts, engine: Engine | undefined): Metrics {
  if (engine !== undefined) measureEngine(metrics, () => engine.load())
  announcements.subscribe(() => metrics.commits.inc())
  if (watch !== undefined) metrics.watchOpenAges(() => watch.openAges())
  if (builder !== undefined) metrics.watchLag(() => builder.status().partitions)
  return metrics
}

/**
 * Tasks: a long body while others are read, or all columns of a slice. Jobs read large requests: few, since each may need
 * the memory of the largest one.
 */
function workOptions({ verifyBytes, jsonValues, openJsonRequests, bodyMemoryBytes }: Limits): ThreadPoolOptions {
  const mebibyte = 1024 * 1024
  // Text of one or two bytes a character, and what a value takes at most; the rest of a thread is small.
  const heapMiB = 128 + Math.ceil((3 * verifyBytes + valueBytes * jsonValues) / mebibyte)
  const cores = Math.min(availableParallelism(), Math.ceil(bodyMemoryBytes / memoryOfThread))
  return {
    clock: systemClock,
    jobs: Math.min(4, cores),
    queueLimit: openJsonRequests,
    tasks: Math.min(8, cores + 1),
    heapMiB,
  }
}
