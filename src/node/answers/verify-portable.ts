// A proof over the portable form of its engine: the datasets that it names, at their blocks, as slices that are handed over in
// pieces. There is no gate and no parser here: the process is given the rows that the caller may read, and nothing else.

import type { DatasetView } from '../catalog/dataset-chain.ts'
import type { Engines } from '../engine/engines.ts'
import { portableBytesMost } from '../../libraries/proof/rerun/tables.ts'
import type { PortableVerdict } from '../../libraries/proof/rerun/verdict.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { must } from '../../libraries/base/assert.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { ReadProof } from '../../libraries/proof/read-proof.ts'
import type { SliceReading } from '../files/slice-files.ts'
import type { BindDeps } from './bind.ts'
import { type Caller, Reader, viewAt } from './pin.ts'

const pieceBytes = 1024 * 1024
/** Slices whose sizes are added up at a time. */
const turnSlices = 8192

/** What the portable form of a version says of a proof whose pins were checked, and the digest of its module. */
export async function judgePortable(
  deps: BindDeps & { readonly engines: Engines },
  version: string,
  { proof, caller }: { readonly proof: ReadProof; readonly caller: Caller },
): Promise<{ readonly verdict: PortableVerdict; readonly digest: string } | undefined> {
  const { signal } = caller
  const reader = new Reader(deps.catalog, caller.mayRead)
  const views: { readonly alias: string; readonly view: DatasetView }[] = []
  for (const { id, alias, blockHash = '' } of proof.request.datasets ?? []) {
    const chain = must(await reader.find(id), 'its pins were checked')
    views.push({ alias, view: await viewAt(deps.catalog, chain, blockHash) })
  }
  if (!(await fit(views.map(({ view }) => view)))) return undefined
  const open: SliceReading[] = []
  try {
    for (const { view } of views) open.push(await sliceReading(deps, view, signal))
    const tables = views.map(({ alias, view }) => ({ alias, schema: view.schema, slices: view.slices.length }))
    const read = (table: number, slice: number): AsyncIterable<Uint8Array> =>
      piecesOf(must(open[table], 'each table is open'), slice, must(views[table]?.view.slices.at(slice), 'it is there'))
    return await deps.engines.portable(version, { proof, tables }, { read, signal })
  } catch (error) {
    // More than files of this node may take.
    if (error instanceof NodeError && error.kind === 'QueryNotAllowed') return undefined
    throw error
  } finally {
    for (const reading of open) reading.close()
  }
}

/** Whether all rows together are as much as a process takes. */
async function fit(views: readonly DatasetView[]): Promise<boolean> {
  let bytes = 0
  for (const { slices } of views) {
    for (let number = 0; number < slices.length; number++) {
      bytes += slices.at(number)?.sizeBytes ?? 0
      if (bytes > portableBytesMost) return false
      if (number % turnSlices === turnSlices - 1) await nextTurn()
    }
  }
  return true
}

/** The slices of a view, checked. */
async function sliceReading(
  { objects, files }: BindDeps,
  view: DatasetView,
  signal: AbortSignal,
): Promise<SliceReading> {
  await objects.checkSlices(view)
  const numbers = Array.from({ length: view.slices.length }, (_, number) => number)
  const at = (number: number) => must(view.slices.at(number), 'a view has the slices of its chain up to its block')
  return await files.slices.reading({ id: view.id, numbers, at }, signal)
}

async function* piecesOf(
  reading: SliceReading,
  number: number,
  { sizeBytes }: { readonly sizeBytes: number },
): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < sizeBytes; start += pieceBytes)
    yield await reading.read(number, [start, Math.min(sizeBytes, start + pieceBytes)])
}
