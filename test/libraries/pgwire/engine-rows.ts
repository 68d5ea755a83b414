// The rows of statements of the engine in the formats of PostgreSQL's protocol, as its process writes them.

import { DuckDBInstance } from '@duckdb/node-api'
import { expect } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import type { FileFormat, PostgresForm } from '../../../src/libraries/columnar/outputs/file-format.ts'
import { keepByteOrderMarks } from '../../../src/node/engine/duckdb/open.ts'
import { streamResult } from '../../../src/node/engine/duckdb/stream.ts'

type Connection = Awaited<ReturnType<DuckDBInstance['connect']>>

export class EngineRows {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  static async open(): Promise<EngineRows> {
    keepByteOrderMarks()
    const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
    await connection.run("SET TimeZone = 'UTC'")
    return new EngineRows(connection)
  }

  close(): void {
    this.#connection.closeSync()
  }

  async namesOf(sql: string): Promise<string[]> {
    const prepared = await this.#connection.prepare(sql)
    return Array.from({ length: prepared.columnCount }, (_, at) => prepared.columnName(at))
  }

  /** The pieces of the rows of a statement. */
  async pieces(format: FileFormat, sql: string, postgres: PostgresForm = {}): Promise<Buffer[]> {
    const parts: Buffer[] = []
    const sink = { sentBytes: 0, write: async (bytes: Uint8Array) => void parts.push(Buffer.from(bytes)) }
    await streamResult(this.#connection, sql, sink, {
      format: format.name,
      module: must(format.module, 'a format of the protocol names its module'),
      options: { escapeFormulas: false, geometry: undefined, postgres },
      names: await this.namesOf(sql),
      limit: undefined,
      isKept: false,
      exportBytes: 1e9,
      rowBytes: 1e9,
    })
    return parts
  }
}

/** What CopyData messages carry; each piece is whole messages. */
export function copied(parts: readonly Buffer[]): Buffer {
  const out: Buffer[] = []
  for (const part of parts) {
    for (let at = 0; at < part.length;) {
      expect(part.toString('latin1', at, at + 1)).toBe('d')
      const end = at + 1 + part.readInt32BE(at + 1)
      expect(end).toBeLessThanOrEqual(part.length)
      out.push(part.subarray(at + 5, end))
      at = end
    }
  }
  return Buffer.concat(out)
}
