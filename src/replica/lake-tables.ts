// Datasets as Iceberg tables: the metadata of a table, lists of manifests and manifests, made when they are asked for, from
// the chain and the footers of its slices. Names of files say what is in them, so that nothing is stored and every node gives
// the same bytes. What footers say is kept by runs of 1,000 slices, in memory, bounded.

import { type DatasetChain, type DatasetView, viewOf } from '../catalog/dataset-chain.ts'
import type { Objects } from '../catalog/objects.ts'
import type { SliceRef } from '../catalog/packed-blocks.ts'
import { dataFileFacts } from '../iceberg/data-files.ts'
import {
  type ListedManifest,
  manifestFile,
  manifestList,
  manifestName,
  type ManifestRun,
  manifestRuns,
  manifestSlices,
} from '../iceberg/manifests.ts'
import { listName, metadataName, snapshotsMost, tableMetadata, type TableSnapshot } from '../iceberg/table-metadata.ts'
import { type TableSchemas, tableSchemas } from '../iceberg/table-schema.ts'
import { must } from '../lib/assert.ts'
import { concatBytes, utf8 } from '../lib/bytes.ts'
import { nextTurn } from '../lib/clock.ts'
import type { DatasetId } from '../model/events.ts'
import { instantMs } from '../model/instant.ts'
import { type DataSchema, systemFields } from '../model/schema.ts'
import { editedEnd } from '../parquet/edit-footer.ts'
import { dataKey } from '../store/layout.ts'
import type { SliceRun } from './file-list.ts'
import { endOfFile } from './slice-times.ts'

/** What is kept of footers. */
const heldBytesMost = 64 * 1024 * 1024
/** Footers that are read at once. */
const parallelReads = 16
/** Kinds of files in the folder `metadata`, each with what it is of. */
const namePattern = /^(v|snap-|slices-|added-)(\d{1,9})(-(\d{1,9}))?(?:\.metadata\.json|\.avro)$/
/** Lengths of full manifests that are remembered. */
const lengthsMost = 100_000

/** What is known of the slices of a full manifest, as far as they were read. */
interface Page {
  readonly facts: Uint8Array[]
  reading: Promise<unknown>
}

export class LakeTables {
  readonly #objects: Objects
  /** Least recently used first. */
  readonly #pages = new Map<string, Page>()
  #heldBytes = 0
  /** By dataset, name, and how long the URI of the table is. */
  readonly #lengths = new Map<string, number>()

  constructor(objects: Objects) {
    this.#objects = objects
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** The metadata of the dataset as of block `sequence`, with its files under `location`, a URI without a slash at the end. */
  table(chain: DatasetChain, sequence: number, location: string): object {
    const view = viewOf(chain, sequence)
    return tableMetadata({
      id: view.id,
      location,
      timeMs: instantMs(view.block.systemTime),
      blockHash: view.block.hash,
      description: view.info?.description,
      schemas: schemasOf(chain, sequence),
      snapshots: snapshotsOf(chain, view),
    })
  }

  /**
   * A file of the folder `metadata` under `location` by its name; undefined where the dataset has no such. Throws HaltError
   * `ChainBroken` for a slice that is not what its block says.
   */
  async file(chain: DatasetChain, name: string, location: string): Promise<Uint8Array | undefined> {
    const [, kind, first, , second] = namePattern.exec(name) ?? []
    const [from, to] = [Number(first), Number(second)]
    if (kind === 'v') {
      if (from > chain.headSequence || name !== metadataName({ sequence: from })) return undefined
      return utf8(JSON.stringify(this.table(chain, from, location)))
    }
    if (kind === 'snap-') {
      if (from > chain.headSequence || name !== listName({ sequence: from })) return undefined
      return this.#list(chain, from, location)
    }
    const run = kind === 'added-' ? { from, to: from + 1, isAdded: true } : { from, to, isAdded: false }
    if (!(run.to <= chain.slices.length && run.from < run.to) || manifestName(run) !== name) return undefined
    const isRun = run.isAdded || (from % manifestSlices === 0 && to - from <= manifestSlices)
    return isRun ? await this.#manifest(chain, run, location) : undefined
  }

  /**
   * The file of a slice that was checked: its pages, and a footer that engines take rightly (parquet/edit-footer.ts).
   */
  async dataFile(id: DatasetId, slice: StoredSlice): Promise<DataFileBytes> {
    const { sizeBytes, pageBytes, end } = fileOf(slice, await this.#endOf(id, slice))
    const read = async (from: number, to: number): Promise<Uint8Array> => {
      const behind = end.subarray(Math.max(0, from - pageBytes), Math.max(0, to - pageBytes))
      if (from >= pageBytes) return behind
      const pages = await this.#objects.read(dataKey(id, slice.hash), from, Math.min(to, pageBytes))
      return behind.length === 0 ? pages : concatBytes([pages, behind])
    }
    return { sizeBytes, read }
  }

  /** The list of the snapshot of block `sequence`; undefined for a block that brought no rows. */
  async #list(chain: DatasetChain, sequence: number, location: string): Promise<Uint8Array | undefined> {
    const { slices } = viewOf(chain, sequence)
    const last = slices.length - 1
    if (slices.at(last)?.sequence !== sequence) return undefined
    const manifests: ListedManifest[] = []
    for (const run of manifestRuns(last)) manifests.push(await this.#listed(chain, run, location))
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
    return { ...run, uri, sizeBytes, rows, firstSequence: first.sequence, lastSequence: last.sequence }
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
    const page = this.#pages.get(key) ?? { facts: [], reading: Promise.resolve() }
    this.#pages.delete(key)
    this.#pages.set(key, page)
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
      const ends = await Promise.all(slices.map(async (slice) => await this.#endOf(view.id, slice)))
      for (const [at, end] of ends.entries()) {
        const slice = sliceAt(chain, from + at)
        const { sizeBytes } = fileOf(slice, end)
        const facts = dataFileFacts({ rows: slice.end + 1 - slice.start, sizeBytes }, end, columns)
        page.facts.push(facts)
        if (this.#pages.get(key) === page) this.#heldBytes += facts.length
      }
      await nextTurn()
    }
  }

  /** The end of a slice that was checked, with its whole footer. */
  async #endOf(id: DatasetId, { hash, sizeBytes }: StoredSlice): Promise<Uint8Array> {
    return await endOfFile(sizeBytes, (from, to) => this.#objects.read(dataKey(id, hash), from, to))
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

type StoredSlice = Pick<SliceRef, 'hash' | 'sizeBytes'>

export interface DataFileBytes {
  readonly sizeBytes: number
  /** Bytes [from, to). */
  readonly read: (from: number, to: number) => Promise<Uint8Array>
}

/** What the file of a slice is made of, whose end with its whole footer this is. */
function fileOf(
  { sizeBytes }: Pick<StoredSlice, 'sizeBytes'>,
  ofSlice: Uint8Array,
): { readonly sizeBytes: number; readonly pageBytes: number; readonly end: Uint8Array } {
  const { replacedBytes, end } = editedEnd(ofSlice)
  const pageBytes = sizeBytes - replacedBytes
  return { sizeBytes: pageBytes + end.length, pageBytes, end }
}

function sliceAt({ slices }: Pick<DatasetChain, 'slices'>, number: number): SliceRef {
  return must(slices.at(number), 'a slice of the chain')
}

/** Every schema up to block `sequence`, in order, with the block that set it. */
function historyOf(chain: DatasetChain, sequence: number): { readonly schema: DataSchema; readonly since: number }[] {
  const history: { readonly schema: DataSchema; readonly since: number }[] = []
  for (let at = sequence; at >= 0; ) {
    const { schema, schemaSequence } = chain.aspectsAt(at)
    if (schema === undefined) break
    history.unshift({ schema, since: schemaSequence })
    at = schemaSequence - 1
  }
  return history
}

function schemasOf(chain: DatasetChain, sequence: number): TableSchemas {
  const history = historyOf(chain, sequence).map(({ schema }) => schema)
  return tableSchemas(history.length > 0 ? history : [{ fields: systemFields(chain.aspectsAt(sequence).vocabulary) }])
}

function snapshotsOf(chain: DatasetChain, { slices }: DatasetView): TableSnapshot[] {
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
    }
  })
}
