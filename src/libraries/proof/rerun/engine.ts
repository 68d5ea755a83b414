// DuckDB as WebAssembly: the worker of @duckdb/duckdb-wasm, spoken to in its own messages, so that neither its interface nor
// the Arrow library that this needs is taken. One statement at a time, in memory, without files, network and extensions.
// Its opener says where the worker runs.

import { ArrowStreamReader } from '../../columnar/arrow/ipc-reader.ts'
import { DecodeError } from '../../base/errors.ts'
import { parseJson } from '../../base/json/json.ts'
import type { RecordBatch } from '../../model/schema.ts'

export interface PortableAnswer {
  readonly requestId: number
  readonly type: string
  readonly data: unknown
}

/** The worker, or what stands for it. */
export interface EnginePort {
  send(message: { readonly messageId: number; readonly type: string; readonly data: unknown }): void
  close(): void
}

/** Hears of the worker. */
export interface PortListener {
  readonly answer: (answer: PortableAnswer) => void
  readonly fault: (message: string) => void
}

interface Waiting {
  readonly resolve: (data: unknown) => void
  readonly reject: (error: Error) => void
}

/** The engine refused, or broke. */
export class EngineFailure extends TypeError {
  override readonly name: string = 'EngineFailure'
}

/** What a statement may not reach, nor change. A statement that needs an extension fails at once, where it would hang else. */
const settings = [
  'autoinstall_known_extensions = false',
  'autoload_known_extensions = false',
  'enable_external_access = false',
  'threads = 1',
  // With it correlated subqueries that compare by anything but = lose rows; what else nodes plan otherwise is never judged here.
  "disabled_optimizers = 'deliminator'",
]

export class PortableEngine {
  readonly #port: EnginePort
  readonly #waiting = new Map<number, Waiting>()
  #asked = 0
  #connection: unknown

  private constructor(connect: (listener: PortListener) => EnginePort) {
    this.#port = connect({
      answer: ({ requestId, type, data }) => {
        if (/PROGRESS|LOG/.test(type)) return
        const waiting = this.#waiting.get(requestId)
        this.#waiting.delete(requestId)
        if (type === 'ERROR') waiting?.reject(new EngineFailure(messageOf(data)))
        else waiting?.resolve(data)
      },
      fault: (message) => {
        for (const { reject } of this.#waiting.values()) reject(new EngineFailure(message))
      },
    })
  }

  /** Starts the engine of a module. Throws EngineFailure. */
  static async open(connect: (listener: PortListener) => EnginePort, module: string): Promise<PortableEngine> {
    const engine = new PortableEngine(connect)
    await engine.#ask('INSTANTIATE', [module, null])
    await engine.#ask('OPEN', { path: ':memory:' })
    engine.#connection = await engine.#ask('CONNECT', null)
    for (const setting of [...settings, 'lock_configuration = true']) await engine.query(`SET ${setting}`)
    return engine
  }

  /**
   * The rows of a statement, which runs in turns. Between them the engine hears its opener. Throws EngineFailure,
   * DecodeError for columns that are not read here.
   */
  async query(sql: string): Promise<readonly RecordBatch[]> {
    let part = await this.#ask('START_PENDING_QUERY', [this.#connection, sql, false])
    while (!(part instanceof Uint8Array)) part = await this.#ask('POLL_PENDING_QUERY', this.#connection)
    const reader = new ArrowStreamReader()
    const batches: RecordBatch[] = []
    for (
      ;
      part instanceof Uint8Array && part.length > 0;
      part = await this.#ask('FETCH_QUERY_RESULTS', this.#connection)
    )
      batches.push(...reader.push(part))
    return batches
  }

  /** Adds the rows of an Arrow stream to a table that is there. Throws EngineFailure. */
  async insert(table: string, stream: Uint8Array): Promise<void> {
    await this.#ask('INSERT_ARROW_FROM_IPC_STREAM', [this.#connection, stream, { name: table, create: false }])
  }

  close(): void {
    this.#port.close()
  }

  async #ask(type: string, data: unknown): Promise<unknown> {
    const messageId = ++this.#asked
    return await new Promise((resolve, reject) => {
      this.#waiting.set(messageId, { resolve, reject })
      this.#port.send({ messageId, type, data })
    })
  }
}

function messageOf(data: unknown): string {
  const message = typeof data === 'object' && data !== null && 'message' in data ? data.message : data
  return sentenceOf(String(message)).slice(0, 1000)
}

/** Of some errors the engine tells in JSON. */
function sentenceOf(message: string): string {
  if (!message.startsWith('{"exception_type"')) return message
  try {
    const told = parseJson(message)
    const [type, text] = ['exception_type', 'exception_message'].map((name) =>
      told instanceof Map ? told.get(name) : undefined,
    )
    return typeof type === 'string' && typeof text === 'string' ? `${type} Error: ${text}` : message
  } catch (error) {
    if (error instanceof DecodeError) return message
    throw error
  }
}
