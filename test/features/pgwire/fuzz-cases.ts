// Cases of the fuzzer, each by its number: messages in any order, some as they should be, some changed. The same number is the same bytes.

import * as raw from './raw-client.ts'

export interface FuzzCase {
  readonly chunks: readonly Buffer[]
  /** How the client leaves: it says so and waits until it is heard, says no more, or is gone at once. */
  readonly leaves: 'says so' | 'half' | 'gone'
}

/** Numbers that look random; the same from the same seed. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to `below`, without it. */
  int(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }

  of<T>(values: readonly T[]): T {
    const value = values[this.int(values.length)]
    if (value === undefined) throw new Error('none to choose from')
    return value
  }

  bytes(most: number): Buffer {
    return Buffer.from(Array.from({ length: this.int(most + 1) }, () => this.int(256)))
  }
}

const rows = 'select n, word from "demo/fuzz"'
const statements = [
  'select 1',
  rows,
  'select $1::int, $2::varchar',
  'select range from range(2000)',
  'select word::int from "demo/fuzz"',
  'selec',
  '',
  ';;',
  'begin',
  'begin isolation level repeatable read',
  'commit',
  'rollback',
  'savepoint a',
  'rollback to a',
  'release a',
  'set application_name = x',
  'set local jit = on',
  'set nothing = 1',
  'reset all',
  'discard all',
  'show all',
  'show jit',
  `declare c cursor for ${rows}`,
  `declare h cursor with hold for ${rows}`,
  'fetch 3 from c',
  'fetch all from h',
  'move 1 in h',
  'close all',
  'prepare q as select $1::varchar',
  "execute q('x')",
  'deallocate all',
  `copy (${rows}) to stdout`,
  'copy (select 1 as a) to stdout (format binary)',
  'select proofstream_proof()',
  'select proofstream_proof(\'select n from "demo/fuzz"\')',
  'insert into t values (1)',
  'select 1; select 2; begin; select nothing; select 3',
  "select '\u{1F600}",
  '/* open',
  'select $$',
] as const
const names = ['', '', '', 'p', 'c', 'h'] as const
const types = [
  0,
  16,
  17,
  20,
  21,
  23,
  25,
  700,
  701,
  1082,
  1083,
  1114,
  1184,
  1700,
  2950,
  3802,
  1009,
  2 ** 31 - 1,
  -1,
] as const
const counts = [0, 1, 2, 5, -1, 2 ** 31 - 1, -(2 ** 31)] as const

function anyMessage(dice: Dice): Buffer {
  const sql = dice.of(statements)
  const few = <T>(one: () => T): T[] => Array.from({ length: dice.int(4) }, one)
  switch (dice.int(16)) {
    case 0:
    case 1:
    case 2:
      return raw.query(sql)
    case 3:
    case 4:
      return raw.parse(
        sql,
        dice.of(names),
        few(() => dice.of(types)),
      )
    case 5:
    case 6:
      return raw.bind({
        portal: dice.of(names),
        statement: dice.of(names),
        formats: few(() => dice.of([0, 0, 1, 2, -1])),
        values: few(() => dice.of([null, '', '1', 'x', '2026-03-01', dice.bytes(16)])),
        resultFormats: few(() => dice.of([0, 0, 1, 7])),
      })
    case 7:
      return raw.describe(dice.of(['S', 'P']), dice.of(names))
    case 8:
    case 9:
      return raw.execute(dice.of(names), dice.of(counts))
    case 10:
      return raw.close(dice.of(['S', 'P']), dice.of(names))
    case 11:
      return raw.message(dice.of(['d', 'c', 'f', 'F', 'p', 'X', 'z', '\0']), dice.bytes(12))
    case 12:
      return dice.of([raw.sync, raw.flush])
    default:
      return whole(dice, sql)
  }
}

/** A statement with the values that it takes, as a driver sends it. */
function whole(dice: Dice, sql: string): Buffer {
  const [statement, portal] = [dice.of(names), dice.of(names)]
  const values = Array.from({ length: sql.split('$').length > 2 ? 2 : sql.includes('$1') ? 1 : 0 }, () =>
    dice.of(['1', null]),
  )
  const bound = raw.bind({ portal, statement, values, resultFormats: dice.of([[], [0], [1]]) })
  const most = dice.of([0, 0, 1, 3, 100])
  const rest = dice.of([[], [raw.execute(portal, most)], [raw.sync], [raw.sync]])
  return Buffer.concat([
    ...(dice.int(2) === 0 ? [raw.close('S', statement), raw.close('P', portal)] : []),
    raw.parse(sql, statement),
    bound,
    ...(dice.int(2) === 0 ? [raw.describe('P', portal)] : []),
    raw.execute(portal, most),
    ...rest,
  ])
}

/** Bytes with something wrong in them. */
function changed(dice: Dice, bytes: Buffer): Buffer {
  const out = Buffer.from(bytes)
  const at = dice.int(Math.max(1, out.length))
  switch (dice.int(7)) {
    case 0:
      return out.subarray(0, at)
    case 1:
      out[at] = dice.int(256)
      return out
    case 2:
      return Buffer.concat([out.subarray(0, at), dice.bytes(20), out.subarray(at)])
    case 3:
      if (out.length >= 5)
        out.writeInt32BE(dice.of([0, 3, 4, 5, -1, 100, 65_536, 20_000_000, 2 ** 31 - 1, -(2 ** 31)]), 1)
      return out
    case 4:
      if (out.length >= 7) out.writeUInt16BE(dice.of([0, 1, 0x7fff, 0x8000, 0xffff]), 5 + dice.int(out.length - 6))
      return out
    case 5:
      return Buffer.concat([out, out])
    default:
      return Buffer.concat([out.subarray(0, at), out.subarray(at + dice.int(8))])
  }
}

/** The start of a connection; whether what follows it is heard. */
function starts(dice: Dice): { readonly bytes: readonly Buffer[]; readonly isWhole: boolean } {
  const start = raw.startup({ user: 'anonymous', database: dice.of(['all', 'demo', 'demo', 'nothing']) })
  const tls = raw.first(80_877_103)
  const others = [
    tls,
    raw.first(80_877_104),
    raw.first(80_877_102, dice.bytes(12)),
    raw.startup({ user: 'ann' }),
    dice.bytes(40),
  ]
  const kind = dice.int(20)
  if (kind < 15) return { bytes: [start], isWhole: true }
  if (kind === 15) return { bytes: [tls, start], isWhole: true }
  if (kind === 16) return { bytes: [changed(dice, start)], isWhole: false }
  if (kind === 17) return { bytes: [dice.of(others), start], isWhole: false }
  return { bytes: [dice.of(others)], isWhole: false }
}

/** The bytes of a case, in pieces as a network might hand them over. */
export function fuzzCase(number: number): FuzzCase {
  const dice = new Dice(number)
  const messages = Array.from({ length: 1 + dice.int(16) }, () => anyMessage(dice))
  const isChanged = dice.int(2) === 0
  const sent = messages.map((bytes) => (isChanged && dice.int(4) === 0 ? changed(dice, bytes) : bytes))
  const start = starts(dice)
  const all = Buffer.concat([...start.bytes, ...sent, ...(dice.int(2) === 0 ? [raw.sync] : [])])
  const cuts = Array.from({ length: dice.int(4) }, () => dice.int(all.length + 1)).sort((a, b) => a - b)
  const ends = [...cuts, all.length]
  const chunks = ends.map((end, at) => all.subarray(ends[at - 1] ?? 0, end))
  // Who waits to be heard must have sent whole messages.
  const waits = start.isWhole && !isChanged
  const ways: readonly FuzzCase['leaves'][] = waits
    ? ['says so', 'says so', 'says so', 'gone']
    : ['half', 'half', 'gone']
  return { chunks, leaves: dice.of(ways) }
}
