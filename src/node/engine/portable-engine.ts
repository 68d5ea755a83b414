// DuckDB in the browser: the worker of @duckdb/duckdb-wasm, spoken to in its own messages, so that neither its interface nor
// the Arrow library that this needs is part of the page. One statement at a time, in memory, without extensions.

import { ArrowStreamReader } from '../../libraries/columnar/arrow/ipc-reader.ts'
import type { RecordBatch } from '../../libraries/model/schema.ts'

interface Answer {
  readonly requestId: number
  readonly type: string
  readonly data: unknown
}

interface Waiting {
  readonly resolve: (data: unknown) => void
  readonly reject: (error: Error) => void
}

/** The engine refused, or broke. */
export class EngineFailure extends TypeError {
  override readonly name: string = 'EngineFailure'
}

const notInstalled =
  'This node has no engine for browsers. Its operator can install @duckdb/duckdb-wasm beside it. With a bundle, proofstream verify --bundle runs the query without any node.'

/** Before and behind the stream in an Arrow file: https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format */
const magicBytes = 8
const footerEndBytes = 10

export class WasmEngine {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #asked = 0
  #connection: unknown

  private constructor(worker: Worker) {
    this.#worker = worker
    worker.onmessage = ({ data: { requestId, type, data } }: MessageEvent<Answer>) => {
      if (/PROGRESS|LOG/.test(type)) return
      const waiting = this.#waiting.get(requestId)
      this.#waiting.delete(requestId)
      if (type === 'ERROR') waiting?.reject(new EngineFailure(messageOf(data)))
      else waiting?.resolve(data)
    }
    worker.onerror = ({ message }) => {
      for (const { reject } of this.#waiting.values()) reject(new EngineFailure(message))
    }
  }

  /** Starts the engine whose two files lie under `base`. Throws EngineFailure. */
  static async open(base: URL): Promise<WasmEngine> {
    const worker = new URL('duckdb-browser-eh.worker.js', base)
    const { ok } = await fetch(worker, { method: 'HEAD' })
    if (!ok) throw new EngineFailure(notInstalled)
    const engine = new WasmEngine(new Worker(worker))
    await engine.#ask('INSTANTIATE', [new URL('duckdb-eh.wasm', base).href, null])
    await engine.#ask('OPEN', { path: ':memory:' })
    engine.#connection = await engine.#ask('CONNECT', null)
    for (const setting of ['autoinstall_known_extensions', 'autoload_known_extensions'])
      await engine.query(`SET ${setting} = false`)
    return engine
  }

  /** The rows of a statement. Throws EngineFailure, DecodeError for columns that are not read here. */
  async query(sql: string): Promise<readonly RecordBatch[]> {
    const file = await this.#ask('RUN_QUERY', [this.#connection, sql])
    if (!(file instanceof Uint8Array) || file.length === 0) return []
    const footer = new DataView(file.buffer, file.byteOffset + file.length - footerEndBytes).getUint32(0, true)
    return new ArrowStreamReader().push(file.slice(magicBytes, file.length - footerEndBytes - footer))
  }

  /** Adds the rows of an Arrow stream to a table that is there. Throws EngineFailure. */
  async insert(table: string, stream: Uint8Array): Promise<void> {
    await this.#ask('INSERT_ARROW_FROM_IPC_STREAM', [this.#connection, stream, { name: table, create: false }])
  }

  close(): void {
    this.#worker.terminate()
  }

  async #ask(type: string, data: unknown): Promise<unknown> {
    const messageId = ++this.#asked
    return await new Promise((resolve, reject) => {
      this.#waiting.set(messageId, { resolve, reject })
      this.#worker.postMessage({ messageId, type, data })
    })
  }
}

function messageOf(data: unknown): string {
  const message = typeof data === 'object' && data !== null && 'message' in data ? data.message : data
  return String(message).slice(0, 1000)
}
