// The engine for browsers in this process, over what a node hands out: one answer after the other is judged, each over tables of its own.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import { zstdDecompressSync } from 'node:zlib'
import { nextTurn } from '../../../src/libraries/base/clock.ts'
import { parseJson } from '../../../src/libraries/base/json/json.ts'
import type { DataSchema } from '../../../src/libraries/model/schema.ts'
import { schemaFromJson } from '../../../src/libraries/odf/odf-json.ts'
import { readProof } from '../../../src/libraries/proof/read-proof.ts'
import { dialect, engineVersion } from '../../../src/node/engine/messages.ts'
import { type EnginePort, PortableEngine, type PortListener } from '../../../src/libraries/proof/rerun/engine.ts'
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

const load = createRequire(import.meta.url)
const dist = '@duckdb/duckdb-wasm/dist'

/** Starts the driver of the package for Node.js, which speaks as its worker does; one in a process. */
function connectDriver({ answer }: PortListener): EnginePort {
  Object.assign(globalThis, { postMessage: answer })
  const text = readFileSync(load.resolve(`${dist}/duckdb-node-eh.worker.cjs`), 'utf8')
  compileFunction(text, ['require', 'module', '__dirname'])(load, { exports: {} }, '')
  const tell = Reflect.get(globalThis, 'onmessage') as (event: { readonly data: object }) => Promise<void>
  return { send: (message) => void nextTurn().then(async () => await tell({ data: message })), close: () => {} }
}

export class EngineBench {
  readonly engine: PortableEngine
  readonly #live: LiveNode
  /** By block. */
  readonly #stored = new Map<string, Stored>()

  private constructor(engine: PortableEngine, live: LiveNode) {
    this.engine = engine
    this.#live = live
  }

  static async open(live: LiveNode): Promise<EngineBench> {
    const engine = await PortableEngine.open(connectDriver, load.resolve(`${dist}/duckdb-eh.wasm`))
    return new EngineBench(engine, live)
  }

  /** What the engine says of a saved answer, over the rows that its datasets have at their blocks. */
  async judge(answer: Uint8Array): Promise<PortableVerdict> {
    const { engine } = this
    const saved = parseJson(answer)
    const proof = readProof(saved, 100_000)
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
        output: saved instanceof Map ? saved.get('output') : undefined,
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
