// Entry of the process of a portable engine: takes one proof from its parent, runs it, tells the verdict. Started by
// portable-process.ts, never imported.

import { zstdDecompressSync } from 'node:zlib'
import { concatBytes } from '../../libraries/base/bytes.ts'
import { dialectOf } from './messages.ts'
import { connectDriver } from './portable-driver.ts'
import { PortableEngine } from '../../libraries/proof/rerun/engine.ts'
import type { FromPortable, PortableJob, ToPortable } from './portable-messages.ts'
import { type PortableVerdict, rerun } from '../../libraries/proof/rerun/verdict.ts'

const pageBytes = 65_536
/** What the engine takes beside the memory that its settings count. */
const besideBytes = 256 * 1024 * 1024

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
    const engine = await PortableEngine.open(
      (listener) => connectDriver(job, listener, async () => await send({ kind: 'step' })),
      {
        module: job.module.path,
        memoryBytes,
      },
    )
    await send({ kind: 'ready' })
    return await rerun(engine, {
      version,
      dialect: dialectOf(version),
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
