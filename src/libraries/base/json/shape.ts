// Shapes of JSON values, as data: what a value must be, member by member. A shape reads a value of either model (plain,
// or Map and JsonNumber of libraries/base/json/value.ts) or names the member that does not fit. Records of the store, checkpoints and
// log positions are read through shapes; canonical JSON is their only spelling.

import { equalBytes } from '../bytes.ts'
import { DecodeError } from '../errors.ts'
import { JsonNumber } from './value.ts'
import { canonicalBytes } from './canonical.ts'
import { fromPlain, parseJson } from './json.ts'

/** Returns the value as what it must be. Throws ShapeError. */
export type Shape<T> = (value: unknown) => T

/** A member that may be absent. */
export interface OptionalShape<T> {
  readonly optional: Shape<T>
}

type Members = Readonly<Record<string, Shape<unknown> | OptionalShape<unknown>>>
type RequiredNames<M> = { [K in keyof M]: M[K] extends OptionalShape<unknown> ? never : K }[keyof M]
type Read<S> = S extends Shape<infer T> ? T : S extends OptionalShape<infer T> ? T : never

/** What `object(M)` reads. */
export type ObjectOf<M extends Members> = { readonly [K in RequiredNames<M>]: Read<M[K]> } & {
  readonly [K in Exclude<keyof M, RequiredNames<M>>]?: Read<M[K]>
}

/** What `tuple(...S)` reads. */
export type TupleOf<S extends readonly unknown[]> = {
  readonly [K in keyof S]: S[K] extends OptionalShape<infer T> ? T | undefined : Read<S[K]>
}

/** A value that does not fit its shape. */
export class ShapeError extends DecodeError {
  override readonly name: string = 'ShapeError'
  readonly reason: string
  /** The member at fault, such as `halted[2].position`; empty for the value itself. */
  readonly at: string

  constructor(reason: string, at = '') {
    super('JSON', at === '' ? reason : `${at} ${reason}`)
    this.reason = reason
    this.at = at
  }
}

/** `error`, met in the member `name` of an object or item `name` of a list. */
function within(name: string | number, error: unknown): unknown {
  if (!(error instanceof ShapeError)) return error
  const { at, reason } = error
  const step = typeof name === 'number' ? `[${name}]` : name
  return new ShapeError(reason, at === '' || at.startsWith('[') ? step + at : `${step}.${at}`)
}

export function refuse(reason: string): never {
  throw new ShapeError(reason)
}

/** A text, of this form where one is given. */
export function text(pattern?: RegExp): Shape<string> {
  return (value) => {
    if (typeof value !== 'string') return refuse('is not a string')
    return pattern === undefined || pattern.test(value) ? value : refuse('is not of the right form')
  }
}

/** An integer that a double holds exactly, `least` or above. */
export function integer(least: number): Shape<number> {
  return (value) => {
    const number = value instanceof JsonNumber ? Number(value.token) : value
    if (typeof number === 'number' && Number.isSafeInteger(number) && number >= least) return number
    return refuse(`is not an integer of at least ${least}`)
  }
}

export const natural: Shape<number> = integer(0)

export function oneOf<const T extends string | boolean>(...values: readonly T[]): Shape<T> {
  return (value) => values.find((one) => one === value) ?? refuse(`is not one of ${values.join(', ')}`)
}

export function list<T>(item: Shape<T>, { least = 0 } = {}): Shape<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) return refuse('is not an array')
    if (value.length < least) return refuse('is empty')
    let at = 0
    try {
      const items: T[] = []
      for (; at < value.length; at++) items.push(item(value[at]))
      return items
    } catch (error) {
      throw within(at, error)
    }
  }
}

/** An array with these items in this order; more are ignored. */
export function tuple<const S extends readonly (Shape<unknown> | OptionalShape<unknown>)[]>(
  ...shapes: S
): Shape<TupleOf<S>> {
  return (value) => {
    if (!Array.isArray(value)) return refuse('is not an array')
    let at = 0
    try {
      const items: unknown[] = []
      for (const shape of shapes) {
        items.push(member(shape, value[at]))
        at++
      }
      return items as unknown as TupleOf<S> // item by item what the shapes read
    } catch (error) {
      throw within(at, error)
    }
  }
}

/** An object with these members and no others, unless others are to be ignored. */
export function object<M extends Members>(
  shapes: M,
  options: { readonly others?: 'refused' | 'ignored' } = {},
): Shape<ObjectOf<M>> {
  const names = Object.keys(shapes)
  return (value) => {
    const members = membersOf(value)
    if (members === undefined) return refuse('is not an object')
    const read: Record<string, unknown> = {}
    let found = 0
    for (const name of names) {
      const there = members.get(name)
      if (there !== undefined) found++
      try {
        const item = member(shapes[name], there)
        if (item !== undefined) read[name] = item
      } catch (error) {
        throw within(name, error)
      }
    }
    if (found < members.size && options.others !== 'ignored') {
      throw within(
        [...members.keys()].find((name) => !names.includes(name)) ?? '',
        new ShapeError('is not a member that is known here'),
      )
    }
    return read as ObjectOf<M> // member by member what the shapes read
  }
}

export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return { optional: shape }
}

/** What `make` makes of a value of `shape`. */
export function map<T, U>(shape: Shape<T>, make: (value: T) => U): Shape<U> {
  return (value) => make(shape(value))
}

/** A value of `shape` in which `faultOf` finds nothing wrong. */
export function checked<T>(shape: Shape<T>, faultOf: (value: T) => string | undefined): Shape<T> {
  return map(shape, (value) => {
    const fault = faultOf(value)
    return fault === undefined ? value : refuse(fault)
  })
}

function member(shape: Shape<unknown> | OptionalShape<unknown> | undefined, value: unknown): unknown {
  if (value === undefined) return typeof shape === 'function' ? refuse('is missing') : undefined
  return typeof shape === 'function' ? shape(value) : shape?.optional(value)
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (value instanceof Map) return value as ReadonlyMap<string, unknown> // JSON names are strings
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof JsonNumber)
    return undefined
  return new Map(Object.entries(value))
}

/** Reads `value` as `what` (`"commit record"`, for messages). Throws DecodeError. */
export function readShape<T>(what: string, shape: Shape<T>, value: unknown): T {
  try {
    return shape(value)
  } catch (error) {
    if (error instanceof ShapeError) throw new DecodeError(what, `${error.at} ${error.reason}`.trimStart())
    throw error
  }
}

/** A record as stored: canonical JSON. */
export interface RecordCodec<T> {
  encode(record: T): Uint8Array
  /** Throws DecodeError unless `bytes` are what `encode` makes of a record: another spelling is another record. */
  decode(bytes: Uint8Array): T
}

export function recordCodec<T>(what: string, shape: Shape<T>): RecordCodec<T> {
  const encode = (record: T): Uint8Array => canonicalBytes(fromPlain(record))
  return {
    encode,
    decode(bytes) {
      const record = readShape(what, shape, parseJson(bytes))
      if (equalBytes(encode(record), bytes)) return record
      throw new DecodeError(what, 'is not in the canonical form')
    },
  }
}
