// `export --format iceberg`: a dataset as the files of an Iceberg table, in a directory that engines open without a catalog: its slices
// as they are, and metadata that names them there. What is there already is kept, so that a repeat fetches what is new; the
// metadata appears last, when all that it names lies there.

import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { manifestName, manifestRuns } from '../../features/iceberg/manifests.ts'
import { datasetPath, type NodeClient, openClient } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, failureOf } from '../failure.ts'
import { itemsAt, numberAt, objectOf, textAt } from '../../libraries/base/json/members.ts'
import { pagesOf } from '../pages.ts'
import { createStatusLine, printObject } from '../output.ts'

export interface TableExport {
  readonly dataset: string
  readonly dir: string
  /** Hash or sequence of a block. */
  readonly at: string | undefined
  /** URI of the directory where engines will find it; default: where it is. */
  readonly base: string | undefined
}

/** Prints where the metadata is and what was fetched. Throws CommandFailure. */
export async function exportIceberg(context: CommandContext, { dataset, dir, at, base }: TableExport): Promise<number> {
  const client = await openClient(context)
  const path = datasetPath(dataset)
  const [, account, name] = path.split('/')
  const block = at === undefined ? '' : `@${encodeURIComponent(at)}`
  const table = await client.call({ path: `/iceberg/v1/namespaces/${account}/tables/${name}${block}` })
  const [, files = '', metadata = ''] =
    /^s3:\/(\/.+)\/metadata\/(.+)$/.exec(textAt(table.json(), 'metadata-location') ?? '') ?? []
  const target = {
    client,
    files,
    dir: resolve(dir),
    location: (base ?? pathToFileURL(resolve(dir)).href).replace(/\/+$/, ''),
  }
  const status = createStatusLine()
  let [fetched, slices] = [0, 0]
  try {
    await mkdir(join(target.dir, 'metadata'), { recursive: true })
    await mkdir(join(target.dir, 'data'), { recursive: true })
    // As of that place: merged files, which the table at the node may name, lie nowhere else.
    const { location } = target
    const copied = await client.call({ path: `${files}/metadata/${metadata}`, query: { location } })
    const names = metadataNames(itemsAt(copied.json(), 'snapshots'))
    for (const hash of await sliceHashes(
      client,
      path,
      numberAt(table.json(), 'metadata', 'last-sequence-number') ?? 0,
    )) {
      status.show(`slice ${++slices}`)
      if (await fetchFile(target, `data/${hash}.parquet`, { isKept: true })) fetched++
    }
    for (const file of [...names, metadata]) await fetchFile(target, `metadata/${file}`, { isKept: false })
    await writeFile(join(target.dir, 'metadata', 'version-hint.text'), metadata.replace(/\D/g, ''))
  } catch (error) {
    throw unwritable(target.dir, error)
  } finally {
    status.clear()
  }
  printObject(context.form, objectOf({ metadata: join(target.dir, 'metadata', metadata), slices, fetched }))
  return exitCodes.done
}

/** Lists of manifests, and what they name. */
function metadataNames(snapshots: ReturnType<typeof itemsAt>): readonly string[] {
  const names = new Set<string>()
  for (const snapshot of snapshots) {
    const files = Number(textAt(snapshot, 'summary', 'total-data-files'))
    for (const run of manifestRuns(files - 1)) names.add(manifestName(run))
  }
  for (const snapshot of snapshots) names.add((textAt(snapshot, 'manifest-list') ?? '').replace(/^.*\//, ''))
  return [...names]
}

/** Slices of the blocks up to `sequence`, newest first. */
async function sliceHashes(client: NodeClient, path: string, sequence: number): Promise<readonly string[]> {
  const hashes: string[] = []
  for await (const page of pagesOf(client, { path: `${path}/blocks` }, { items: 'blocks', cursor: 'before' })) {
    for (const block of page) {
      const hash = textAt(block, 'event', 'newData', 'physicalHash')
      if (hash !== undefined && (numberAt(block, 'sequence') ?? 0) <= sequence) hashes.push(hash)
    }
  }
  return hashes
}

interface Target {
  readonly client: NodeClient
  /** Path of the table's files at the node. */
  readonly files: string
  readonly dir: string
  readonly location: string
}

/** Fetches a file of the table; it appears under its name when it is whole. False where it was there already. */
async function fetchFile(
  { client, files, dir, location }: Target,
  name: string,
  { isKept }: { readonly isKept: boolean },
): Promise<boolean> {
  const path = join(dir, name)
  if (isKept && (await stat(path).catch(() => undefined)) !== undefined) return false
  const part = `${path}.part-${process.pid}`
  try {
    await client.call({
      path: `${files}/${name}`,
      query: isKept ? {} : { location },
      sink: async (body) => await pipeline(body, createWriteStream(part)),
    })
    await rename(part, path)
    return true
  } finally {
    await rm(part, { force: true })
  }
}

function unwritable(dir: string, cause: unknown): unknown {
  if (cause instanceof CommandFailure) return cause
  return new CommandFailure(exitCodes.environment, `${dir} cannot be written: ${failureOf(cause).message}`, { cause })
}
