// The compiled reader of this thread and its memory: the module is made when it is first needed, and not at all where the
// machine or the command line has no WebAssembly with SIMD. Used by one reader of a body after the other.

import { Buffer } from 'node:buffer'
import { inputSlack, leastPower, mostPower, patternBytes, runRows, spanBytes, textSlack } from './layout.ts'
import { linesModule } from './lines.gen.ts'
import { mostSpans } from '../../base/zone.ts'
import { powersOfFive, powersOfTen } from './powers.ts'

/** Most bytes of input at once. */
export const inputBytes = 64 * 1024
const pageBytes = 64 * 1024
const mostTableBytes = 4 * 1024
const mostKeyBytes = 32 * 1024
const mostPatternBytes = 32 * patternBytes
const newline = 0x0a

/** What `lines.as.ts` exports. */
export interface LinesModule {
  setPowers(ofTen: number, ofFive: number): void
  prepare(firstColumn: number, columns: number, records: number, decimal: number): void
  prepareKeys(key: number): void
  preparePoints(measurements: number, times: number, unitsInOne: number): void
  prepareCells(first: number, cells: number, separator: number): void
  prepareSpans(first: number, spans: number): void
  run(at: number, end: number, mostRows: number, mostBytes: number): number
  stoppedAt(): number
  unknownKey(): number
  unknownTime(): number
}

/** Addresses of the buffers of a column. */
export interface ColumnPlace {
  readonly values: number
  readonly offsets: number
  readonly validity: number
}

/** What is used of the global of this name, which the types of Node.js do not have. */
declare const WebAssembly: {
  validate(code: Uint8Array): boolean
  Module: new (code: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
  Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer; grow(pages: number): number }
}

export class CompiledMemory {
  readonly module: LinesModule
  /** Addresses of the input, of the records of columns, keys and patterns, and of spans of local times. */
  readonly input: number
  readonly table: number
  readonly keys: number
  readonly patterns: number
  readonly spans: number
  bytes: Uint8Array = new Uint8Array(0)
  words: Int32Array = new Int32Array(0)
  longs: BigInt64Array = new BigInt64Array(0)
  /** Whose columns and keys are prepared. */
  owner: object | undefined = undefined
  private readonly memory = new WebAssembly.Memory({ initial: 4 })
  private readonly places: ColumnPlace[] = []
  private top: number
  /** What is held as input: of these bytes, [from, to). */
  private held: Uint8Array | undefined = undefined
  private from = 0
  private to = 0

  constructor(code: Uint8Array) {
    const instance = new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory: this.memory } })
    // Its source exports these.
    this.module = instance.exports as LinesModule
    // The first page holds constants of the module.
    this.top = pageBytes
    this.input = this.take(inputBytes + inputSlack)
    this.table = this.take(mostTableBytes)
    this.keys = this.take(mostKeyBytes)
    this.patterns = this.take(mostPatternBytes)
    this.spans = this.take(mostSpans * spanBytes)
    const [tens, fives] = [this.take(8 * 23), this.take(16 * (mostPower - leastPower + 1))]
    this.settle()
    new Float64Array(this.memory.buffer).set(powersOfTen, tens >> 3)
    new BigUint64Array(this.memory.buffer).set(powersOfFive(), fives >> 3)
    this.module.setPowers(tens, fives)
  }

  /** Takes a place that is kept. */
  private take(bytes: number): number {
    const at = this.top
    this.top = (at + bytes + 15) & ~15
    return at
  }

  /** Makes the places taken usable. */
  settle(): void {
    const missing = this.top - this.memory.buffer.byteLength
    if (missing > 0) this.memory.grow(Math.ceil(missing / pageBytes))
    const { buffer } = this.memory
    if (this.bytes.buffer === buffer) return
    this.bytes = new Uint8Array(buffer)
    this.words = new Int32Array(buffer)
    this.longs = new BigInt64Array(buffer)
  }

  /** The buffers of the column at `index`: the same for each body. */
  place(index: number): ColumnPlace {
    for (let i = this.places.length; i <= index; i++) {
      this.places.push({
        values: this.take(Math.max(8 * runRows, inputBytes) + textSlack),
        offsets: this.take(4 * runRows + 4),
        validity: this.take((runRows >> 3) + 16),
      })
    }
    return this.places[index] ?? this.place(index)
  }

  /** Copies `bytes` from `at` on, as far as there is room, unless it is there: where it stands and ends. */
  hold(bytes: Uint8Array, at: number): { readonly start: number; readonly end: number } {
    const { input } = this
    const isHeld = this.held === bytes && at >= this.from && at < this.to
    // What is left of a piece may be half a record.
    const isEnough = isHeld && (this.to === bytes.length || this.to - at > inputBytes >> 1)
    if (!isEnough) {
      this.held = bytes
      this.from = at
      this.to = Math.min(bytes.length, at + inputBytes)
      const length = this.to - at
      this.bytes.set(bytes.subarray(at, this.to), input)
      this.bytes.fill(newline, input + length, input + length + inputSlack)
    }
    return { start: input + at - this.from, end: input + this.to - this.from }
  }
}

let made: CompiledMemory | false | undefined

/** That of this thread; undefined where there can be none. */
export function compiledMemory(): CompiledMemory | undefined {
  if (made === undefined) made = make() ?? false
  return made === false ? undefined : made
}

function make(): CompiledMemory | undefined {
  if (typeof WebAssembly === 'undefined') return undefined
  const code = new Uint8Array(Buffer.from(linesModule, 'base64'))
  return WebAssembly.validate(code) ? new CompiledMemory(code) : undefined
}
