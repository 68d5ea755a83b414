// Datasets as Iceberg tables: the metadata of a table, lists of manifests and manifests, made when they are asked for, from
// the chain and the footers of its files: slices, and for engines that read at this node, merged files in place of many of
// them. Names of files say what is in them, so that nothing is stored and every node gives the same bytes; only which merged
// files a list has is for the node that is asked. What footers say is kept in memory, by runs of 1,000 slices, bounded.

import { type DatasetChain, type DatasetView, viewOf } from '../../node/catalog/dataset-chain.ts'
import type { Objects } from '../../node/catalog/objects.ts'
import type { SliceRef } from '../../node/catalog/packed-blocks.ts'
import { dataFileFacts } from './data-files.ts'
import {
  existingRuns,
  type ListedManifest,
  manifestFile,
  manifestList,
  manifestName,
  type ManifestRun,
  manifestSlices,
  mergedName,
} from './manifests.ts'
import { listName, metadataName, snapshotsMost, tableMetadata, type TableSnapshot } from './table-metadata.ts'
import { type SchemaForm, type TableSchemas, tableSchemas } from './table-schema.ts'
import { must } from '../../libraries/base/assert.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import type { DatasetId } from '../../libraries/base/ids/identifiers.ts'
import { instantMs } from '../../libraries/model/instant.ts'
import { type DataSchema, systemFields } from '../../libraries/model/schema.ts'
import { dataKey } from '../../node/store/layout.ts'
import type { SliceRun } from '../../node/files/file-list.ts'
import { type DataFileBytes, dataFileOf, type ReadPart, readerOf, sizeWith } from './lake-files.ts'
import type { Merging } from '../../node/files/files.ts'
import type { CheckedFile } from '../../node/files/merged-files.ts'
import { rangeSlices } from '../../node/files/merged-ranges.ts'
import { endOfFile } from '../../node/files/slice-times.ts'

/** What is kept of footers. */
const heldBytesMost = 64 * 1024 * 1024
/** Footers that are read at once. */
const parallelReads = 16
/** Kinds of files in the folder `metadata`, each with what it is of. */
const namePattern = /^(v|snap-|slices-|added-)(\d{1,9})(-(\d{1,9})|-merged)?(?:\.metadata\.json|\.avro)$/
/** A merged file, or its manifest. */
const mergedPattern = /^merged-(\d{1,9})-(\d{1,9})-([0-9a-f]{64})\.(?:avro|parquet)$/
/** Lengths of full manifests that are remembered. */
const lengthsMost = 100_000

/** Where the files of a table lie for its reader. */
export interface TablePlace {
  /** A URI without a slash at the end. */
  readonly location: string
  /** It is this node that is asked for them, and it may name merged files. */
  readonly isHere: boolean
  /** For whom its schemas are written; `exact` by default. */
  readonly form?: SchemaForm
}

/** What is known of the slices of a full manifest, as far as they were read; or of a merged file. */
interface Page {
  readonly facts: Uint8Array[]
  reading: Promise<unknown>
}

export class LakeTables {
  readonly #objects: Objects
  readonly #source: Merging | undefined
  /** Least recently used first. */
  readonly #pages = new Map<string, Page>()
  #heldBytes = 0
  /** By dataset, name, and how long the URI of the table is. */
  readonly #lengths = new Map<string, number>()

  constructor(objects: Objects, source?: Merging) {
    this.#objects = objects
    this.#source = source
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** The metadata of the dataset as of block `sequence`. */
  table(chain: DatasetChain, sequence: number, { location, isHere, form }: TablePlace): object {
    const view = viewOf(chain, sequence)
    return tableMetadata({
      id: view.id,
      location,
      timeMs: instantMs(view.block.systemTime),
      blockHash: view.block.hash,
      description: view.info?.description,
      schemas: schemasOf(chain, sequence, form),
      snapshots: snapshotsOf(chain, view, isHere && this.#source !== undefined),
    })
  }

  /**
   * A file of the folder `metadata` by its name; undefined where the dataset has no such. Throws HaltError `ChainBroken`
   * for a slice that is not what its block says, NodeError `Saturated` where a merged file has to be made again, later.
   */
  async file(chain: DatasetChain, name: string, place: TablePlace): Promise<Uint8Array | undefined> {
    const { location } = place
    const found = place.isHere ? await this.#mergedNamed(chain, name, '.avro') : undefined
    if (found !== undefined) return await this.#mergedManifest(chain, found, location)
    const [, kind, first, , second] = namePattern.exec(name) ?? []
    const [from, to] = [Number(first), Number(second)]
    if (kind === 'v') {
      if (from > chain.headSequence || name !== metadataName({ sequence: from })) return undefined
      return utf8(JSON.stringify(this.table(chain, from, place)))
    }
    if (kind === 'snap-') {
      const isMerged = place.isHere && name.endsWith('-merged.avro')
      if (from > chain.headSequence || name !== listName({ sequence: from, isMerged })) return undefined
      return this.#list(chain, from, { location, isMerged })
    }
    const run = kind === 'added-' ? { from, to: from + 1, isAdded: true } : { from, to, isAdded: false }
    if (!(run.to <= chain.slices.length && run.from < run.to) || manifestName(run) !== name) return undefined
    const isRun = run.isAdded || existingRuns(from, to).length === 1
    return isRun ? await this.#manifest(chain, run, location) : undefined
  }

  /**
   * The file of a slice that was checked: its pages, and a footer that engines take rightly (libraries/columnar/parquet/edit-footer.ts).
   */
  async dataFile(id: DatasetId, slice: Pick<SliceRef, 'hash' | 'sizeBytes'>): Promise<DataFileBytes> {
    return await dataFileOf(slice.sizeBytes, this.#readerOf(id, slice))
  }

  /** A merged file by the name that manifests give it, likewise; undefined where there is none of this name. */
  async mergedFile(
    chain: DatasetChain,
    name: string,
  ): Promise<(DataFileBytes & { readonly hash: string }) | undefined> {
    const found = await this.#mergedNamed(chain, name, '.parquet')
    if (found === undefined) return undefined
    return { hash: found.hash, ...(await dataFileOf(found.sizeBytes, readerOf(found.path))) }
  }

  /** A merged file that is here, or is made. */
  async #mergedNamed(chain: DatasetChain, name: string, ending: string): Promise<CheckedFile | undefined> {
    const [, from, to, hash] = mergedPattern.exec(name.endsWith(ending) ? name : '') ?? []
    if (hash === undefined || this.#source === undefined || Number(to) > chain.slices.length) return undefined
    const run = { from: Number(from), to: Number(to) }
    const { merged, maker } = this.#source
    const found = await merged.find(viewOf(chain), run, hash)
    if (found !== undefined || !(await maker.need(chain, run))) return found
    // Made of the same rows by the same program it has the same bytes; else the reader reads the table anew.
    return await merged.find(viewOf(chain), run, hash)
  }

  /** The list of the snapshot of block `sequence`; undefined for a block that brought no rows. */
  async #list(
    chain: DatasetChain,
    sequence: number,
    { location, isMerged }: Pick<TablePlace, 'location'> & { readonly isMerged: boolean },
  ): Promise<Uint8Array | undefined> {
    const { slices } = viewOf(chain, sequence)
    const last = slices.length - 1
    if (slices.at(last)?.sequence !== sequence || (isMerged && last < rangeSlices)) return undefined
    const manifests: ListedManifest[] = []
    let from = 0
    for (const file of isMerged ? await this.#mergedBefore(chain, last) : []) {
      for (const run of existingRuns(from, file.from)) manifests.push(await this.#listed(chain, run, location))
      manifests.push(await this.#listedMerged(chain, file, location))
      from = file.to
    }
    for (const run of existingRuns(from, last)) manifests.push(await this.#listed(chain, run, location))
    manifests.push(await this.#listed(chain, { from: last, to: last + 1, isAdded: true }, location))
    return manifestList({ sequence, parent: last > 0 ? slices.at(last - 1)?.sequence : undefined }, manifests)
  }

  async #listed(chain: DatasetChain, run: ManifestRun, location: string): Promise<ListedManifest> {
    const uri = `${location}/metadata/${manifestName(run)}`
    const key = `${chain.name.id} ${manifestName(run)} ${utf8(location).length}`
    const [first, last] = [sliceAt(chain, run.from), sliceAt(chain, run.to - 1)]
    const sizeBytes = this.#lengths.get(key) ?? (await this.#manifest(chain, run, location)).length
    if (this.#lengths.size >= lengthsMost) this.#lengths.clear()
    if (run.to - run.from === manifestSlices) this.#lengths.set(key, sizeBytes)
    const rows = last.end + 1 - first.start
    const sequences = { firstSequence: first.sequence, lastSequence: last.sequence }
    return { isAdded: run.isAdded, uri, sizeBytes, files: run.to - run.from, rows, ...sequences }
  }

  /** Files of the slices below `last`, in order; missing ones are made behind the reader. */
  async #mergedBefore(chain: DatasetChain, last: number): Promise<readonly CheckedFile[]> {
    const view = viewOf(chain, sliceAt(chain, last - 1).sequence)
    this.#source?.maker.wanted(view)
    return (await this.#source?.merged.of(view)) ?? []
  }

  async #listedMerged(chain: DatasetChain, file: CheckedFile, location: string): Promise<ListedManifest> {
    const uri = `${location}/metadata/${mergedName(file)}.avro`
    const { sequence, end } = sliceAt(chain, file.to - 1)
    const { length: sizeBytes } = await this.#mergedManifest(chain, file, location)
    const rows = end + 1 - sliceAt(chain, file.from).start
    return { isAdded: false, uri, sizeBytes, files: 1, rows, firstSequence: sequence, lastSequence: sequence }
  }

  /** The manifest of a merged file: as a file of the last of its blocks. */
  async #mergedManifest(chain: DatasetChain, file: CheckedFile, location: string): Promise<Uint8Array> {
    const { sequence, end } = sliceAt(chain, file.to - 1)
    const key = `${chain.name.id} ${mergedName(file)}`
    const page = this.#pageOf(key)
    const rows = end + 1 - sliceAt(chain, file.from).start
    const readOn = async (): Promise<void> => {
      if (page.facts.length > 0) return
      const bytes = await endOfFile(file.sizeBytes, readerOf(file.path))
      const { columns } = schemasOf(chain, chain.headSequence)
      this.#keep(key, page, dataFileFacts({ rows, sizeBytes: sizeWith(file.sizeBytes, bytes) }, bytes, columns))
    }
    page.reading = page.reading.then(readOn, readOn)
    await page.reading
    this.#dropOldest(key)
    const uri = `${location}/data/${mergedName(file)}.parquet`
    const { schemas } = schemasOf(chain, sequence)
    const facts = must(page.facts[0], 'what the footer says')
    return manifestFile(must(schemas.at(-1), 'a table has a schema'), { isAdded: false }, [{ sequence, uri, facts }])
  }

  #pageOf(key: string): Page {
    const page = this.#pages.get(key) ?? { facts: [], reading: Promise.resolve() }
    this.#pages.delete(key)
    this.#pages.set(key, page)
    return page
  }

  #keep(key: string, page: Page, facts: Uint8Array): void {
    page.facts.push(facts)
    if (this.#pages.get(key) === page) this.#heldBytes += facts.length
  }

  async #manifest(chain: DatasetChain, run: ManifestRun, location: string): Promise<Uint8Array> {
    const { schemas } = schemasOf(chain, sliceAt(chain, run.to - 1).sequence)
    const facts = await this.#factsOf(chain, run)
    const entries = facts.map((one, at) => {
      const { sequence, hash } = sliceAt(chain, run.from + at)
      return { sequence, uri: `${location}/data/${hash}.parquet`, facts: one }
    })
    return manifestFile(must(schemas.at(-1), 'a table has a schema'), run, entries)
  }

  /** What is known of the slices of a run, which lie in one page. */
  async #factsOf(chain: DatasetChain, { from, to }: SliceRun): Promise<readonly Uint8Array[]> {
    const number = Math.floor(from / manifestSlices)
    const key = `${chain.name.id} ${number}`
    const page = this.#pageOf(key)
    const first = number * manifestSlices
    const readOn = (): Promise<void> => this.#read(chain, { key, page, first, to })
    page.reading = page.reading.then(readOn, readOn)
    await page.reading
    this.#dropOldest(key)
    return page.facts.slice(from - first, to - first)
  }

  async #read(
    chain: DatasetChain,
    wanted: { readonly key: string; readonly page: Page; readonly first: number; readonly to: number },
  ): Promise<void> {
    const { key, page, first, to } = wanted
    const view = viewOf(chain)
    const { columns } = schemasOf(chain, view.block.sequence)
    for (let from = first + page.facts.length; from < to; from = first + page.facts.length) {
      const run = { from, to: Math.min(from + parallelReads, to) }
      await this.#objects.checkSlices(view, run)
      const slices = view.slices.slice(run.from, run.to)
      const ends = await Promise.all(slices.map((slice) => endOfFile(slice.sizeBytes, this.#readerOf(view.id, slice))))
      for (const [at, end] of ends.entries()) {
        const slice = sliceAt(chain, from + at)
        const sizeBytes = sizeWith(slice.sizeBytes, end)
        this.#keep(key, page, dataFileFacts({ rows: slice.end + 1 - slice.start, sizeBytes }, end, columns))
      }
      await nextTurn()
    }
  }

  #readerOf(id: DatasetId, { hash }: Pick<SliceRef, 'hash'>): ReadPart {
    return (from, to) => this.#objects.read(dataKey(id, hash), from, to)
  }

  #dropOldest(but: string): void {
    for (const [key, { facts }] of this.#pages) {
      if (this.#heldBytes <= heldBytesMost) return
      if (key === but) continue
      this.#pages.delete(key)
      this.#heldBytes -= facts.reduce((sum, { length }) => sum + length, 0)
    }
  }
}

function sliceAt({ slices }: Pick<DatasetChain, 'slices'>, number: number): SliceRef {
  return must(slices.at(number), 'a slice of the chain')
}

/** Every schema up to block `sequence`, in order, with the block that set it. */
function historyOf(chain: DatasetChain, sequence: number): { readonly schema: DataSchema; readonly since: number }[] {
  const history: { readonly schema: DataSchema; readonly since: number }[] = []
  for (let at = sequence; at >= 0;) {
    const { schema, schemaSequence } = chain.aspectsAt(at)
    if (schema === undefined) break
    history.unshift({ schema, since: schemaSequence })
    at = schemaSequence - 1
  }
  return history
}

function schemasOf(chain: DatasetChain, sequence: number, form?: SchemaForm): TableSchemas {
  const history = historyOf(chain, sequence).map(({ schema }) => schema)
  const { vocabulary } = chain.aspectsAt(sequence)
  return tableSchemas(history.length > 0 ? history : [{ fields: systemFields(vocabulary) }], form)
}

function snapshotsOf(chain: DatasetChain, { slices }: DatasetView, hasMerged: boolean): TableSnapshot[] {
  const history = historyOf(chain, chain.headSequence)
  const first = Math.max(0, slices.length - snapshotsMost)
  return slices.slice(first).map(({ sequence, start, end }, at) => {
    const { hash, systemTime, rows } = must(chain.blocks.at(sequence), 'the block of a slice is in the chain')
    return {
      sequence,
      timeMs: instantMs(systemTime),
      blockHash: hash,
      parent: first + at > 0 ? slices.at(first + at - 1)?.sequence : undefined,
      schemaId: Math.max(
        0,
        history.findLastIndex(({ since }) => since < sequence),
      ),
      files: first + at + 1,
      rows,
      addedRows: end + 1 - start,
      // Behind fewer slices there is no merged file.
      isMerged: hasMerged && first + at >= rangeSlices,
    }
  })
}
