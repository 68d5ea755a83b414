// The newest rows of a dataset, ascending by offset, read from just the slices that hold them.

import { type DatasetView, viewOf } from '../catalog/dataset-chain.ts'
import { utf8 } from '../lib/bytes.ts'
import type { DataFormat, SchemaFormat } from '../model/query.ts'
import { systemFields } from '../model/schema.ts'
import { schemaBytes } from '../odf/schema-formats.ts'
import { askingOf, type Caller, Reader, viewAt, viewFiles } from './pin.ts'
import { answerTag, jsonMembers, type QueryAnswer, type ReplicaDeps } from './query.ts'

export interface TailRequest {
  readonly alias: string
  /** Rows left out, counted from the newest. */
  readonly skip: number
  readonly limit: number
  readonly dataFormat: DataFormat
  readonly schemaFormat: SchemaFormat | undefined
  /** Hash of a block; the head when undefined. */
  readonly at: string | undefined
}

export type TailAnswer = Pick<QueryAnswer, 'body' | 'truncated'>

/** The statement behind every tail: offset order is kept for a scan of one dataset (design.md, decision 12). */
const tailStatement = 'SELECT * FROM "tail"'

/** A tail whose block is chosen and whose rows are not yet read. */
export interface OpenTail {
  readonly head: string
  /** Names the bytes of the answer. */
  readonly tag: string
  /** Rows `[rows - skip - limit, rows - skip)`. */
  answer(): Promise<TailAnswer>
}

/** Throws NodeError `DatasetNotFound`, `BlockNotFound`. */
export async function openTail(deps: ReplicaDeps, request: TailRequest, caller: Caller): Promise<OpenTail> {
  const chain = await new Reader(deps.catalog, caller.mayRead).need(request.alias)
  const view = request.at === undefined ? viewOf(chain) : await viewAt(deps.catalog, chain, request.at)
  const head = view.block.hash
  const { skip, limit, dataFormat, schemaFormat } = request
  return {
    head,
    tag: answerTag(deps.engine.dialect, { tail: head, skip, limit, dataFormat, schemaFormat }),
    answer: async () => await answerTail(deps, request, { view, caller }),
  }
}

async function answerTail(
  deps: ReplicaDeps,
  request: TailRequest,
  { view, caller }: { view: DatasetView; caller: Caller },
): Promise<TailAnswer> {
  const end = Math.max(0, view.rows - request.skip)
  const start = Math.max(0, end - request.limit)
  const run = slicesOf(view, start, end)
  await deps.check.slices(view, run)
  const job = {
    tables: [{ parts: ['tail'], dataset: view.id, files: viewFiles(deps.store, view, run), schema: view.schema }],
    reproducible: true,
    dataFormat: request.dataFormat,
    wantSchema: false,
    keyOrder: 'column' as const,
    ascii: false,
    skip: start - (view.slices.at(run.from)?.start ?? start),
    limit: end - start,
  }
  const running = deps.engine.runOwn(tailStatement, job, askingOf(deps.catalog, caller))
  const answer = await running.catch((error: unknown) => deps.check.blame(error, [view]))
  const parts: [string, Uint8Array][] = [
    ['data', answer.data],
    ['dataFormat', utf8(JSON.stringify(request.dataFormat))],
  ]
  if (request.schemaFormat !== undefined) {
    const schema = view.schema ?? { fields: systemFields(view.vocabulary) }
    parts.push(['schema', schemaBytes(schema, request.schemaFormat)])
    parts.push(['schemaFormat', utf8(JSON.stringify(request.schemaFormat))])
  }
  if (start > 0) parts.push(['truncated', utf8('true')])
  return { body: jsonMembers(parts), truncated: start > 0 }
}

/** Numbers of the slices with rows in `[start, end)`. */
function slicesOf({ slices }: DatasetView, start: number, end: number): { from: number; to: number } {
  return start < end ? { from: slices.numberWith(start), to: slices.numberWith(end - 1) + 1 } : { from: 0, to: 0 }
}
