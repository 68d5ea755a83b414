// The portable engine in this process, over what a node hands out: one answer after the other is judged, each over tables of its own.

import { zstdDecompressSync } from 'node:zlib'
import { must } from '../../../src/libraries/base/assert.ts'
import { parseJson } from '../../../src/libraries/base/json/json.ts'
import type { DataSchema } from '../../../src/libraries/model/schema.ts'
import { schemaFromJson } from '../../../src/libraries/odf/odf-json.ts'
import { readProof } from '../../../src/libraries/proof/read-proof.ts'
import { dialect, engineVersion } from '../../../src/node/engine/messages.ts'
import { connectDriver } from '../../../src/node/engine/portable-driver.ts'
import { PortableEngine } from '../../../src/libraries/proof/rerun/engine.ts'
import { findPortableModule } from '../../../src/node/engine/portable-module.ts'
import { type PortableVerdict, rerun } from '../../../src/libraries/proof/rerun/verdict.ts'
import type { LiveNode } from '../../helpers/live-node.ts'

interface BlockJson {
  readonly hash: string
  readonly event: {
    readonly schema?: unknown
    readonly newData?: { readonly physicalHash: string }
  }
}

/** A dataset up to a block. */
interface Stored {
  readonly schema: DataSchema | undefined
  readonly slices: readonly Uint8Array[]
}

export class PortableBench {
  readonly engine: PortableEngine
  readonly #live: LiveNode
  /** By block. */
  readonly #stored = new Map<string, Stored>()

  private constructor(engine: PortableEngine, live: LiveNode) {
    this.engine = engine
    this.#live = live
  }

  static async open(live: LiveNode): Promise<PortableBench> {
    const module = must(findPortableModule(engineVersion), 'it is installed')
    await module.digest()
    const engine = await PortableEngine.open((listener) => connectDriver(module, listener, async () => {}), {
      module: module.module.path,
      memoryBytes: 1024 * 1024 * 1024,
    })
    return new PortableBench(engine, live)
  }

  /** What the engine says of a saved answer, over the rows that its datasets have at their blocks. */
  async judge(answer: Uint8Array): Promise<PortableVerdict> {
    const { engine } = this
    const proof = readProof(parseJson(answer), { sqlBytes: 100_000, keepsOutput: true })
    const pins = proof.request.datasets ?? []
    const tables = await Promise.all(
      pins.map(async ({ id, alias, blockHash = '' }) => {
        const { schema, slices } = await this.#at(id, blockHash)
        return { alias, schema, slices }
      }),
    )
    try {
      return await rerun(engine, {
        version: engineVersion,
        dialect,
        proof,
        tables,
        decompress: (page, length) => zstdDecompressSync(page, { maxOutputLength: length }),
      })
    } finally {
      for (const [at, { alias }] of tables.entries()) {
        await engine.query(`DROP VIEW IF EXISTS "${alias}"`)
        if (alias.includes('/')) await engine.query(`DROP VIEW IF EXISTS "${alias.replace('/', '"."')}"`)
        await engine.query(`DROP TABLE IF EXISTS rows_${at}`)
      }
    }
  }

  async #at(id: string, blockHash: string): Promise<Stored> {
    const known = this.#stored.get(blockHash)
    if (known !== undefined) return known
    const path = String((await this.#live.call(`/datasets/${id}`)).at('alias'))
    const blocks = (await this.#live.call(`/${path}/blocks?limit=1000`)).at('blocks') as BlockJson[]
    const newest = blocks.findIndex(({ hash }) => hash === blockHash)
    const chain = blocks.slice(newest)
    const schema = chain.find(({ event }) => event.schema !== undefined)?.event.schema
    const hashes = chain.flatMap(({ event }) => event.newData?.physicalHash ?? []).reverse()
    const slices = await Promise.all(hashes.map(async (hash) => (await this.#live.call(`/${path}/data/${hash}`)).bytes))
    const stored = {
      schema: schema === undefined ? undefined : schemaFromJson(parseJson(JSON.stringify(schema))),
      slices,
    }
    this.#stored.set(blockHash, stored)
    return stored
  }
}
