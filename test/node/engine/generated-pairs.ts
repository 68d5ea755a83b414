// Statements of the engine's own dialect, made from a seed, each with what says the same in SQLite: QUALIFY, GROUPING SETS, sets with
// ALL and BY NAME, DISTINCT ON, ASOF, LATERAL, semi and anti joins, UNNEST, PIVOT, ANY and ALL, windows with IGNORE
// NULLS, DISTINCT and bounds of their own. Over the tables of generated.ts.

import { Choice, Maker } from './generated.ts'

/** For the engine, and for SQLite. */
export type Pair = readonly [string, string]

/** So many pairs. */
export function generatedPairs(count: number, seed: number): Pair[] {
  const maker = new PairMaker(new Choice(seed))
  return Array.from({ length: count }, () => maker.pair())
}

class PairMaker {
  readonly #choice: Choice
  readonly #maker: Maker

  constructor(choice: Choice) {
    this.#choice = choice
    this.#maker = new Maker(choice)
  }

  pair(): Pair {
    return this.#choice.one<Pair>(
      () => this.#qualify(),
      () => this.#groupingSets(),
      () => this.#sets(),
      () => this.#byName(),
      () => this.#distinctOn(),
      () => this.#asof(),
      () => this.#lateral(),
      () => this.#halfJoin(),
      () => this.#unnest(),
      () => this.#pivot(),
      () => this.#quantified(),
      () => this.#ignoreNulls(),
      () => this.#distinctWindow(),
      () => this.#ownBounds(),
      () => this.#extremes(),
    )
  }

  #word(words: string): string {
    return this.#choice.word(words)
  }

  #next(below: number): number {
    return this.#choice.next(below)
  }

  #condition(table: string): string {
    return this.#maker.condition(table)
  }

  #number(table: string): string {
    return this.#maker.number(table)
  }

  #over(): string {
    const keys = this.#word('|partition by x.a |partition by x.a, x.b |partition by x.b |partition by x.s, x.b ')
    return `over (${keys}order by ${this.#number('x')}${this.#maker.order()}, x.id)`
  }

  #qualify(): Pair {
    const window = `${this.#word('row_number()|rank()|dense_rank()|sum(x.v)|count(x.a)')} ${this.#over()}`
    const other = `${this.#word('max(x.v)|min(x.b)|lag(x.a)')} ${this.#over()}`
    const from = `from t x where ${this.#condition('x')}`
    const test = `${this.#word('<=|=|>|<>')} ${1 + this.#next(4)}`
    const inner = `select x.id as i, ${window} as n, ${other} as m ${from}`
    return [
      this.#word('a|b') === 'a' ? `${inner} qualify n ${test}` : `${inner} qualify ${window} ${test}`,
      `select * from (${inner}) where n ${test}`,
    ]
  }

  #groupingSets(): Pair {
    const keys = ['x.a', 'x.b', 'x.s']
    const many = `${this.#word('sum|min|max|count')}(${this.#number('x')})`
    const other = this.#word('count(distinct x.v)|sum(distinct x.c)|count(*)|max(x.s)')
    const where = `from t x where ${this.#condition('x')}`
    const having = this.#word(`| having count(*) > ${this.#next(4)}`)
    const [written, sets] = this.#choice.one<readonly [string, readonly (readonly number[])[]]>(
      () => ['rollup (x.a, x.b, x.s)', [[0, 1, 2], [0, 1], [0], []]],
      () => ['cube (x.a, x.s)', [[0, 2], [0], [2], []]],
      () => ['grouping sets ((x.a, x.b), (x.s), (), (x.a))', [[0, 1], [2], [], [0]]],
      () => ['grouping sets ((x.a), (x.a), (x.b))', [[0], [0], [1]]],
      () => ['x.s, rollup (x.a, x.b)', [[2, 0, 1], [2, 0], [2]]],
      () => ['rollup (x.a), cube (x.b)', [[0, 1], [0], [1], []]],
    )
    const used = keys.filter((key) => written.includes(key))
    const bits = (set: readonly number[]): number =>
      used.reduce((sum, key) => sum * 2 + (set.includes(keys.indexOf(key)) ? 0 : 1), 0)
    const of = (set: readonly number[]): string => {
      const shown = keys.map((key, at) => (set.includes(at) ? key : 'null'))
      const group = set.length === 0 ? '' : ` group by ${set.map((at) => keys[at]).join(', ')}`
      const have = set.length === 0 && having === '' ? ' having 1' : having
      return `select ${shown.join(', ')}, ${many}, ${other}, ${bits(set)} ${where}${group}${set.length === 0 ? have : having}`
    }
    const shown = keys.map((key) => (written.includes(key) ? key : 'null'))
    return [
      `select ${shown.join(', ')}, ${many}, ${other}, grouping(${used.join(', ')}) ${where} group by ${written}${having}`,
      sets.map(of).join(' union all '),
    ]
  }

  #sets(): Pair {
    const [one, other] = [this.#side(), this.#side()]
    const how = this.#word('intersect|except')
    const numbered = (side: string): string =>
      `select p, q, row_number() over (partition by p, q) as n from (${side}) z`
    return [
      `select * from (${one}) k ${how} all ${other}`,
      `select p, q from (${numbered(one)} ${how} ${numbered(other)}) k`,
    ]
  }

  #side(): string {
    const distinct = this.#word('|distinct ')
    return `select ${distinct}x.a as p, ${this.#number('x')} as q from ${this.#word('t|u|w')} x where ${this.#condition('x')}`
  }

  #byName(): Pair {
    const all = this.#word(' all|')
    const one = `select x.a as p, ${this.#number('x')} as q from t x where ${this.#condition('x')}`
    const [r, q] = [this.#number('x'), this.#number('x')]
    const from = `from u x where ${this.#condition('x')}`
    return [
      `${one} union${all} by name select ${r} as r, ${q} as q ${from}`,
      `select p, q, null as r from (${one}) union${all} select null, ${q}, ${r} ${from}`,
    ]
  }

  #distinctOn(): Pair {
    const key = this.#word('x.a|x.b|x.s|x.a + 1|coalesce(x.a, x.b)')
    const order = `${this.#number('x')}${this.#maker.order()}, x.id${this.#maker.order()}`
    const from = `from t x where ${this.#condition('x')}`
    const numbered = `select x.id as i, x.a as n, row_number() over (partition by ${key} order by ${order}) as z ${from}`
    const chosen = `select distinct on (${key}) x.id as i, x.a as n ${from} order by ${key}, ${order}`
    const tail = this.#word('|where q.n > 1|where q.n is null')
    return [
      `select * from (${chosen}) q ${tail}`,
      `select i, n from (${numbered}) q where z = 1 ${tail.replace('where', 'and')}`,
    ]
  }

  #asof(): Pair {
    const right = `(select ${this.#word('a|b')} as k, v as m, max(id) as id, max(c) as c from u where ${this.#condition('u')} group by 1, 2)`
    const [compare, best] = this.#choice.pick<readonly [string, string]>(
      ['>=', 'max'],
      ['>', 'max'],
      ['<=', 'min'],
      ['<', 'min'],
    )
    const how = this.#word('|left ')
    const left = `(select * from t x where ${this.#condition('x')})`
    const tail = this.#word('|where y.c > 1|where y.id is null or x.b > 0')
    const isKeyed = this.#next(3) > 0
    const also = this.#word(
      `||and ${this.#word('x.b <> y.c|x.b + y.c > 2|(x.c = y.c or y.c > 2)|x.b <> 1|y.c in (x.b, x.c, 1)')} `,
    )
    const on = `${isKeyed ? 'x.a = y.k and ' : ''}x.v ${compare} y.m ${also}`
    const from = isKeyed ? right : right.replace(/select [ab] as k/, 'select 0 as k')
    const inner = `select ${best}(z.m) from ${from} z where ${isKeyed ? 'x.a = z.k and ' : ''}x.v ${compare} z.m ${also.replaceAll('y.', 'z.')}`
    const shown = this.#word('x.id, y.id, y.m|x.id, y.id|x.id, x.v')
    return [
      `select ${shown} from ${left} x asof ${how}join ${from} y on ${on} ${tail}`,
      `select ${shown} from ${left} x ${how}join ${from} y on ${isKeyed ? 'x.a = y.k and ' : ''}y.m = (${inner}) ${tail}`,
    ]
  }

  #lateral(): Pair {
    const made = `${this.#word('sum|min|max|count')}(${this.#number('y')})`
    const ties = `from u y where ${this.#maker.tie()}`
    const tail = this.#word('|where z.m > 1|where z.m is null')
    return this.#choice.one<Pair>(
      () => [
        `select x.id, z.m from t x, lateral (select ${made} as m ${ties}) z ${tail}`,
        `select i, m from (select x.id as i, (select ${made} ${ties}) as m from t x) z ${tail}`,
      ],
      () => {
        const on = this.#maker.tie()
        return [
          `select x.id, z.i, z.m from t x left join lateral (select y.id as i, y.v as m from u y where ${on}) z on true ${tail}`,
          `select x.id, z.id, z.v from t x left join u z on ${on.replaceAll('y.', 'z.')} ${tail.replace('z.m', 'z.v')}`,
        ]
      },
      () => {
        const order = `${this.#number('y')}${this.#maker.order()}, y.id`
        const numbered = `select x.id as xi, y.id as i, y.v as m, row_number() over (partition by x.id order by ${order}) as n from t x, u y where ${this.#maker.tie()}`
        const on = numbered.replace(/^.* where /, '')
        const most = 1 + this.#next(3)
        return [
          `select x.id, z.i, z.m from t x, lateral (select y.id as i, y.v as m from u y where ${on} order by ${order} limit ${most}) z ${tail}`,
          `select xi, i, m from (${numbered}) z ${tail === '' ? 'where' : `${tail} and`} n <= ${most}`,
        ]
      },
    )
  }

  #halfJoin(): Pair {
    const on = this.#maker.tie()
    const [how, exists] = this.#choice.pick<readonly [string, string]>(['semi', 'exists'], ['anti', 'not exists'])
    const where = this.#condition('x')
    return [
      `select x.id, x.v from t x ${how} join u y on ${on} where ${where}`,
      `select x.id, x.v from t x where ${where} and ${exists} (select 1 from u y where ${on})`,
    ]
  }

  #unnest(): Pair {
    const parts = [this.#number('x'), this.#number('x'), this.#word('null|x.v|1')]
    const where = this.#condition('x')
    const all = parts.map((part) => `select x.id as i, ${part} as n from t x where ${where}`).join(' union all ')
    const test = this.#word('n > 1|n is null|n = x.a|n in (0, 1, null)')
    return this.#choice.one<Pair>(
      () => [`select x.id, unnest([${parts.join(', ')}]) from t x where ${where}`, all],
      () => [
        `select x.id, n from t x, unnest([${parts.join(', ')}]) y(n) where ${where} and ${test}`,
        `select x.id, z.n from t x join (${all}) z on z.i = x.id where ${test.replaceAll(/\bn\b/g, 'z.n')}`,
      ],
      () => [
        `select x.id, (select sum(n) from unnest([${parts.join(', ')}]) y(n) where ${test}) from t x where ${where}`,
        `select x.id, (select sum(z.n) from (${all}) z where z.i = x.id and ${test.replaceAll(/\bn\b/g, 'z.n')}) from t x where ${where}`,
      ],
      () => [
        `select n, count(*), sum(i) from (select x.id as i, unnest([${parts.join(', ')}]) as n from t x where ${where}) z group by n`,
        `select n, count(*), sum(i) from (${all}) z group by n`,
      ],
    )
  }

  #pivot(): Pair {
    const where = this.#condition('x')
    const made = this.#word('sum|min|max|count')
    const values = [0, 1, 2].slice(0, 1 + this.#next(3))
    return [
      `select * from (select x.b, x.a, x.v from t x where ${where}) pivot (${made}(v) for a in (${values.join(', ')}) group by b)`,
      `select x.b, ${values.map((value) => `${made}(x.v) filter (where x.a = ${value})`).join(', ')} from t x where ${where} group by x.b`,
    ]
  }

  #quantified(): Pair {
    const compare = this.#word('=|<>|<|<=|>|>=')
    const rest = `from u y where ${this.#choice.one(
      () => this.#condition('y'),
      () => this.#maker.tie(),
    )}`
    const [inner, outer] = [this.#number('y'), this.#number('x')]
    const not = this.#word('|not ')
    return this.#choice.one<Pair>(
      () => [
        `select x.id from t x where ${not}(${outer} ${compare} any (select ${inner} ${rest}))`,
        not === ''
          ? `select x.id from t x where exists (select 1 from (select ${inner} as q ${rest}) z where ${outer} ${compare} z.q)`
          : `select x.id from t x where not exists (select 1 from (select ${inner} as q ${rest}) z where (${outer} ${compare} z.q) is not 0)`,
      ],
      () => [
        `select x.id from t x where ${not}(${outer} ${compare} all (select ${inner} ${rest}))`,
        not === ''
          ? `select x.id from t x where not exists (select 1 from (select ${inner} as q ${rest}) z where (${outer} ${compare} z.q) is not 1)`
          : `select x.id from t x where exists (select 1 from (select ${inner} as q ${rest}) z where (${outer} ${compare} z.q) is 0)`,
      ],
    )
  }

  #numbered(keys: string, order: string): string {
    return `(select *, row_number() over (partition by ${keys} order by ${order}, x.id) as n from t x)`
  }

  #ignoreNulls(): Pair {
    const keys = this.#word('x.a|x.b|x.s')
    const own = keys.replace('x.', '')
    const order = `x.${this.#word('v|c')}${this.#maker.order()}`
    const of = this.#word('v|a|b|c')
    const numbered = this.#numbered(keys, order)
    const [low, high] = [this.#next(3), this.#next(3)]
    const [name, way] = this.#choice.pick<readonly [string, string]>(['first_value', 'asc'], ['last_value', 'desc'])
    const over = `over (partition by ${keys} order by ${order}, x.id rows between ${low} preceding and ${high} following)`
    const same = `z.${own} is x.${own}`
    return this.#choice.one<Pair>(
      () => [
        `select x.id, ${name}(x.${of} ignore nulls) ${over} from t x`,
        `select x.id, (select z.${of} from ${numbered} z where ${same} and z.n between x.n - ${low} and x.n + ${high} and z.${of} is not null order by z.n ${way} limit 1) from ${numbered} x`,
      ],
      () => {
        const by = 1 + this.#next(2)
        const [call, test, dir] = this.#choice.pick<readonly [string, string, string]>(
          ['lag', '<', 'desc'],
          ['lead', '>', 'asc'],
        )
        return [
          `select x.id, ${call}(x.${of}, ${by} ignore nulls) over (partition by ${keys} order by ${order}, x.id) from t x`,
          `select x.id, (select z.${of} from ${numbered} z where ${same} and z.n ${test} x.n and z.${of} is not null order by z.n ${dir} limit 1 offset ${by - 1}) from ${numbered} x`,
        ]
      },
      () => {
        const nth = 1 + this.#next(3)
        const nulls = this.#word('| ignore nulls')
        return [
          `select x.id, nth_value(x.${of}, ${nth}${nulls}) ${over} from t x`,
          `select x.id, (select z.${of} from ${numbered} z where ${same} and z.n between x.n - ${low} and x.n + ${high} ${nulls === '' ? '' : `and z.${of} is not null`} order by z.n limit 1 offset ${nth - 1}) from ${numbered} x`,
        ]
      },
    )
  }

  #distinctWindow(): Pair {
    const keys = this.#word('x.a|x.b|x.s')
    const own = keys.replace('x.', '')
    const order = `x.${this.#word('v|c')}${this.#maker.order()}`
    const made = (table: string): string => `${made0}(distinct ${table}.${of})`
    const made0 = this.#word('sum|count|min')
    const of = this.#word('v|a|b|c')
    const test = this.#word(`|x.b > 0|x.v is not null|x.c < ${this.#next(6)}`)
    const filter = test === '' ? '' : ` filter (where ${test})`
    const also = test === '' ? '' : ` and ${test.replace('x.', 'z.')}`
    const numbered = this.#numbered(keys, order)
    const [low, high] = [this.#next(3), this.#next(3)]
    const [frame, within] = this.#choice.pick<readonly [string, string]>(
      [`rows between ${low} preceding and ${high} following`, `and z.n between x.n - ${low} and x.n + ${high}`],
      ['rows between unbounded preceding and current row', 'and z.n <= x.n'],
      ['rows between current row and unbounded following', 'and z.n >= x.n'],
      ['rows between unbounded preceding and unbounded following exclude current row', 'and z.n <> x.n'],
    )
    return [
      `select x.id, ${made('x')}${filter} over (partition by ${keys} order by ${order}, x.id ${frame}), count(*) over (partition by ${keys}) from t x`,
      `select x.id, (select ${made('z')} from ${numbered} z where z.${own} is x.${own} ${within}${also}), (select count(*) from t z where z.${own} is x.${own}) from ${numbered} x`,
    ]
  }

  /** Bounds that each row has for itself. */
  #ownBounds(): Pair {
    const keys = this.#word('x.a|x.b|x.s')
    const own = keys.replace('x.', '')
    const order = `x.${this.#word('v|c')}${this.#maker.order()}`
    const [low, high] = [this.#word('b|c'), this.#word('b|c')]
    const numbered = this.#numbered(keys, order)
    const made = this.#word('sum|count|min|max')
    const exclude = this.#word('| exclude current row')
    const frame = `rows between coalesce(x.${low}, 0) preceding and coalesce(x.${high}, 1) following${exclude}`
    const within = `z.n between x.n - coalesce(x.${low}, 0) and x.n + coalesce(x.${high}, 1)${exclude === '' ? '' : ' and z.n <> x.n'}`
    return [
      `select x.id, ${made}(x.v) over (partition by ${keys} order by ${order}, x.id ${frame}) from t x`,
      `select x.id, (select ${made}(z.v) from ${numbered} z where z.${own} is x.${own} and ${within}) from ${numbered} x`,
    ]
  }

  #extremes(): Pair {
    const where = this.#condition('x')
    const of = this.#word('x.v * 100 + x.id|x.id|-x.id')
    const [call, way] = this.#choice.pick<readonly [string, string]>(['arg_max', 'desc'], ['arg_min', 'asc'])
    const key = this.#word('a|b|s')
    const value = this.#word('x.s|x.v|x.c')
    return [
      `select x.${key}, ${call}(${value}, ${of}) from t x where ${where} group by x.${key}`,
      `select y.${key}, (select ${value} from t x where x.${key} is y.${key} and ${where} and ${value} is not null and (${of}) is not null order by ${of} ${way} limit 1) from (select distinct x.${key} from t x where ${where}) y`,
    ]
  }
}
