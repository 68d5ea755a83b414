// Entry of the process of a portable engine: takes one proof from its parent, runs it, tells the verdict. It runs only bytes
// whose hashes it has checked itself, and gives them nothing of Node.js that reaches files, network or other processes.
// Started by portable-process.ts, never imported.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import { zstdDecompressSync } from 'node:zlib'
import { concatBytes, decodeUtf8, toHex } from '../../libraries/base/bytes.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { EngineFailure, type EnginePort, PortableEngine, type PortListener } from './portable-engine.ts'
import type { FromPortable, PortableJob, ToPortable } from './portable-messages.ts'
import type { KnownFile } from './portable-module.ts'
import { type PortableVerdict, rerun } from './portable-verdict.ts'

const pageBytes = 65_536
/** What the engine takes beside the memory that its settings count. */
const besideBytes = 256 * 1024 * 1024
/** What the driver of the module may load. */
const harmless = ['events', 'os', 'path', 'stream', 'util']

/** Told of the next piece of a slice. */
let onPiece: ((piece: Extract<ToPortable, { kind: 'piece' }>) => void) | undefined

process.on('message', (message: ToPortable) => {
  if (message.kind === 'piece') onPiece?.(message)
  else void perform(message.job)
})
process.on('disconnect', () => process.exit())

async function perform(job: PortableJob): Promise<void> {
  await send({ kind: 'verdict', verdict: await judged(job) })
}

async function judged(job: PortableJob): Promise<PortableVerdict> {
  const { version, memoryBytes, proof, tables } = job
  try {
    boundMemory(memoryBytes + besideBytes)
    const engine = await PortableEngine.open((listener) => connect(job, listener), {
      module: job.module.path,
      memoryBytes,
    })
    await send({ kind: 'ready' })
    return await rerun(engine, {
      version,
      proof,
      tables: tables.map(({ slices, ...table }, at) => ({ ...table, slices: slicesOf(at, slices) })),
      decompress: (page, length) => zstdDecompressSync(page, { maxOutputLength: length }),
    })
  } catch (error) {
    // Its memory is one of the things that it may break by.
    return { outcome: 'unknown', why: `The engine failed: ${String(error).slice(0, 1000)}.` }
  }
}

interface ModuleMemory {
  readonly buffer: { readonly byteLength: number }
}

/** The memory of the module grows no further, on any system. */
function boundMemory(mostBytes: number): void {
  // Of the platform, which its types do not have.
  const { Memory } = Reflect.get(globalThis, 'WebAssembly') as { readonly Memory: { readonly prototype: object } }
  const grow = Reflect.get(Memory.prototype, 'grow') as (this: ModuleMemory, pages: number) => number // likewise
  Reflect.set(Memory.prototype, 'grow', function (this: ModuleMemory, pages: number): number {
    if (this.buffer.byteLength + pages * pageBytes > mostBytes)
      throw new RangeError('the memory of the engine is bounded')
    return grow.call(this, pages)
  })
}

/** Starts the driver of the module, which speaks as a worker does. */
function connect(job: Pick<PortableJob, 'module' | 'driver'>, listener: PortListener): EnginePort {
  const module = known(job.module)
  const load = createRequire(import.meta.url)
  const given = new Map<string, unknown>(harmless.map((name) => [name, load(`node:${name}`)]))
  given.set('fs', { readFileSync: () => module })
  Object.assign(globalThis, { postMessage: listener.answer })
  const script = compileFunction(decodeUtf8(known(job.driver)), ['require', 'module', '__dirname'])
  script((name: string) => given.get(name.replace('node:', '')) ?? {}, { exports: {} }, '')
  const tell = Reflect.get(globalThis, 'onmessage') as (event: { readonly data: object }) => Promise<void> // set by the driver
  return {
    send: (message) => {
      const isTurn = /^(?:POLL|FETCH)/.test(message.type)
      void (isTurn ? nextTurn() : send({ kind: 'step' })).then(async () => await tell({ data: message }))
    },
    close: () => process.exit(),
  }
}

/** The bytes of a file. Throws EngineFailure where they are others. */
function known({ path, digest }: KnownFile): Uint8Array {
  const bytes = readFileSync(path)
  // mutant: any portable engine runs
  if (toHex(sha256(bytes)) === digest) return bytes
  throw new EngineFailure('its files are others than those that the release knows')
}

async function* slicesOf(table: number, count: number): AsyncGenerator<Uint8Array> {
  for (let slice = 0; slice < count; slice++) {
    const pieces: Uint8Array[] = []
    const whole = new Promise<void>((resolve) => {
      onPiece = ({ bytes, isLast }) => {
        pieces.push(bytes)
        if (isLast) resolve()
      }
    })
    await send({ kind: 'wanted', table, slice })
    await whole
    yield concatBytes(pieces)
  }
}

async function send(message: FromPortable): Promise<void> {
  await new Promise<void>((resolve) => {
    if (process.send === undefined) resolve()
    else process.send(message, () => resolve())
  })
}
