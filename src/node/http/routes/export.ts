// GET …/export: a whole dataset as a file, in the order of its offsets.

import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { hashOf } from '../../catalog/objects.ts'
import { NodeError } from '../../../libraries/base/errors.ts'
import type { FileFacts } from '../../../libraries/columnar/outputs/file-format.ts'
import { readFileOptions } from '../../../libraries/formats/file-choices.ts'
import { type ExportRequest, openExport } from '../../answers/export.ts'
import { datasetOf } from '../access.ts'
import { callerOf, keepForEver } from '../answer.ts'
import { BoxAndTime, readBoxAndTime } from '../box-and-time.ts'
import type { ReplicaContext } from '../context.ts'
import { fileNameOf, sendFile } from '../file-answer.ts'
import { At, DatasetParams, FileFormatText, FileParameters } from '../request-target.ts'

const ExportQuery = Type.Object(
  {
    format: Type.Optional(FileFormatText),
    at: At,
    columns: Type.Optional(
      Type.String({
        maxLength: 65_536,
        description: 'Columns, separated by commas. A name with a comma goes in double quotes.',
      }),
    ),
    system: Type.Optional(
      Type.String({
        pattern: '^(?:true|false)$',
        description: 'Whether to include offset, op and system_time (default: true, in GeoJSON false).',
      }),
    ),
    where: Type.Optional(Type.String({ maxLength: 65_536, description: 'A condition in SQL: celsius > 20.' })),
    ...BoxAndTime,
    ...FileParameters,
  },
  { additionalProperties: false },
)

export function registerExport(app: FastifyInstance, context: ReplicaContext): void {
  app.get(
    '/:account/:dataset/export',
    { config: { right: 'read', runs: true }, schema: { params: DatasetParams, querystring: ExportQuery } },
    async (request, reply) => {
      const { chain } = await datasetOf(context.catalog, request, 'read')
      const query = request.query as Static<typeof ExportQuery> // ExportQuery validated it
      const { outputs } = context
      const format = outputs.file(query.format ?? outputs.accepted(request.headers.accept)?.name ?? 'Parquet')
      const wanted = {
        format,
        options: readFileOptions(query, format),
        at: query.at === undefined ? undefined : hashOf(query.at),
        columns: chosenColumns(query, format),
        where: query.where,
        ...readBoxAndTime(query),
      }
      const file = await openExport(context.replica, chain, wanted, callerOf(context, request, reply))
      if (wanted.at !== undefined && file.tag !== undefined) keepForEver(reply, context, chain.name)
      else
        void reply.header('cache-control', request.principal.tokenId === undefined ? 'no-cache' : 'private, no-cache')
      const asQuery = { sql: file.sql, skip: 0 }
      return await sendFile(context, request, reply, {
        format,
        file,
        name: fileNameOf(file.heads),
        query: file.isProvable ? asQuery : undefined,
        truncated: false,
        isPinned: wanted.at !== undefined,
      })
    },
  )
}

/** Throws NodeError `InvalidParameter`. */
function chosenColumns(
  { columns, system }: Static<typeof ExportQuery>,
  { hasSystemColumns }: FileFacts,
): ExportRequest['columns'] {
  if (columns === undefined) {
    return (system ?? String(hasSystemColumns)) === 'true' ? 'all' : 'withoutSystem'
  }
  if (system === undefined) return splitNames(columns)
  throw new NodeError('InvalidParameter', 'columns names every column of the file: leave system away.')
}

/** `a,"b,c",d` → three names; a doubled quote inside quotes is one. */
function splitNames(text: string): string[] {
  const names: string[] = []
  const name = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y
  for (;;) {
    const found = name.exec(text)
    if (found === null)
      throw new NodeError('InvalidParameter', 'columns has a quote that is not closed, or is out of place.')
    names.push((found[1]?.replaceAll('""', '"') ?? found[2] ?? '').trim())
    if (found[3] === '') return names
  }
}
