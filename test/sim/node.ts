// A node as one simulated process: the gateway, the builder and the catalog that run in production, over a simulated
// disk, log, clock and network.

import { Readable } from 'node:stream'
import { constants, zstdCompressSync } from 'node:zlib'
import type { Compressor } from '../../src/node/builder/build-slice.ts'
import { type Builder, startBuilder } from '../../src/node/builder/builder.ts'
import type { CutOptions } from '../../src/node/builder/governor.ts'
import { Catalog } from '../../src/node/catalog/catalog.ts'
import { Outcomes } from '../../src/node/catalog/outcomes.ts'
import { SpaceReserve } from '../../src/node/machine/disk/space.ts'
import { readControls } from '../../src/node/gateway/controls.ts'
import { Gateway, type IngestAnswer } from '../../src/node/gateway/gateway.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { type Logger, silentLogger } from '../../src/libraries/base/logger.ts'
import { type Announcements, openLocalAnnouncements } from '../../src/node/log/announcements.ts'
import type { EventLog } from '../../src/node/log/event-log.ts'
import { openFileLog } from '../../src/node/log/file/file-log.ts'
import type { CommitAnnouncement } from '../../src/node/log/messages.gen.ts'
import { parseAliasText } from '../../src/libraries/model/names.ts'
import { SimulatedThreads, type SimulatedThreadsOptions } from '../adapters/simulated-threads.ts'
import { openDirectoryStore } from '../../src/node/store/directory/directory-store.ts'
import { withPacks } from '../../src/node/store/packed-store.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { compressor } from '../node/builder/support.ts'
import { defaultLimits } from '../helpers/default-limits.ts'
import type { Broker } from './broker.ts'
import type { Keeping, SimulatedLedger } from './ledger.ts'
import type { Volume } from './volume.ts'
import type { Process } from './world.ts'
import { libraryFormats } from '../../src/libraries/formats/registry.ts'

export const storeFolder = '/data/store'
const logFolder = '/data/log'

export interface NodeParts {
  readonly process: Process
  readonly volume: Volume
  /** The shared log; absent for a node that has its log on the volume. */
  readonly broker: Broker | undefined
  readonly roles: { readonly gateway: boolean; readonly builder: boolean }
  readonly segmentBytes: number
  readonly cut: Partial<CutOptions>
  /** Level of Zstandard: builders that differ in it make different slices of the same rows. */
  readonly level: number
  /** Threads that share the columns of slices. */
  readonly threads: Pick<SimulatedThreadsOptions, 'threads' | 'isLost'> & { readonly delayMs: () => number }
  /** Carries announcements to the other processes. */
  readonly spread: (message: CommitAnnouncement) => void
  readonly logger?: Logger
  /** Kept by who builds. */
  readonly ledger?: SimulatedLedger | undefined
}

export interface SimulatedNode {
  readonly process: Process
  readonly log: EventLog
  readonly store: ObjectStore
  readonly catalog: Catalog
  readonly gateway: Gateway | undefined
  readonly builder: Builder | undefined
  readonly keeping: Keeping | undefined
  /** Takes in an announcement of another process. */
  readonly hear: (message: CommitAnnouncement) => void
  /** Ends it in order. */
  stop(): Promise<void>
}

export interface Post {
  readonly alias: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}

/** Starts a node. Never resolves when its process dies first. */
export async function startSimulatedNode(parts: NodeParts): Promise<SimulatedNode> {
  const { process, volume, roles, cut, logger = silentLogger } = parts
  const { clock } = process
  let running: Builder | undefined
  const openBytes = (): number => running?.openBytes() ?? 0
  const log = await openLog(parts, openBytes)
  const store = withPacks(await openDirectoryStore(storeFolder, volume.forProcess(process), failing(process)), clock)
  const local = openLocalAnnouncements(logger)
  const announcements: Announcements = {
    announce: async (message) => {
      await local.announce(message)
      parts.spread(message)
    },
    subscribe: (listener) => local.subscribe(listener),
  }
  const catalog = new Catalog({ store, announcements, logger })
  const own = compressorOf(parts.level)
  const { delayMs, ...some } = parts.threads
  const wait = (): Promise<void> => clock.sleep(delayMs())
  const threads = new SimulatedThreads({ ...some, compress: own.compress, wait })
  if (roles.builder) {
    // Sparse blocks end early after a few messages of others.
    const replayMost = { messages: 64, bytes: 1e9 }
    const pace = { options: cut, replayMost }
    running = await startBuilder({ log, store, announcements, clock, logger, compressor: own, threads, ...pace })
  }
  const builder = running
  const keeping = builder && parts.ledger?.keep({ process, store, catalog, logger })
  const space = new SpaceReserve({ freeSpace: () => store.freeSpace(), openBytes, clock })
  const gateway = roles.gateway
    ? new Gateway({
        formats: libraryFormats,
        catalog,
        outcomes: new Outcomes(store),
        log,
        announcements,
        clock,
        logger,
        limits: defaultLimits(),
        spoolDir: '/nowhere',
        threads,
        receiptSecret: utf8('a secret that all processes share'),
        haltOf: (dataset) => builder?.status().halted.find((halt) => halt.dataset === dataset)?.reason,
        stream: { ageMs: 20, rows: 7 },
        newDatasets: 'public',
        hasRoom: (bytes) => space.hasRoom(2 * bytes),
      })
    : undefined
  return {
    process,
    log,
    store,
    catalog,
    gateway,
    builder,
    keeping,
    hear: (message) => void process.gate().then(() => local.announce(message)),
    stop: async () => {
      gateway?.drain()
      gateway?.close()
      await keeping?.stop()
      await builder?.stop()
      catalog.close()
      await store.close()
      await log.close()
    },
  }
}

async function openLog({ broker, process, volume, ...parts }: NodeParts, openBytes: () => number): Promise<EventLog> {
  if (broker !== undefined) return broker.forProcess(process)
  const { segmentBytes, logger = silentLogger } = parts
  return openFileLog({
    directory: logFolder,
    clock: process.clock,
    logger,
    segmentBytes,
    fileSystem: volume.forProcess(process),
    openBytes,
    onFailure: failing(process),
  })
}

function compressorOf(level: number): Compressor {
  const params = { [constants.ZSTD_c_compressionLevel]: level }
  return { ...compressor, name: `zstd level ${level}`, compress: (bytes) => zstdCompressSync(bytes, { params }) }
}

/** A node whose log or store has failed ends itself, a moment later. */
function failing(process: Process): () => void {
  return () => process.world.schedule(process.world.random.next() * 20, () => process.kill())
}

const chunkBytes = 100_000

/** A body as it comes by the wire. */
function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.slice(at, at + chunkBytes)
}

/** Posts as the HTTP route does. */
export async function post(node: SimulatedNode, { alias, body, headers, query }: Post): Promise<IngestAnswer> {
  const { gateway, catalog } = node
  if (gateway === undefined) throw new RangeError('this process takes no rows')
  const chain = await catalog.byAlias(alias)
  if (chain === undefined && query['create'] !== 'true') throw new RangeError('there is no such dataset')
  const bytes = utf8(body)
  const all = { 'content-type': 'application/x-ndjson', 'content-length': String(bytes.length), ...headers }
  return gateway.ingest({
    alias: parseAliasText(alias),
    chain,
    tokenId: 't1',
    controls: readControls(all, query),
    body: Readable.from(chunksOf(bytes)),
  })
}
