// Slices as files, for engines that read files themselves: the loose copy, or one taken out of its pack into a folder of the
// cache, checked by its hash. Once the loose copies of a store go (`store/sweep.ts`), what a pack holds is read from the
// pack's copy alone, so that no statement meets a file that is just being removed. Nobody learns which of the two it got.
// The unit of making room is a page: the slices of 256 blocks, in a folder of their own.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packedSliceBytesMost } from '../chain/pack-span.ts'
import { hasCacheRoom } from '../disk/files.ts'
import { digestInTurns } from '../chain/pack.ts'
import { hashText } from '../ids/identifiers.ts'
import { must } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { limitTable } from '../lib/limits.ts'
import { HaltError, NodeError } from '../model/errors.ts'
import type { DatasetId, Hash } from '../model/events.ts'
import { dataKey, datasetKey } from './layout.ts'
import type { ObjectStore } from './object-store.ts'
import { listPacks, type Pack, PackGone, PackReader } from './packs.ts'
import { sweptSince } from './records.ts'

const pageBlocks = 256
/** A file takes whole blocks of the disk. */
const diskBlockBytes = 4096
/** What packs there are is looked for so often; loose copies go a day after their pack came. */
const lookAgainMs = 60_000
/** Chains of which that is remembered. */
const chainsHeld = 1_000
/** Files that are written at once. */
const parallelWrites = 8

/** A slice and the number of its block. */
interface SliceAt {
  readonly hash: Hash
  readonly sizeBytes: number
  readonly sequence: number
}

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

/** What packs hold of a chain whose loose copies go. */
interface Packed {
  readonly packs: readonly Pack[]
  /** The blocks below are in them. */
  readonly to: number
  readonly lookedMs: number
}

interface Page {
  readonly folder: string
  /** Sequences of the blocks whose slices are here. */
  readonly held: Set<number>
  bytes: number
  users: number
}

export interface SliceFilesOptions {
  /** One that finds packed objects too. */
  readonly store: ObjectStore
  /** Made when it is needed; nothing in it outlives the process. */
  readonly dir: string
  /** Of all files together. */
  readonly mostBytes: number
  readonly clock: Clock
}

export class SliceFiles {
  readonly #options: SliceFilesOptions
  readonly #reader: PackReader
  readonly #packed = new Map<DatasetId, Packed>()
  /** The one used last is the last. */
  readonly #pages = new Map<string, Page>()
  #bytes = 0
  /** Pages are filled and removed one after the other. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: SliceFilesOptions) {
    this.#options = options
    this.#reader = new PackReader(options.store)
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
      this.#packed.delete(wanted.id)
      return this.#open(wanted, signal)
    }
  }

  async #open(wanted: WantedSlices, signal: AbortSignal | undefined): Promise<SliceFileList> {
    const { id, at } = wanted
    const { store } = this.#options
    const packed = await this.#packedOf(id)
    const isPacked = ({ sequence, sizeBytes }: SliceAt): boolean =>
      sequence < packed.to && sizeBytes <= packedSliceBytesMost
    const pages: Page[] = []
    const close = (how: 'done' | 'suspect'): void => {
      for (const page of pages.splice(0)) {
        page.users--
        if (how === 'suspect' && page.users === 0) void this.#inTurn(() => this.#remove(page))
      }
    }
    try {
      let usedBytes = 0
      for (const group of packed.to === 0 ? [] : pagesOf(wanted, isPacked)) {
        signal?.throwIfAborted()
        const page = this.#page(id, group[0]?.sequence ?? 0)
        pages.push(page)
        page.users++
        usedBytes += group.reduce((sum, slice) => sum + onDiskBytes(slice), 0)
        if (usedBytes > this.#options.mostBytes) throw tooMany(this.#options.mostBytes)
        await this.#inTurn(() => this.#fill(page, { id, slices: group, packs: packed.packs }))
      }
    } catch (error) {
      close('done')
      throw error
    }
    const path = (number: number): string => {
      const slice = at(number)
      if (isPacked(slice)) return join(this.#folder(id, slice.sequence), slice.hash)
      return must(store.localPath(dataKey(id, slice.hash)), 'objects of the store are local files')
    }
    return { list: packed.to === 0 ? id : `${id} packed to ${packed.to}`, path, close }
  }

  async #packedOf(id: DatasetId): Promise<Packed> {
    const { store, clock } = this.#options
    const held = this.#packed.get(id)
    const lookedMs = clock.monotonicMs()
    if (held !== undefined && lookedMs - held.lookedMs < lookAgainMs) return held
    const packs = (await sweptSince(store)) !== undefined ? await listPacks(store, id, held?.packs) : []
    const last = packs.at(-1)
    const summary = last && (await this.#reader.summary(last))
    const packed = { packs, to: summary === undefined ? 0 : summary.sequence + summary.blocks, lookedMs }
    if (this.#packed.size >= chainsHeld) this.#packed.clear()
    this.#packed.set(id, packed)
    return packed
  }

  #folder(id: DatasetId, sequence: number): string {
    return join(this.#options.dir, datasetKey(id), String(Math.floor(sequence / pageBlocks)))
  }

  #page(id: DatasetId, sequence: number): Page {
    const folder = this.#folder(id, sequence)
    const page = this.#pages.get(folder) ?? { folder, held: new Set(), bytes: 0, users: 0 }
    this.#pages.delete(folder)
    this.#pages.set(folder, page)
    return page
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work)
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** Takes out of the packs what a page lacks. */
  async #fill(
    page: Page,
    {
      id,
      slices,
      packs,
    }: { readonly id: DatasetId; readonly slices: readonly SliceAt[]; readonly packs: readonly Pack[] },
  ): Promise<void> {
    const missing = new Map(slices.filter(({ sequence }) => !page.held.has(sequence)).map((one) => [one.hash, one]))
    if (missing.size === 0) return
    await this.#makeRoom([...missing.values()].reduce((sum, slice) => sum + onDiskBytes(slice), 0))
    await mkdir(page.folder, { recursive: true, mode: 0o700 })
    const least = Math.min(...slices.map(({ sequence }) => sequence))
    // A commit begins in the range of its pack, and may end beyond it.
    const near = packs.filter(({ from, to }) => to + pageBlocks > least && from < least + pageBlocks)
    for (const pack of near.toReversed()) {
      if (missing.size === 0) break
      const writing: Promise<void>[] = []
      for await (const { hash, bytes } of this.#reader.objects(pack, 'data', [...missing.keys()])) {
        const slice = must(missing.get(hash), 'it was asked for')
        missing.delete(hash)
        writing.push(this.#write(page, slice, bytes))
        if (writing.length >= parallelWrites) await Promise.all(writing.splice(0))
      }
      await Promise.all(writing)
    }
    const [lost] = missing.keys()
    if (lost !== undefined) throw new HaltError('ChainBroken', `slice ${lost} of ${id} is in none of its packs`)
  }

  async #write(page: Page, slice: SliceAt, bytes: Uint8Array): Promise<void> {
    if (hashText(await digestInTurns(bytes)) !== slice.hash) {
      throw new HaltError('ChainBroken', `slice ${slice.hash} is damaged in its pack`)
    }
    await writeFile(join(page.folder, slice.hash), bytes, { mode: 0o600 })
    page.held.add(slice.sequence)
    page.bytes += onDiskBytes(slice)
    this.#bytes += onDiskBytes(slice)
  }

  /** Removes what was not used for longest until there is room for `bytes` more. Throws NodeError `Saturated`. */
  async #makeRoom(bytes: number): Promise<void> {
    const { dir, mostBytes } = this.#options
    await mkdir(dir, { recursive: true, mode: 0o700 })
    const hasSpace = (): Promise<boolean> => hasCacheRoom(dir, bytes)
    for (const page of this.#pages.values()) {
      if (this.#bytes + bytes <= mostBytes && (await hasSpace())) return
      if (page.users === 0) await this.#remove(page)
    }
    if (this.#bytes + bytes <= mostBytes && (await hasSpace())) return
    throw new NodeError('Saturated', 'The cache has no room for the slices of this statement now.', {
      hint: 'Other statements use its room, or the volume has less than 1 GiB left. Try again later.',
    })
  }

  async #remove(page: Page): Promise<void> {
    if (page.users > 0 || this.#pages.get(page.folder) !== page) return
    this.#pages.delete(page.folder)
    this.#bytes -= page.bytes
    await rm(page.folder, { recursive: true, force: true })
  }
}

/** Those of the wanted slices that packs hold, page by page. */
function* pagesOf({ numbers, at }: WantedSlices, isPacked: (slice: SliceAt) => boolean): Generator<readonly SliceAt[]> {
  let group: SliceAt[] = []
  for (const number of numbers) {
    const slice = at(number)
    if (!isPacked(slice)) continue
    const page = Math.floor(slice.sequence / pageBlocks)
    if (group[0] !== undefined && page !== Math.floor(group[0].sequence / pageBlocks)) {
      yield group
      group = []
    }
    group.push(slice)
  }
  if (group.length > 0) yield group
}

function onDiskBytes({ sizeBytes }: SliceAt): number {
  return Math.ceil(sizeBytes / diskBlockBytes) * diskBlockBytes
}

function tooMany(mostBytes: number): NodeError {
  return new NodeError('QueryNotAllowed', 'The statement reads more packed slices than the cache may hold.', {
    hint: 'Let it read fewer rows (a condition on offset or event time), or raise --limit-slice-file-bytes.',
    limit: { name: 'sliceFileBytes', value: mostBytes, unit: limitTable.sliceFileBytes.unit },
  })
}
