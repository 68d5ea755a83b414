// The rows of a bundle as tables of the engine in the page: each name of the statement stands for the rows that its dataset
// had at its block, read from slices whose hashes were checked, with the columns of the schema at that block.

import { decompress } from 'fzstd'
import { nullColumn } from '../../libraries/columnar/arrow/null-column.ts'
import { encodeArrowStream } from '../../libraries/columnar/arrow/ipc.ts'
import { checkNext, type ChainState, emptyChain } from '../../libraries/odf/chain/rules.ts'
import { sqlTypeName } from '../../libraries/model/sql-types.ts'
import { dataOf, type MetadataBlock } from '../../libraries/model/events.ts'
import { type DataSchema, type Field, innerType } from '../../libraries/model/schema.ts'
import { openSlice } from '../../libraries/columnar/parquet/read-slice.ts'
import type { AskedDataset } from '../../libraries/proof/verify.ts'
import { EngineFailure, type WasmEngine } from './portable-engine.ts'

/** The page holds them in memory, and the engine once more. */
const sliceBytesMost = 512 * 1024 * 1024

/** Chains and slices of a bundle, as they come out of it. */
export class BundleRows {
  readonly #chains = new Map<string, { state: ChainState; readonly slices: string[] }>()
  /** By hash of block. */
  readonly #at = new Map<string, { readonly schema: DataSchema | undefined; readonly slices: readonly string[] }>()
  readonly #pieces = new Map<string, Uint8Array[]>()
  #bytes = 0

  /** `named`: blocks whose rows will be asked for. */
  block(id: string, of: { readonly hash: string; readonly block: MetadataBlock; readonly isNamed: boolean }): void {
    const { hash, block, isNamed } = of
    const chain = this.#chains.get(id) ?? { state: emptyChain, slices: [] }
    chain.state = checkNext(chain.state, block, hash)
    const newData = dataOf(block.event)?.newData
    if (newData !== undefined) chain.slices.push(newData.physicalHash)
    this.#chains.set(id, chain)
    if (isNamed) this.#at.set(hash, { schema: chain.state.schema, slices: [...chain.slices] })
  }

  /** Throws EngineFailure for more than the page can hold. */
  slice(path: string, piece: Uint8Array): void {
    this.#bytes += piece.length
    if (this.#bytes > sliceBytesMost) throw new EngineFailure('the bundle has more rows than this page holds in memory')
    const hash = path.slice(path.lastIndexOf('/') + 1)
    const pieces = this.#pieces.get(hash) ?? []
    pieces.push(piece.slice())
    this.#pieces.set(hash, pieces)
  }

  /**
   * Makes the tables of the datasets that an answer names. Resolves with whether any column holds floats. Throws
   * EngineFailure, and DecodeError for slices with columns that are not read here.
   */
  async load(engine: WasmEngine, datasets: readonly AskedDataset[]): Promise<{ readonly hasFloats: boolean }> {
    let hasFloats = false
    for (const [number, { id, alias = id, blockHash = '' }] of datasets.entries()) {
      const at = this.#at.get(blockHash)
      if (at?.schema === undefined) throw new EngineFailure(`${alias} has no columns at its block`)
      const { fields } = at.schema
      hasFloats ||= fields.some(({ type }) => /Float/.test(JSON.stringify(type)))
      const table = `rows_${number}`
      const columns = fields.map(({ name, type }) => `${quoted(name)} ${sqlTypeName(type)}`)
      await engine.query(`CREATE TABLE ${table} (${columns.join(', ')})`)
      for (const hash of at.slices) await this.#insert(engine, table, { hash, fields })
      await engine.query(`CREATE VIEW ${quoted(alias)} AS SELECT * FROM ${table}`)
      const slash = alias.indexOf('/')
      if (slash < 0) continue
      const [account, name] = [quoted(alias.slice(0, slash)), quoted(alias.slice(slash + 1))]
      await engine.query(`CREATE SCHEMA IF NOT EXISTS ${account}`)
      await engine.query(`CREATE VIEW ${account}.${name} AS SELECT * FROM ${table}`)
    }
    return { hasFloats }
  }

  async #insert(
    engine: WasmEngine,
    table: string,
    { hash, fields }: { readonly hash: string; readonly fields: readonly Field[] },
  ): Promise<void> {
    const bytes = new Uint8Array(await new Blob(this.#pieces.get(hash) as BlobPart[]).arrayBuffer()) // none is shared
    const content = openSlice(bytes, { decompress: (page, length) => decompress(page, new Uint8Array(length)) })
    const stored = new Map(content.fields.map((field) => [field.name, field]))
    const own = fields.map((field) => stored.get(field.name) ?? { ...field, type: optionOf(field) })
    for await (const batch of content.batches) {
      const columns = own.map(
        (field) => batch.columns.find(({ name }) => name === field.name) ?? nullColumn(field, batch.rows),
      )
      await engine.insert(table, encodeArrowStream(own, [{ ...batch, columns }]))
    }
  }
}

function optionOf({ type }: Field): Field['type'] {
  return { kind: 'Option', inner: innerType(type) }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
