// What a statement takes and gives, without running it: types of its parameters and its columns, told by the writer of a file
// format before any row. Parameters whose type nothing tells have none; columns that depend on those are text.

import type { DuckDBPreparedStatement, DuckDBType } from '@duckdb/node-api'
import type { FileColumn } from '../../../libraries/columnar/outputs/file-format.ts'
import { resultColumn } from './columns.ts'
import { beginWriter, type StreamSink } from './stream.ts'
import type { StreamEnd, StreamJob } from '../messages.ts'

/** Writes what `format` says of a statement that was prepared without values. Throws NodeError as `beginWriter`. */
export async function describeStatement(
  prepared: DuckDBPreparedStatement,
  sink: StreamSink,
  job: Pick<StreamJob, 'format' | 'module' | 'options'>,
): Promise<StreamEnd> {
  const parameterTypes = Array.from({ length: prepared.parameterCount }, (_, at) => {
    const name = prepared.parameterName(at + 1)
    return { name, column: factsOf(name, () => prepared.parameterType(at + 1)) }
  })
  const columns = Array.from({ length: prepared.columnCount }, (_, at): FileColumn => {
    const name = prepared.columnName(at)
    return factsOf(name, () => prepared.columnType(at)) ?? { name, type: { kind: 'String' }, means: 'value' }
  })
  const { writer } = await beginWriter(columns, { ...job, parameterTypes })
  for (const piece of writer.end()) await sink.write(piece)
  return { rows: 0, truncated: false }
}

function factsOf(name: string, typeOf: () => DuckDBType): FileColumn | undefined {
  let type: DuckDBType
  try {
    type = typeOf()
  } catch {
    // The binding says so of a type that is not known yet.
    return undefined
  }
  return resultColumn(name, type, { hasLists: false }).facts
}
