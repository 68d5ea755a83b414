// The newest rows of a dataset, ascending by offset, read from just the slices that hold them.

import { type DatasetView, viewOf } from '../catalog/dataset-chain.ts'
import type { Asking, EngineTable } from '../engine/messages.ts'
import type { SchemaFormat } from '../../libraries/model/query.ts'
import { systemFields } from '../../libraries/model/schema.ts'
import { schemaBytes } from '../../libraries/odf/schema-formats.ts'
import type { SliceRun } from '../files/file-list.ts'
import type { Files } from '../files/files.ts'
import type { QueryAnswer } from './kept-answers.ts'
import { askingOf, type Caller, Reader, viewAt } from './pin.ts'
import { answerTag, mediaTypeOf, outputOf, type ReplicaDeps } from './query.ts'

interface TailRequest {
  readonly alias: string
  /** Rows left out, counted from the newest. */
  readonly skip: number
  readonly limit: number
  /** Name of an output format. */
  readonly dataFormat: string
  readonly schemaFormat: SchemaFormat | undefined
  /** Hash of a block; the head when undefined. */
  readonly at: string | undefined
}

/** The statement behind every tail: a scan of one dataset keeps the order of offsets (docs/decisions/answers.md#total-order). */
export const tailStatement = 'SELECT * FROM "tail"'

/** Rows `[start, end)` of a dataset, and the slices that hold them. */
export function tailWindow(
  { rows, slices }: DatasetView,
  { skip, limit }: { readonly skip: number; readonly limit: number },
): { readonly start: number; readonly end: number; readonly run: SliceRun } {
  const end = Math.max(0, rows - skip)
  const start = Math.max(0, end - limit)
  const run = start < end ? { from: slices.numberWith(start), to: slices.numberWith(end - 1) + 1 } : { from: 0, to: 0 }
  return { start, end, run }
}

/** The table of the statement of every tail: the rows of a window and no others. Throws as `Files.ofRun`. */
export async function tailTable(
  files: Files,
  view: DatasetView,
  { start, end, run }: ReturnType<typeof tailWindow>,
): Promise<EngineTable> {
  return { parts: ['tail'], ...(await files.ofRun(view, run, { offsets: [start, end - 1] })), rows: end - start }
}

/** A tail whose block is chosen and whose rows are not yet read. */
interface OpenTail {
  readonly head: string
  /** Names the bytes of the answer. */
  readonly tag: string
  /** Rows `[rows - skip - limit, rows - skip)`. */
  answer(): Promise<QueryAnswer>
}

/** Throws NodeError `DatasetNotFound`, `BlockNotFound`. */
export async function openTail(deps: ReplicaDeps, request: TailRequest, caller: Caller): Promise<OpenTail> {
  const chain = await new Reader(deps.catalog, caller.mayRead).need(request.alias)
  const view = request.at === undefined ? viewOf(chain) : await viewAt(deps.catalog, chain, request.at)
  const head = view.block.hash
  const { skip, limit, dataFormat, schemaFormat } = request
  const tag = answerTag(deps.engine.dialect, { tail: head, skip, limit, dataFormat, schemaFormat })
  return {
    head,
    tag,
    answer: async () =>
      await deps.answers.of(tag, caller, async (by) => await answerTail(deps, request, { view, caller: by })),
  }
}

async function answerTail(
  deps: ReplicaDeps,
  { skip, limit, dataFormat, schemaFormat }: TailRequest,
  { view, caller }: { readonly view: DatasetView; readonly caller: Caller },
): Promise<QueryAnswer> {
  const truncated = tailWindow(view, { skip, limit }).start > 0
  const data = await tailRows(deps, view, { skip, limit, dataFormat, asking: askingOf(deps.catalog, caller) })
  const fields = view.schema ?? { fields: systemFields(view.vocabulary) }
  const schema = schemaFormat && schemaBytes(fields, schemaFormat)
  const body = outputOf({ data, dataFormat, schema, schemaFormat, truncated })
  return { body, mediaType: mediaTypeOf(dataFormat), truncated, stability: 'exact' }
}

/** Rows `[rows - skip - limit, rows - skip)` of a dataset as JSON text. Throws as `Engine.run`; HaltError `ChainBroken`. */
export async function tailRows(
  deps: Pick<ReplicaDeps, 'engine' | 'objects' | 'files'>,
  view: DatasetView,
  rows: {
    readonly skip: number
    readonly limit: number
    readonly dataFormat: string
    readonly asking: Asking
    /** Of the text; the limit of that name where absent. */
    readonly resultBytes?: number
  },
): Promise<Uint8Array> {
  const { asking, resultBytes, dataFormat } = rows
  const window = tailWindow(view, rows)
  const job = {
    tables: [await tailTable(deps.files, view, window)],
    reproducible: true,
    dataFormat,
    wantSchema: false,
    keyOrder: 'column' as const,
    ascii: false,
    skip: 0,
    limit: window.end - window.start,
    ...(resultBytes !== undefined && { resultBytes }),
  }
  return (await deps.objects.reading([view], () => deps.engine.runOwn(tailStatement, job, asking))).data
}
