// JSON bodies that have their records in an array inside: `{"metrics": [{…}, …]}` with the path `metrics`. What stands around
// the arrays must be JSON, and is not stored.

import { parseJson } from '../../base/json/json.ts'
import { JsonError } from '../../base/json/parser.ts'
import { concatBytes, copyBytes } from '../../base/bytes.ts'
import { NodeError } from '../../base/errors.ts'
import { tablePlan } from '../column-plan.ts'
import type { InferOptions, ReaderOptions } from '../format.ts'
import { brokenFrame } from '../record-feed.ts'
import { ArrayFramer } from './framing.ts'
import { ObjectInferrer, ObjectReader } from './objects.ts'
import { JsonRecordReader } from './record.ts'
import { closeBrace, closeBracket, colon, comma, openBrace, openBracket, pointerSegment, quote } from './text.ts'
import { backslash, Scratch, stringText } from './text.ts'

/** Names longer than this, escapes included, lead to no records. */
const maxNameBytes = 1024

/** Finds the arrays of records, and their elements. Counts brackets only: whether what lies between is JSON, its reader says. */
class PointedFramer extends ArrayFramer {
  /** What was handed over: a record, or a piece of what stands around the arrays. */
  part: 'around' | 'record' = 'around'
  /** True once an array of records has begun. */
  isFound = false
  private readonly path: readonly string[]
  private isInside = false
  private isDone = false
  /** Brackets that are open around the arrays. */
  private level = 0
  /** Of those on the path, outermost first: what opened them, and how many elements came before. */
  private readonly opened: { readonly byte: number; index: number }[] = []
  /** The string last begun in the innermost of them, which may be a name. */
  private readonly name: number[] = []
  /** True between the name that the path asks for and its value. */
  private isAtName = false

  constructor(path: readonly string[]) {
    super()
    this.path = path
  }

  override begin(bytes: Uint8Array, from: number): number {
    const at = super.begin(bytes, from)
    this.part = this.isInside ? 'record' : 'around'
    if (!this.isInside || at !== brokenFrame || this.state !== 'done') return at
    this.isInside = false
    this.part = 'around'
    return this.stopped
  }

  protected override structure(byte: number): ReturnType<ArrayFramer['structure']> {
    if (this.isInside) return super.structure(byte)
    return this.isDone ? 'broken' : 'element'
  }

  override end(bytes: Uint8Array, from: number): number {
    if (this.isInside) return super.end(bytes, from)
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (this.inString) this.inside(byte)
      else if (byte === 0x0a) this.line += 1
      else if (this.around(byte)) return at + 1
    }
    return -1
  }

  /** A byte of a string. */
  private inside(byte: number): void {
    if (!this.escaped && byte === quote) {
      this.inString = false
      return
    }
    this.escaped = !this.escaped && byte === backslash
    if (this.isOnPath && this.name.length <= maxNameBytes) this.name.push(byte)
  }

  private get isOnPath(): boolean {
    return this.level === this.opened.length
  }

  /** A byte around the arrays, outside of strings; true when the piece ends with it. */
  private around(byte: number): boolean {
    const innermost = this.opened.at(-1)
    const { isOnPath } = this
    switch (byte) {
      case quote:
        this.inString = true
        this.name.length = 0
        return false
      case openBrace:
      case openBracket:
        return this.opens(byte)
      case closeBrace:
      case closeBracket:
        if (isOnPath) this.opened.pop()
        this.level -= 1
        this.isDone = this.level <= 0
        return this.isDone
      case comma:
        this.isAtName = false
        if (isOnPath && innermost !== undefined) innermost.index += 1
        return false
      case colon:
        this.isAtName = isOnPath && innermost?.byte === openBrace && this.isWantedName()
        return false
      default:
        return false
    }
  }

  /** True when it opens an array of records. */
  private opens(byte: number): boolean {
    const wanted = this.level === 0 || (this.isOnPath && this.isWanted())
    this.isAtName = false
    if (wanted && this.opened.length === this.path.length && byte === openBracket) {
      this.isFound = true
      this.isInside = true
      this.state = 'first'
      return true
    }
    this.level += 1
    if (wanted && this.opened.length < this.path.length) this.opened.push({ byte, index: 0 })
    return false
  }

  /** Whether the value that begins is the one that the path goes on with. */
  private isWanted(): boolean {
    const innermost = this.opened.at(-1)
    if (innermost === undefined || innermost.byte === openBrace) return this.isAtName
    const token = this.path[this.opened.length - 1]
    return token === '*' || token === String(innermost.index)
  }

  private isWantedName(): boolean {
    if (this.name.length > maxNameBytes) return false
    const bytes = Uint8Array.from(this.name)
    return stringText(new Scratch(), bytes, 0, bytes.length) === this.path[this.opened.length - 1]
  }
}

export class PointedInferrer extends ObjectInferrer {
  private readonly pointed: PointedFramer

  constructor(options: InferOptions, path: readonly string[]) {
    const framer = new PointedFramer(path)
    super(options, framer)
    this.pointed = framer
  }

  override record(bytes: Uint8Array, start: number, end: number): void {
    if (this.pointed.part === 'record') super.record(bytes, start, end)
  }
}

export class PointedReader extends ObjectReader {
  private readonly framer: PointedFramer
  private readonly pointer: string
  /** What stands around the arrays, which are empty in it. */
  private around: Uint8Array = new Uint8Array(0)

  constructor(options: ReaderOptions, path: readonly string[]) {
    const framer = new PointedFramer(path)
    super(options, framer, tablePlan(options), (own) => new JsonRecordReader(own))
    this.framer = framer
    this.pointer = path.map(pointerSegment).join('')
  }

  override attempt(bytes: Uint8Array, start: number): number {
    return this.framer.part === 'record' ? super.attempt(bytes, start) : -1
  }

  record(bytes: Uint8Array, start: number, end: number): void {
    if (this.framer.part === 'record') {
      if (!this.readOnly(bytes, start, end)) throw this.error()
      return
    }
    const piece = copyBytes(bytes, start, end)
    this.around = this.around.length === 0 ? piece : concatBytes([this.around, Uint8Array.of(closeBracket), piece])
    if (this.around.length > this.options.recordBytes) this.oversized(this.around.length, false)
  }

  override oversized(length: number, last: boolean): void {
    if (this.framer.part === 'record') return super.oversized(length, last)
    throw this.noRecords(
      `There are ${length} bytes around the records; at most ${this.options.recordBytes} are allowed.`,
    )
  }

  protected override brokenMessage(): string {
    if (this.framer.part === 'around') return 'Something follows the end.'
    return `The array at '${this.pointer}' is broken here: expected an element, or a comma between two.`
  }

  /** Throws NodeError `MalformedBody` where no array of records was found. */
  protected override unclosed(): string | undefined {
    const fault = this.faultAround()
    if (this.framer.isFound) return fault
    throw this.noRecords(fault ?? `The body has no array at '${this.pointer}'.`)
  }

  private faultAround(): string | undefined {
    try {
      parseJson(this.around, { maxDepth: this.options.jsonDepth })
      return undefined
    } catch (cause) {
      if (cause instanceof JsonError) return `The text around the records ${cause.reason}.`
      throw cause
    }
  }

  private noRecords(message: string): NodeError {
    return new NodeError('MalformedBody', message, {
      hint: `With records=${this.pointer} a body is one JSON document with an array of objects there.`,
    })
  }
}
