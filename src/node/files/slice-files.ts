// Slices as files, for engines that read files themselves: the loose copy where the store has files on this machine, or a copy
// in a folder of the cache, checked by its hash. Copied is what a pack holds, once the loose copies of a store go
// (`node/store/sweep.ts`), so that no statement meets a file that is just being removed; of a store elsewhere everything. Nobody
// learns which of the two it got. The unit of making room is a page: the slices of 256 blocks, in a folder of their own
// (`node/files/bounded-folders.ts`). What an earlier process copied is checked before it is used.

import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packedSliceBytesMost } from '../../libraries/odf/chain/pack-span.ts'
import { digestInTurns } from '../../libraries/odf/chain/pack.ts'
import { fileStamp, hasCacheRoom, hasCode, nodeFileSystem } from '../machine/disk/files.ts'
import { BoundedFolders, type Folder, folderPath } from './bounded-folders.ts'
import { type DatasetId, hashText } from '../../libraries/base/ids/identifiers.ts'
import { must } from '../../libraries/base/assert.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { limitTable } from '../../libraries/base/limits.ts'
import { HaltError, NodeError } from '../../libraries/base/errors.ts'
import { dataKey, datasetFolder } from '../store/layout.ts'
import { hasFiles, type ObjectStore } from '../store/object-store.ts'
import { PackGone } from '../store/packs.ts'
import { type SliceAt, SliceSource } from './slice-source.ts'

const pageBlocks = 256
/** What is not known of a page is checked again. */
const pagesKnownMost = 4_096
/** A file takes whole blocks of the disk. */
const diskBlockBytes = 4096
/** Pages of a statement that are filled at once, and files that are written at once. */
const parallelPages = 4
const parallelWrites = 8
/** Hash and bytes. */
const namePattern = /^(f1620[0-9a-f]{64})-(\d{1,15})$/

/** Slices of a chain, in its order. */
export interface WantedSlices {
  readonly id: DatasetId
  /** Numbers of them, ascending. */
  readonly numbers: Iterable<number>
  readonly at: (number: number) => SliceAt
}

/** Files that stay until they are closed. */
export interface SliceFileList {
  /** Names which file a number stands for: the same under the same name, whenever it is opened. */
  readonly list: string
  /** Absolute path of a slice that was wanted. */
  readonly path: (number: number) => string
  /** `suspect`: a reader failed, so what lies in the cache is made again. */
  readonly close: (how: 'done' | 'suspect') => void
}

/** Slices that can be read until this is closed. */
export interface SliceReading {
  /** Bytes [start, end) of a slice that was wanted, all by default. Throws HaltError `ChainBroken` where it is missing. */
  readonly read: (number: number, range?: readonly [start: number, end: number]) => Promise<Uint8Array>
  readonly close: () => void
}

interface Page {
  readonly folder: Folder
  /** In which it is used. */
  readonly folders: BoundedFolders
  /** Sequences of the blocks whose slices are here, and what the file of each was when it was whole. */
  readonly held: Map<number, string>
  /** It is filled by one after the other. */
  turn: Promise<unknown>
}

export interface SliceFilesOptions {
  /** One that finds packed objects too. */
  readonly store: ObjectStore
  /** Made when it is needed, for this process alone. */
  readonly dir: string
  /** Of all files together. */
  readonly mostBytes: number
  readonly clock: Clock
}

export class SliceFiles {
  readonly #options: SliceFilesOptions
  readonly #source: SliceSource
  /** By the names of their folders, of which some may be gone. */
  readonly #pages = new Map<string, Page>()
  #opened: Promise<BoundedFolders> | undefined
  #written = 0

  constructor(options: SliceFilesOptions) {
    this.#options = options
    this.#source = new SliceSource(options.store, options.clock)
  }

  /** Resolves when what was to be removed is gone. */
  async close(): Promise<void> {
    await (await this.#opened)?.close()
  }

  /**
   * Files of these slices. Throws NodeError `QueryNotAllowed` for more than the cache may hold, `Saturated` while others
   * use its room or the volume is full; HaltError `ChainBroken` for a slice that is not what its hash says.
   */
  async open(wanted: WantedSlices, signal?: AbortSignal): Promise<SliceFileList> {
    try {
      return await this.#open(wanted, signal)
    } catch (error) {
      if (!(error instanceof PackGone)) throw error
      // One of a higher level has taken its place.
      this.#source.forget(wanted.id)
      return this.#open(wanted, signal)
    }
  }

  /** The same to be read here: of the store itself where its objects are files on this machine. Throws as `open`. */
  async reading(wanted: WantedSlices, signal?: AbortSignal): Promise<SliceReading> {
    const { store } = this.#options
    const { id, at } = wanted
    const isHere = hasFiles(store)
    const files = isHere ? undefined : await this.open(wanted, signal)
    return {
      read: async (number, range) => {
        const { hash, sizeBytes } = at(number)
        const [start, end] = range ?? [0, sizeBytes]
        const bytes =
          files === undefined
            ? await store.getRange(dataKey(id, hash), start, end)
            : await nodeFileSystem.readRange(files.path(number), [start, end], () => {})
        if (bytes === undefined) throw new HaltError('ChainBroken', `slice ${hash} of ${id} is missing`)
        return bytes
      },
      close: () => files?.close('done'),
    }
  }

  async #open(wanted: WantedSlices, signal: AbortSignal | undefined): Promise<SliceFileList> {
    const { id, at } = wanted
    const { store, mostBytes } = this.#options
    const packedTo = hasFiles(store) ? await this.#source.sweptTo(id) : Number.POSITIVE_INFINITY
    const isCopied = ({ sequence, sizeBytes }: SliceAt): boolean =>
      sequence < packedTo && (sizeBytes <= packedSliceBytesMost || !hasFiles(store))
    const pages: Page[] = []
    const close = (how: 'done' | 'suspect'): void => {
      for (const { folder, folders } of pages.splice(0)) {
        folder.users--
        // Where that fails the next reader fails, and it is tried again.
        if (how === 'suspect') folders.remove(folder).catch(() => {})
      }
    }
    let usedBytes = 0
    const groups = packedTo > 0 ? pagesOf(wanted, isCopied) : [].values()
    const lane = async (): Promise<void> => {
      for (const group of groups) {
        signal?.throwIfAborted()
        usedBytes += group.reduce((sum, slice) => sum + onDiskBytes(slice), 0)
        if (usedBytes > mostBytes) throw tooMany(mostBytes)
        const page = this.#use(await this.#folders(), pageName(id, group[0]?.sequence ?? 0))
        pages.push(page)
        await this.#fill(page, id, group)
      }
    }
    try {
      await allEnded(Array.from({ length: parallelPages }, lane))
    } catch (error) {
      close('done')
      throw error
    }
    const path = (number: number): string => {
      const slice = at(number)
      if (isCopied(slice)) return join(folderPath(this.#options.dir, pageName(id, slice.sequence)), nameOf(slice))
      return must(store.fileOf(dataKey(id, slice.hash)), 'objects of the store are local files')
    }
    return { list: packedTo === 0 || !hasFiles(store) ? id : `${id} packed to ${packedTo}`, path, close }
  }

  /** Somebody may remove the whole cache while this runs: it is begun anew. What is read of the one before is lost to its readers. */
  async #folders(): Promise<BoundedFolders> {
    const before = this.#opened
    const opened = await before?.catch(() => undefined)
    if (opened?.isThere() === true) return opened
    if (this.#opened === before) this.#opened = BoundedFolders.open(this.#options.dir, bytesOfName)
    return must(this.#opened, 'it is being opened')
  }

  #use(folders: BoundedFolders, name: string): Page {
    const folder = folders.use(name)
    const known = this.#pages.get(name)
    if (known?.folder === folder) return known
    if (this.#pages.size >= pagesKnownMost) this.#forgetUnused()
    const page = { folder, folders, held: new Map(), turn: Promise.resolve() }
    this.#pages.set(name, page)
    return page
  }

  #forgetUnused(): void {
    for (const [name, { folder }] of this.#pages) if (folder.users === 0) this.#pages.delete(name)
  }

  /** Copies what a page lacks. */
  async #fill(page: Page, id: DatasetId, slices: readonly SliceAt[]): Promise<void> {
    await forgetChanged(page, slices)
    const isMissing = ({ sequence }: SliceAt): boolean => !page.held.has(sequence)
    if (!slices.some(isMissing)) return
    const turn = page.turn.then(async () => {
      const lacking = slices.filter(isMissing)
      const missing = await this.#check(page, lacking)
      if (missing.length > 0) await this.#copy(page, id, missing)
    })
    page.turn = turn.catch(() => {})
    await turn
  }

  /** Those of the slices that are not here whole. */
  async #check(page: Page, slices: readonly SliceAt[]): Promise<SliceAt[]> {
    const missing: SliceAt[] = []
    // Somebody may have removed it while it is in use.
    await mkdir(page.folder.path, { recursive: true, mode: 0o700 })
    const there = new Set(await readdir(page.folder.path))
    for (const slice of slices) {
      const path = join(page.folder.path, nameOf(slice))
      const stamp = there.has(nameOf(slice)) ? await fileStamp(path) : undefined
      const bytes = stamp === undefined ? undefined : await bytesOf(path)
      if (stamp !== undefined && bytes !== undefined && hashText(await digestInTurns(bytes)) === slice.hash) {
        page.held.set(slice.sequence, stamp)
        continue
      }
      missing.push(slice)
      if (stamp !== undefined) await rm(path, { recursive: true, force: true })
    }
    return missing
  }

  async #copy(page: Page, id: DatasetId, slices: readonly SliceAt[]): Promise<void> {
    await this.#makeRoom(
      page,
      slices.reduce((sum, slice) => sum + onDiskBytes(slice), 0),
    )
    const writing: Promise<void>[] = []
    try {
      for await (const { slice, bytes } of this.#source.fetch(id, slices)) {
        const write = async (): Promise<void> => {
          const begun = join(page.folders.unfinished, `slice-${++this.#written}`)
          await writeFile(begun, bytes, { mode: 0o600 })
          const path = join(page.folder.path, nameOf(slice))
          await rename(begun, path)
          page.held.set(slice.sequence, (await fileStamp(path)) ?? '')
        }
        writing.push(write())
        if (writing.length >= parallelWrites) await allEnded(writing.splice(0))
      }
    } finally {
      await Promise.allSettled(writing)
      await page.folders.settle(page.folder)
    }
    await allEnded(writing)
  }

  /** Removes what was not used for longest until a page has room for `bytes` more. Throws NodeError `Saturated`. */
  async #makeRoom({ folder, folders }: Page, bytes: number): Promise<void> {
    const { dir, mostBytes } = this.#options
    let isRoom = await folders.reserve(folder, bytes, mostBytes)
    while (isRoom && !(await hasCacheRoom(dir, bytes))) isRoom = await folders.removeOldest()
    if (isRoom) return
    throw new NodeError('Saturated', 'The cache has no room for the slices of this statement now.', {
      hint: 'Other statements use its room, or the volume has less than 1 GiB left. Try again later.',
    })
  }
}

/** Undefined where there is no file, or something else. */
async function bytesOf(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EISDIR')) return undefined
    throw error
  }
}

/** What somebody has written to since it was whole is checked again. */
async function forgetChanged({ folder, held }: Page, slices: readonly SliceAt[]): Promise<void> {
  const look = async (slice: SliceAt): Promise<void> => {
    const stamp = held.get(slice.sequence)
    if (stamp !== undefined && stamp !== (await fileStamp(join(folder.path, nameOf(slice)))))
      held.delete(slice.sequence)
  }
  await Promise.all(slices.map(look))
}

/** Resolves when all have ended. Throws what the first of them that failed threw. */
async function allEnded(works: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(works)) if (outcome.status === 'rejected') throw outcome.reason
}

function pageName(id: DatasetId, sequence: number): string {
  return `${datasetFolder(id)}/${Math.floor(sequence / pageBlocks)}`
}

function nameOf({ hash, sizeBytes }: SliceAt): string {
  return `${hash}-${sizeBytes}`
}

/** Those of the wanted slices that are copied, page by page. */
function* pagesOf({ numbers, at }: WantedSlices, isCopied: (slice: SliceAt) => boolean): Generator<readonly SliceAt[]> {
  let group: SliceAt[] = []
  for (const number of numbers) {
    const slice = at(number)
    if (!isCopied(slice)) continue
    const page = Math.floor(slice.sequence / pageBlocks)
    if (group[0] !== undefined && page !== Math.floor(group[0].sequence / pageBlocks)) {
      yield group
      group = []
    }
    group.push(slice)
  }
  if (group.length > 0) yield group
}

function onDiskBytes({ sizeBytes }: Pick<SliceAt, 'sizeBytes'>): number {
  return Math.ceil(sizeBytes / diskBlockBytes) * diskBlockBytes
}

/** On the disk, of a file of this name. */
function bytesOfName(name: string): number {
  return onDiskBytes({ sizeBytes: Number(namePattern.exec(name)?.[2] ?? 0) })
}

function tooMany(mostBytes: number): NodeError {
  return new NodeError('QueryNotAllowed', 'The statement reads more slices than the cache may hold.', {
    hint: 'Let it read fewer rows (a condition on offset or event time), or raise --limit-cache-bytes.',
    limit: { name: 'sliceFileBytes', value: mostBytes, unit: limitTable.sliceFileBytes.unit },
  })
}
