// Statements out of parts over two datasets, by a seed: columns of every type, all listed functions, joins, groups, windows,
// sets, subqueries. Some are refused. The datasets: `acme/t` and `acme/u`, whose columns stand here.

import {
  aggregateFunctions,
  machineDependentFunctions,
  peerFunctions,
  scalarFunctions,
} from '../../../src/libraries/sql/functions.ts'
import { must } from '../../../src/libraries/base/assert.ts'

type Kind = 'integer' | 'float' | 'decimal' | 'text' | 'time' | 'bool' | 'bytes' | 'list'

interface Column {
  readonly sql: string
  readonly kind: Kind
}

interface Source {
  readonly sql: string
  readonly columns: readonly Column[]
}

/** Columns of both datasets, of which every value may be null. */
const kinds: Readonly<Record<'t' | 'u', Readonly<Record<string, Kind>>>> = {
  t: {
    k: 'integer',
    m: 'integer',
    i8: 'integer',
    u64: 'integer',
    f: 'float',
    x: 'float',
    z: 'float',
    s: 'text',
    g: 'text',
    p: 'decimal',
    w: 'decimal',
    d: 'time',
    at: 'time',
    b: 'bool',
    y: 'bytes',
    l: 'list',
    fl: 'list',
  },
  u: { k: 'integer', name: 'text', v: 'float', d: 'time' },
}
const systemKinds = { offset: 'integer', op: 'integer', event_time: 'time', system_time: 'time' } as const

const constants: Readonly<Record<Kind, string>> = {
  integer: '0 1 -1 3 7 9223372036854775807 (-9223372036854775808) 255 null',
  float: "0e0 (-0e0) 0.1e0 1e308 'nan'::double 'inf'::double '-inf'::double null",
  decimal: '0.00 1.10 -3.25 12345678.99 99999999999999999999.5 null',
  text: "'' 'a' 'A' 'g3' 'é' '%' 'zz' null",
  time: "date'2024-06-01' timestamptz'2026-01-01T00:02:00Z' timestamp'2026-01-01T00:03:10.5' date'0001-01-01' null",
  bool: 'true false null',
  bytes: "''::blob '\\x00\\xff'::blob null",
  list: '[1] []::bigint[] [0e0,null] null',
}

const unary: Readonly<Partial<Record<Kind, string>>> = {
  integer: '-$ $+1 $*3 $%5 abs($) $//2 $/3 $::varchar $::double $::decimal(38,3) $::hugeint bit_count($) even($)',
  float: '-$ $*2 $+1 abs($) $/3 $::varchar round($,2) isnan($) sqrt(abs($)) floor($) signbit($) $::integer even($)',
  decimal: '-$ $+1 $*2 $::varchar round($,1) $/3 $::double abs($) floor($) $%3',
  text: "upper($) length($) $||'!' reverse($) substr($,1,2) md5($) strlen($) $::integer left($,1) ascii($) hash($)",
  time: "year($) $::varchar date_trunc('month',$) epoch_us($) $::date dayname($) $+to_days(1) epoch($) hour($)",
  bool: 'not($) $::integer $::varchar',
  bytes: 'octet_length($) hex($) md5($) base64($)',
  list: 'len($) $[1] list_sort($) list_sum($) list_max($) list_distinct($) $::varchar list_reverse($)',
}

const windowAlone = new Set([
  ...peerFunctions,
  'row_number',
  'ntile',
  'lag',
  'lead',
  'first_value',
  'last_value',
  'nth_value',
  'fill',
])
/** Listed aggregates and functions, but for most of those that no proof may rest on. */
const manyAggregates = [...aggregateFunctions].filter(
  (name) => !windowAlone.has(name) && !/reservoir|approx/.test(name),
)
const manyScalars = [...scalarFunctions].filter((name) => /^[a-z]/.test(name) && !machineDependentFunctions.has(name))
const usualAggregates = 'count sum avg min max median arg_max arg_min list string_agg first last any_value mode'.split(
  ' ',
)
const ofNumbers =
  /^(?:sum|avg|mean|median|product|favg|fsum|kahan|sumkahan|std|var|sem|corr|covar|regr|kurt|skew|mad|quantile_cont)/
const numbers: readonly string[] = ['integer', 'float', 'decimal']
const ofTruths = /^(?:bool_|count_?if)/
const binaryAggregate = /^(?:arg_|argm|max_by|min_by|corr|covar|regr_)/
const exactAggregates =
  'count sum avg min max median bit_and bit_xor bool_or quantile_disc arg_max arg_min list string_agg first last'.split(
    ' ',
  )
const windows =
  'row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value'.split(' ')
const frames = [
  '',
  ' rows between 2 preceding and current row',
  ' range between unbounded preceding and current row',
  ' groups between 1 preceding and 1 following',
  ' rows between unbounded preceding and unbounded following exclude ties',
]

function columnsOf(dataset: 't' | 'u', alias: string): Column[] {
  const all = Object.entries({ ...systemKinds, ...kinds[dataset] })
  return all.map(([name, kind]) => ({ sql: `${alias}.${name}`, kind }))
}

export class StatementMaker {
  #state: number
  /** The statement is made of what has a chance to be of class exact: no floats, aggregates of no order. */
  #isCareful = false

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** The next statement. */
  next(): string {
    this.#isCareful = this.#chance(0.6)
    const node = this.#chance(0.12) ? this.#set() : this.#select(this.#source(2))
    return this.#chance(0.1) ? `with c as (${node}) select *, count(*) over () as c from c` : node
  }

  /** A whole number below `count`: a linear congruence, whose high bits are mixed. */
  #below(count: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    const mixed = Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d) >>> 0
    return Math.floor((mixed / 2 ** 32) * count)
  }

  #chance(share: number): boolean {
    return this.#below(1000) < share * 1000
  }

  #one<T>(of: readonly T[]): T {
    return must(of[this.#below(of.length)], 'there is one to choose')
  }

  #word(words: string): string {
    return this.#one(words.split(' '))
  }

  #some<T>(most: number, make: () => T): T[] {
    return Array.from({ length: 1 + this.#below(most) }, make)
  }

  #constant(kind: Kind): string {
    return this.#word(constants[kind])
  }

  #columns(dataset: 't' | 'u', alias: string): readonly Column[] {
    const all = columnsOf(dataset, alias)
    return this.#isCareful ? all.filter(({ kind, sql }) => kind !== 'float' && !sql.endsWith('.fl')) : all
  }

  /** A column, or a value made of one. */
  #value({ columns }: Source): string {
    const column = this.#one(columns)
    if (this.#chance(this.#isCareful ? 0.85 : 0.6)) return column.sql
    if (this.#chance(0.15)) return `coalesce(${column.sql}, ${this.#constant(column.kind)})`
    if (this.#chance(0.1)) return `case when ${this.#condition({ sql: '', columns })} then ${column.sql} end`
    if (this.#chance(0.1)) return this.#call(this.#one(manyScalars), columns)
    return this.#word(unary[column.kind] ?? '$').replaceAll('$', () => column.sql)
  }

  #call(name: string, columns: readonly Column[]): string {
    return `${name}(${this.#some(2, () => this.#one(columns).sql).join(', ')})`
  }

  #condition({ columns }: Source): string {
    const { sql, kind } = this.#one(columns)
    const compared = `${sql} ${this.#word('= < <= > >= <>')} ${this.#constant(kind)}`
    const choices = [
      compared,
      `${sql} is ${this.#word('null not·null').replace('·', ' ')}`,
      `${sql} in (${this.#some(3, () => this.#constant(kind)).join(', ')})`,
      `${sql} is distinct from ${this.#constant(kind)}`,
      `not (${compared})`,
      `${this.#offset(columns)} between ${this.#below(900)} and ${this.#below(1600)}`,
      `${this.#offset(columns)} ${this.#word('< > >=')} ${this.#below(1500)}`,
      `${this.#eventTime(columns)} ${this.#word('< > >= <=')} '2026-01-01T00:0${this.#below(5)}:${10 + this.#below(49)}Z'`,
      `${this.#eventTime(columns)} < timestamptz'2026-01-01T00:0${this.#below(5)}:00Z' and ${compared}`,
      `exists (select 1 from "acme/u" e where e.k = ${this.#named('k', columns)})`,
      `${this.#named('k', columns)} in (select k from "acme/u" where v > 1)`,
      `${sql} > (select min(${sql.split('.')[1]}) from "acme/t")`,
    ]
    return this.#one(choices)
  }

  #named(name: string, columns: readonly Column[]): string {
    return (columns.find(({ sql }) => sql.endsWith(`.${name}`)) ?? this.#one(columns)).sql
  }

  #offset(columns: readonly Column[]): string {
    return this.#named('offset', columns)
  }

  #eventTime(columns: readonly Column[]): string {
    return this.#named('event_time', columns)
  }

  #where(source: Source, share = 0.5): string {
    if (!this.#chance(share)) return ''
    return ` where ${this.#some(2, () => this.#condition(source)).join(` ${this.#word('and or')} `)}`
  }

  #source(depth: number): Source {
    const t = { sql: '"acme/t" t', columns: this.#columns('t', 't') }
    if (this.#chance(0.45) || depth === 0) return t
    const u = this.#columns('u', 'u')
    const both = [...t.columns, ...u]
    const on = this.#word('t.k=u.k t.offset=u.offset t.d=u.d t.k=u.k·and·t.x<u.v').replaceAll('·', ' ')
    const inner = (sql: string): Source => ({ sql: `(${sql}) t`, columns: t.columns })
    const made: (() => Source)[] = [
      () => inner(`select * from "acme/t" t${this.#where(t, 1)}`),
      () => inner(`select * from "acme/t" order by offset ${this.#word('asc desc')} limit ${this.#below(1200)}`),
      () => inner(`select * from "acme/t" limit ${this.#below(1200)}`),
      () => inner(`select * from "acme/t" order by ${this.#word('k z g event_time x')} limit ${this.#below(900)}`),
      () => inner('select distinct * from "acme/t"'),
      () => inner('select * from "acme/t" where k < 2 union all select * from "acme/t" where k > 3'),
      () => ({
        sql: `"acme/t" t ${this.#word('join left·join full·join right·join').replace('·', ' ')} "acme/u" u on ${on}`,
        columns: both,
      }),
      () => ({ sql: `"acme/t" t ${this.#word('semi anti')} join "acme/u" u on ${on}`, columns: t.columns }),
      () => ({ sql: '"acme/t" t asof join "acme/u" u on t.k = u.k and t.offset >= u.offset', columns: both }),
      () => ({ sql: '"acme/t" t cross join (select * from "acme/u" where offset < 3) u', columns: both }),
      () => ({
        sql: '"acme/t" t join "acme/t" u on t.offset = u.m',
        columns: [...t.columns, ...this.#columns('t', 'u')],
      }),
      () => ({ sql: '"acme/u" u', columns: u }),
      () => ({ sql: '"acme/t" t, unnest(t.l) v(i)', columns: [...t.columns, { sql: 'v.i', kind: 'integer' }] }),
      () => ({
        sql: '"acme/u" u, lateral (select count(*) as n, max(x) as x from "acme/t" t where t.k = u.k) v',
        columns: [...u, { sql: 'v.n', kind: 'integer' }, { sql: 'v.x', kind: 'float' }],
      }),
    ]
    return this.#one(made)()
  }

  #select(source: Source): string {
    if (this.#chance(0.45)) return this.#grouped(source)
    const items = this.#some(4, () => (this.#chance(0.15) ? this.#window(source) : this.#value(source)))
    if (this.#chance(0.1)) items.unshift(source.sql.includes(' t') ? 't.*' : '*')
    const distinct = this.#chance(0.2) ? 'distinct ' : this.#chance(0.03) ? `distinct on (${this.#value(source)}) ` : ''
    const tail = this.#tail(items.length, source)
    return `select ${distinct}${items.join(', ')} from ${source.sql}${this.#where(source)}${tail}`
  }

  #grouped(source: Source): string {
    const keys = this.#chance(0.7) ? this.#some(2, () => this.#value(source)) : []
    const values = this.#some(3, () => this.#aggregate(source))
    const items = [...keys, ...values]
    const sets = this.#word('$ $ $ rollup($) cube($) all')
    const by = keys.length === 0 ? '' : ` group by ${sets.replace('$', () => keys.join(', '))}`
    const having = this.#chance(0.15) ? ' having count(*) > 2' : ''
    return `select ${items.join(', ')} from ${source.sql}${this.#where(source)}${by}${having}${this.#tail(items.length)}`
  }

  #aggregate(source: Source): string {
    const name = this.#one(this.#isCareful ? exactAggregates : this.#chance(0.5) ? usualAggregates : manyAggregates)
    const of = this.#operand(name, source)
    const second = this.#chance(this.#isCareful ? 0.95 : 0.4)
      ? this.#offset(source.columns)
      : this.#operand(name, source)
    const filter = this.#chance(0.1) ? ` filter (where ${this.#condition(source)})` : ''
    const distinct = this.#chance(0.1) ? 'distinct ' : ''
    if (/^(?:quantile|approx)/.test(name)) return `${name}(${of}, 0.3)${filter}`
    if (name === 'histogram_exact') return `${name}(${of}, [${of.startsWith('t.k') ? '1, 2' : this.#value(source)}])`
    if (binaryAggregate.test(name)) return `${name}(${of}, ${second})${filter}`
    const order = this.#isCareful || this.#chance(0.5) ? ` order by ${this.#chance(0.5) ? of : second}` : ''
    if (/^(?:string_agg|group_concat|listagg)$/.test(name)) {
      return `${name}(${distinct}(${of})::varchar, '-'${order})${filter}`
    }
    const isOrdered = /^(?:list|array_agg|first|last|any_value|sum|arbitrary)$/.test(name)
    return `${name}(${distinct}${of}${isOrdered ? order : ''})${filter}`
  }

  /** A value that an aggregate takes. */
  #operand(name: string, source: Source): string {
    const fitting = ofNumbers.test(name)
      ? numbers
      : name.startsWith('bit')
        ? ['integer']
        : ofTruths.test(name)
          ? ['bool']
          : []
    const columns = source.columns.filter(({ kind }) => fitting.includes(kind))
    if (columns.length === 0) return this.#value(source)
    const { sql } = this.#one(columns)
    return fitting === numbers && !this.#isCareful && this.#chance(0.3)
      ? this.#word('abs($) $*2 $+0.5 $::double $%3').replace('$', () => sql)
      : sql
  }

  #window(source: Source): string {
    const isRow = this.#chance(0.5)
    const name = this.#one(windows)
    const operand = /^(?:row_number|.*rank|cume_dist)$/.test(name) ? '' : name === 'ntile' ? '3' : this.#value(source)
    const call = isRow ? `${name}(${operand}${name === 'nth_value' ? ', 2' : ''})` : this.#aggregate(source)
    const by = this.#chance(0.5) ? `partition by ${this.#value(source)} ` : ''
    const order = this.#chance(this.#isCareful ? 0.8 : 0.5) ? this.#offset(source.columns) : this.#value(source)
    const isFramed = this.#chance(0.8)
    return `${call} over (${by}${isFramed ? `order by ${order}${isRow ? '' : this.#one(frames)}` : ''})`
  }

  #tail(items: number, source?: Source): string {
    const direction = (): string => this.#word('· ·desc ·nulls·first ·desc·nulls·last').replaceAll('·', ' ').trimEnd()
    const key = (): string =>
      source !== undefined && this.#chance(0.3) ? this.#value(source) : String(1 + this.#below(items))
    const order = this.#chance(0.5) ? ` order by ${this.#some(2, () => key() + direction()).join(', ')}` : ''
    const limit = this.#chance(0.35) ? ` limit ${this.#below(60)}` : ''
    return `${order}${limit}${limit !== '' && this.#chance(0.2) ? ' offset 3' : ''}`
  }

  #set(): string {
    const kind = this.#word('union union·all intersect intersect·all except except·all').replace('·', ' ')
    const [left, right] = [this.#source(1), this.#source(1)]
    const pairs = this.#some(3, () => {
      const one = this.#one(left.columns)
      const alike = right.columns.filter((other) => other.kind === one.kind)
      return [one.sql, alike.length === 0 ? 'null' : this.#one(alike).sql]
    })
    const side = (place: 0 | 1, from: Source): string =>
      `select ${pairs.map((pair) => pair[place]).join(', ')} from ${from.sql}${this.#where(from)}`
    return `${side(0, left)} ${kind} ${side(1, right)}${this.#tail(pairs.length)}`
  }
}
