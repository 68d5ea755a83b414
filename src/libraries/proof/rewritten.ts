// An output that a JSON library has parsed and printed again: 1.0 is 1 there, -0.0 is 0, integers beyond 2^53 are others. Its
// hash differs, but one of the spellings that a library reads as the same doubles has the hash that was signed.

import { canonicalBytes } from '../base/json/canonical.ts'
import type { Hash } from '../base/ids/identifiers.ts'
import { JsonNumber, type JsonValue } from '../base/json/value.ts'
import { float32Token, float64Token } from '../columnar/outputs/value-text.ts'
import { hashCanonical } from './commitment.ts'

/** Spellings that are tried at most, and bytes that are hashed for it. The sender of a proof chooses both. */
const mostTries = 4096
const mostBytes = 8_000_000
/** Integers that one double stands for, at most. */
const mostIntegers = 64

type Spell = (value: number, token: string) => readonly string[]

/** What a column may hold, each with the spellings of a value. */
const kinds: readonly Spell[] = [
  (value, token) => (/[.eE]/.test(token) ? [] : integersOf(value, token)),
  (value) => (value === 0 ? ['0.0', '-0.0'] : [float64Token(value)]),
  (value) => (value === 0 ? ['0.0', '-0.0'] : [float32Token(Math.fround(value))]),
]

/** True when numbers of `output`, spelled as nodes do, give the hash: the rows are those that were signed, as doubles. */
export function isRewritten(output: JsonValue, expected: Hash): boolean {
  const columns = [...columnsOf(output).values()].map(spellingsOf)
  let left = Math.min(mostTries, Math.ceil(mostBytes / canonicalBytes(output).length))
  const chosen = new Map<JsonNumber, JsonNumber>()
  const tried = (column: number): boolean => {
    if (column === columns.length) return left-- > 0 && hashCanonical(withTokens(output, chosen)) === expected
    return (columns[column] ?? []).some((ways) => choose(ways, () => tried(column + 1)))
  }
  // All numbers of a column at once, the last one changing first.
  const choose = (ways: readonly Choice[], then: () => boolean): boolean => {
    const at = ways.map(() => 0)
    for (let place = 0; place >= 0 && left > 0;) {
      for (const [n, { number, spellings }] of ways.entries()) {
        chosen.set(number, new JsonNumber(spellings[at[n] ?? 0] ?? number.token))
      }
      if (then()) return true
      place = ways.length - 1
      while (place >= 0 && nextOf(at, place) === ways[place]?.spellings.length) at[place--] = 0
    }
    return false
  }
  return tried(0)
}

/** One further at a place. */
function nextOf(at: number[], place: number): number {
  const next = (at[place] ?? 0) + 1
  at[place] = next
  return next
}

interface Choice {
  readonly number: JsonNumber
  readonly spellings: readonly string[]
}

/** The numbers of each column, whatever the layout: those at one place but for the first index, that of the row. */
function columnsOf(output: JsonValue): Map<string, JsonNumber[]> {
  const found = new Map<string, JsonNumber[]>()
  const walk = (value: JsonValue, path: string, isInRow: boolean): void => {
    if (value instanceof JsonNumber) {
      const held = found.get(path)
      if (held === undefined) found.set(path, [value])
      else held.push(value)
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) walk(item, isInRow ? `${path}/${index}` : path, true)
    } else if (value instanceof Map) {
      for (const [name, member] of value) walk(member, `${path}/${name}`, isInRow)
    }
  }
  walk(output instanceof Map ? (output.get('data') ?? null) : null, '', false)
  return found
}

/** The ways to spell a column, one for each kind that it may be of; those with the fewest spellings first. */
function spellingsOf(numbers: readonly JsonNumber[]): Choice[][] {
  const ways = kinds.map((spell) =>
    numbers.map((number) => ({ number, spellings: spell(Number(number.token), number.token) })),
  )
  const count = (way: readonly Choice[]): number =>
    way.reduce((product, { spellings }) => product * spellings.length, 1)
  ways.sort((one, other) => count(one) - count(other))
  const seen = new Set<string>()
  return ways.filter((way) => {
    const text = JSON.stringify(way.map(({ spellings }) => spellings))
    const isNew = !seen.has(text)
    seen.add(text)
    return isNew && way.every(({ spellings }) => spellings.length > 0)
  })
}

/** Integers that a double reads as the same value, the one that is written first. */
function integersOf(value: number, token: string): string[] {
  if (Number.isSafeInteger(value) || !Number.isFinite(value)) return [token]
  const exact = BigInt(value)
  const others: string[] = []
  for (let step = 0n; others.length < mostIntegers; step++) {
    const near = [exact + step, exact - step].filter((one) => Number(one) === value)
    if (near.length === 0) break
    others.push(...near.map(String))
  }
  return [...new Set([token, ...others])]
}

function withTokens(value: JsonValue, chosen: ReadonlyMap<JsonNumber, JsonNumber>): JsonValue {
  if (value instanceof JsonNumber) return chosen.get(value) ?? value
  if (Array.isArray(value)) return value.map((item) => withTokens(item, chosen))
  if (!(value instanceof Map)) return value
  return new Map([...value].map(([name, member]) => [name, withTokens(member, chosen)]))
}
