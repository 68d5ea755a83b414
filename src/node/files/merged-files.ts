// The merged files of a replica, under cache/merged/<dataset>/: found again at a start, checked before a process first reads
// one, bounded in bytes, those of the dataset that was not asked for longest dropped first. A file's name holds what it is of
// (a range of slices, the SHA-256 over their hashes), the form in which it was written and the SHA-256 of its bytes, so there
// is nothing beside it to go wrong.
// merged-maker.ts makes them; losing one costs time, never an answer.

import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { DatasetView } from '../catalog/dataset-chain.ts'
import { errorCode, fileStamp, hasCacheRoom, ifThere } from '../machine/disk/files.ts'
import { createSha2, sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { concatBytes, toHex, utf8 } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { type GroupTimes, groupTimes } from '../../libraries/columnar/parquet/time-range.ts'
import { datasetFolder, datasetOfFolder } from '../store/layout.ts'
import type { MergedBytes } from '../machine/work/merge.ts'
import type { MergedFile, SliceRun } from './file-list.ts'

const pieceBytes = 1024 * 1024
/** Raised when the same slices are merged to other bytes: files of another form are removed at a start. */
const form = 2
const namePattern = new RegExp(`^(\\d{1,15})-(\\d{1,15})-([0-9a-f]{64})-([0-9a-f]{64})\\.v${form}\\.parquet$`)

/** A file that is there. */
interface Held extends SliceRun, Pick<MergedFile, 'path'> {
  readonly sizeBytes: number
  /** SHA-256 over the hashes of its slices, and of its bytes. */
  readonly slices: string
  readonly hash: string
  /** Its row groups, by what they were found under; undefined where it does not fit. Each begun when it is first wanted. */
  readonly checks: Map<string, Promise<readonly GroupTimes[] | undefined>>
}

/** A file that was checked, with what it is. */
export interface CheckedFile extends MergedFile, Pick<Held, 'hash' | 'sizeBytes'> {}

export interface MergedFilesOptions {
  /** Made when it is needed. */
  readonly dir: string
  /** The limit `mergedFileBytes`. */
  readonly mostBytes: number
  /** A file that another has taken the place of may be read for so long. */
  readonly graceMs: number
  readonly clock: Clock
  readonly logger: Logger
}

export class MergedFiles {
  readonly #options: MergedFilesOptions
  /** By dataset, least recently used first; in the order of slices. */
  readonly #held = new Map<DatasetId, Held[]>()
  /** Files that others have taken the place of, while they may still be read. */
  readonly #retired = new Map<Held, DatasetId>()
  /** Datasets whose files were removed. */
  readonly #lost = new Set<DatasetId>()
  readonly #closed = new AbortController()
  /** Of files in use, and of those that others have taken the place of. */
  #bytes = 0
  #dropped = 0
  #refused = 0

  constructor(options: MergedFilesOptions) {
    this.#options = options
  }

  get bytes(): number {
    return this.#bytes
  }

  get files(): number {
    return [...this.#held.values()].reduce((sum, files) => sum + files.length, 0)
  }

  /** Files that made room for others, and files that did not fit. */
  get dropped(): number {
    return this.#dropped
  }

  get refused(): number {
    return this.#refused
  }

  /** Takes in what an earlier process has left, and clears away what it did not finish. */
  async load(): Promise<void> {
    const { dir } = this.#options
    for (const folder of (await ifThere(readdir(dir))) ?? []) {
      const id = datasetOfFolder(folder)
      for (const name of id === undefined ? [] : await namesIn(join(dir, folder))) {
        const [, from, to, slices, hash] = namePattern.exec(name) ?? []
        const path = join(dir, folder, name)
        const run = { from: Number(from), to: Number(to) }
        const isThere = id !== undefined && this.has(id, run)
        if (id === undefined || slices === undefined || hash === undefined || isThere) await clearAway(path)
        else this.#add(id, { ...run, slices, hash, path, sizeBytes: (await stat(path)).size, checks: new Map() })
      }
      if (id === undefined) await clearAway(join(dir, folder))
    }
    for (const [id, files] of this.#held) {
      for (const file of files.filter((one) => files.some((other) => isWithin(one, other))))
        await this.#remove(id, file)
    }
  }

  close(): void {
    this.#closed.abort()
  }

  /** The files of slices of the view, in order and apart, all checked. This counts as use. */
  async of(view: DatasetView): Promise<CheckedFile[]> {
    const held = this.#held.get(view.id)
    if (held === undefined) return []
    this.#held.delete(view.id)
    this.#held.set(view.id, held)
    return await this.#checked(view, this.partsOf(view.id, { from: 0, to: view.slices.length }))
  }

  /** The file of exactly these slices, with this SHA-256, checked; also one that was replaced. */
  async find(view: DatasetView, { from, to }: SliceRun, hash: string): Promise<CheckedFile | undefined> {
    const retired = [...this.#retired].filter(([, id]) => id === view.id).map(([file]) => file)
    const known = [...(this.#held.get(view.id) ?? []), ...retired]
    const fits = (one: Held): boolean => one.hash === hash && one.from === from && one.to === to
    const [found] = await this.#checked(view, known.filter(fits).slice(0, 1))
    return found
  }

  /** Whether there is a file of exactly these slices, not yet checked. */
  has(id: DatasetId, { from, to }: SliceRun): boolean {
    return this.#held.get(id)?.some((one) => one.from === from && one.to === to) ?? false
  }

  /** The widest files within a range, in order, apart, and not yet checked. */
  partsOf(id: DatasetId, run: SliceRun): Held[] {
    const within = (this.#held.get(id) ?? []).filter(({ from, to }) => from >= run.from && to <= run.to)
    return within.filter((one) => !within.some((other) => isWithin(one, other)))
  }

  /** How many slices of the view lie in no file. */
  slicesBeside({ id, slices }: DatasetView): number {
    const files = this.partsOf(id, { from: 0, to: slices.length })
    return files.reduce((left, { from, to }) => left - (to - from), slices.length)
  }

  async #checked(view: DatasetView, files: readonly Held[]): Promise<CheckedFile[]> {
    const found: CheckedFile[] = []
    for (const file of files) {
      const { from, to, path, hash, sizeBytes } = file
      const under = `${await fileStamp(path)} ${factsKey(view, file)}`
      const check = file.checks.get(under) ?? this.#check(view, file)
      file.checks.set(under, check)
      const groups = await check
      if (groups !== undefined) found.push({ from, to, path, groups, hash, sizeBytes })
    }
    return found
  }

  /** Whether files of the dataset were removed since this was asked last. */
  takeLost(id: DatasetId): boolean {
    return this.#lost.delete(id)
  }

  /** After a statement over them failed: the files of a dataset are checked again before they are used. */
  doubt(id: DatasetId): void {
    for (const file of this.#held.get(id) ?? []) file.checks.clear()
  }

  /** Makes room for a file of a dataset; false where only files of more use could make any. */
  async makeRoom(id: DatasetId, bytes: number): Promise<boolean> {
    const { dir, mostBytes } = this.#options
    if (bytes > mostBytes) return false
    await mkdir(dir, { recursive: true, mode: 0o700 })
    for (;;) {
      if (this.#bytes + bytes <= mostBytes && (await hasCacheRoom(dir, bytes))) return true
      const [other, files] = this.#leastUseful(id) ?? []
      if (other === undefined || files === undefined) return false
      this.#options.logger.info({ dataset: other, for: id }, 'merged files made room for others')
      for (const file of files) {
        this.#dropped++
        await this.#remove(other, file)
      }
    }
  }

  /** The files of the dataset that was asked for longest ago, which is not this one. */
  #leastUseful(id: DatasetId): readonly [DatasetId, readonly Held[]] | undefined {
    const [oldest] = this.#held
    return !this.#held.has(id) || oldest?.[0] === id ? undefined : oldest
  }

  /** Keeps the rows of slices of a view, for which room was made. Throws what the file system throws. */
  async keep(view: DatasetView, run: SliceRun, { file, hash }: MergedBytes): Promise<void> {
    const { id } = view
    const folder = join(this.#options.dir, datasetFolder(id))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const slices = slicesDigest(view, run)
    const part = join(folder, 'part')
    const path = join(folder, `${run.from}-${run.to}-${slices}-${hash}.v${form}.parquet`)
    try {
      await writeFile(part, file, { mode: 0o600 })
      await rename(part, path)
    } catch (error) {
      await clearAway(part)
      throw error
    }
    const replaced = (this.#held.get(id) ?? []).filter((one) => isWithin(one, run))
    this.#add(id, { ...run, path, slices, hash, sizeBytes: file.length, checks: new Map() })
    for (const one of replaced) void this.#retire(id, one)
  }

  #add(id: DatasetId, file: Held): void {
    const files = this.#held.get(id)
    // A dataset that nobody has asked for yet is the first to make room.
    const others = files === undefined ? [...this.#held] : []
    if (files === undefined) this.#held.clear()
    const before = files?.findIndex(({ from }) => from > file.from) ?? -1
    this.#held.set(id, files?.toSpliced(before < 0 ? files.length : before, 0, file) ?? [file])
    for (const [other, held] of others) this.#held.set(other, held)
    this.#bytes += file.sizeBytes
  }

  /** Statements that run may still read it. */
  async #retire(id: DatasetId, file: Held): Promise<void> {
    this.#forget(id, file)
    this.#retired.set(file, id)
    await this.#options.clock.sleep(this.#options.graceMs, this.#closed.signal)
    if (this.#closed.signal.aborted || !this.#retired.delete(file)) return
    await clearAway(file.path)
    this.#bytes -= file.sizeBytes
  }

  async #remove(id: DatasetId, file: Held): Promise<void> {
    this.#forget(id, file)
    this.#retired.delete(file)
    this.#lost.add(id)
    this.#bytes -= file.sizeBytes
    await clearAway(file.path)
  }

  #forget(id: DatasetId, file: Held): void {
    const left = this.#held.get(id)?.filter((one) => one !== file) ?? []
    if (left.length > 0) this.#held.set(id, left)
    else this.#held.delete(id)
  }

  /** The row groups of a file whose bytes and slices are what its name says; any other is removed. */
  async #check(view: DatasetView, file: Held): Promise<readonly GroupTimes[] | undefined> {
    try {
      const end = await readWhole(file)
      if (file.slices !== slicesDigest(view, file)) throw new DecodeError('merged file', 'is of other slices')
      return groupTimes(end, view.vocabulary.eventTimeColumn)
    } catch (error) {
      if (!(error instanceof DecodeError) && errorCode(error) === undefined) throw error
      this.#refused++
      this.#options.logger.warn({ err: error, path: file.path }, 'a merged file does not fit and is made again')
      await this.#remove(view.id, file)
      return undefined
    }
  }
}

/** Somebody may have put a folder in the place of a file, or a file in the place of its folder. */
async function clearAway(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(async (error: unknown) => {
    if (errorCode(error) !== 'ENOTDIR') throw error
    await rm(dirname(path))
  })
}

/** What lies in a folder; what is none is removed. */
async function namesIn(path: string): Promise<readonly string[]> {
  return await readdir(path).catch(async (error: unknown) => {
    if (errorCode(error) !== 'ENOTDIR') throw error
    await rm(path)
    return []
  })
}

function isWithin(one: SliceRun, other: SliceRun): boolean {
  return other.from <= one.from && one.to <= other.to && other.to - other.from > one.to - one.from
}

/** What a check holds for: the hash of the last slice stands for the chain before it; the times are those of a column. */
function factsKey({ slices, vocabulary }: DatasetView, { to }: SliceRun): string {
  return `${slices.at(to - 1)?.hash} ${vocabulary.eventTimeColumn}`
}

function slicesDigest({ slices }: DatasetView, { from, to }: SliceRun): string {
  const hashes = slices.slice(from, to).map(({ hash }) => hash)
  return toHex(sha256(utf8(hashes.join('\n'))))
}

/** The end of a file, which holds its footer. Throws DecodeError for other bytes than its name says. */
async function readWhole({ path, hash, sizeBytes }: Held): Promise<Uint8Array> {
  const digest = createSha2('sha256')
  const file = await open(path)
  let end: Uint8Array[] = []
  try {
    for (let at = 0; at < sizeBytes;) {
      const { buffer, bytesRead } = await file.read(new Uint8Array(pieceBytes), 0, pieceBytes, at)
      if (bytesRead === 0) break
      const piece = buffer.subarray(0, bytesRead)
      digest.update(piece)
      end = [...end.slice(-1), piece]
      at += bytesRead
    }
  } finally {
    await file.close()
  }
  if (toHex(digest.digest()) !== hash) throw new DecodeError('merged file', 'has other bytes than its name says')
  return concatBytes(end)
}
