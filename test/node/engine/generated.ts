// Statements that SQLite reads as the engine does, made from a seed: windows, groups, joins, sets, first rows, CTEs and correlated
// subqueries over `t`, `u` and `w`, which have the columns id, a, b, c, v (integers) and s (a text), with many NULLs and ties.

/** Numbers that look random, the same in each run. */
export function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Rows of a table, as literals. */
export function literalRows(count: number, seed: number): string[] {
  const next = numbers(seed)
  const maybe = (below: number): string => (next(5) === 0 ? 'null' : String(next(below)))
  return Array.from({ length: count }, (_, id) => {
    const text = next(5) === 0 ? 'null' : `'${['x', 'y', 'X', ''][next(4)]}'`
    return `(${[id, maybe(4), maybe(3), maybe(6), maybe(20), text].join(', ')})`
  })
}

/** So many statements. */
export function generatedStatements(count: number, seed: number): string[] {
  const maker = new Maker(new Choice(seed))
  return Array.from({ length: count }, () => maker.statement())
}

/** What looks like chance. */
export class Choice {
  readonly next: (below: number) => number

  constructor(seed: number) {
    this.next = numbers(seed)
  }

  one<T>(first: () => T, ...others: readonly (() => T)[]): T {
    return this.pick(first, ...others)()
  }

  pick<T>(first: T, ...others: readonly T[]): T {
    return [first, ...others][this.next(1 + others.length)] ?? first
  }

  word(words: string): string {
    const [first = '', ...others] = words.split('|')
    return this.pick(first, ...others)
  }
}

export class Maker {
  readonly #choice: Choice

  constructor(choice: Choice) {
    this.#choice = choice
  }

  statement(): string {
    return this.#one(
      () => this.#windows(),
      () => this.#groups(),
      () => `select x.id, y.id, ${this.number('y')} from t x ${this.#join()}`,
      () => `select count(*), sum(x.v), max(y.id) from t x ${this.#join()}`,
      () => `select * from (${this.#side()}) q ${this.#word('union|union all|intersect|except')} ${this.#side()}`,
      () => this.firstRows(),
      () => `select q.i, y.id from (${this.firstRows()}) q left join u y on q.n = y.a`,
      () => this.#shared(),
      () => this.#marks(),
      () => this.#chosenTwice(),
      () => this.#using(),
      () => this.#named(),
      () => this.#recursive(),
      () => `select x.id, ${this.#inner()} as p, ${this.#exists()} as e from t x`,
      () => `select x.id from t x where ${this.#exists()} ${this.#word('and|or')} ${this.#exists()}`,
      () => `select x.id from t x where ${this.#inner()} ${this.#compare()} ${this.number('x')}`,
    )
  }

  #next(below: number): number {
    return this.#choice.next(below)
  }

  #one(first: () => string, ...others: readonly (() => string)[]): string {
    return this.#choice.one(first, ...others)
  }

  #word(words: string): string {
    return this.#choice.word(words)
  }

  #compare(): string {
    return this.#word('=|=|<>|<|<=|>|>=|is distinct from|is not distinct from')
  }

  #column(table: string): string {
    return `${table}.${this.#word('a|b|c|v')}`
  }

  number(table: string): string {
    const column = (): string => this.#column(table)
    return this.#one(
      column,
      column,
      () => `(${column()} + ${column()})`,
      () => `coalesce(${column()}, ${this.#next(4)})`,
      () => `nullif(${column()}, ${this.#next(4)})`,
      () => `case when ${column()} > ${column()} then ${column()} else ${this.#next(4)} end`,
    )
  }

  condition(table: string, depth = 1): string {
    const inner = (): string => this.condition(table, depth - 1)
    return this.#one(
      () => `(${this.number(table)} ${this.#compare()} ${this.number(table)})`,
      () => `${this.#column(table)} in (0, 1, ${this.#next(6)})`,
      () => `${this.#column(table)} is ${this.#word('null|not null')}`,
      () => `${table}.s ${this.#compare()} '${this.#word('x|y|X')}'`,
      ...(depth === 0 ? [] : [() => `(not ${inner()})`, () => `(${inner()} ${this.#word('and|or')} ${inner()})`]),
    )
  }

  order(): string {
    return this.#word(' nulls first| nulls last| desc nulls first| desc nulls last')
  }

  #aggregate(table: string): string {
    const sum = `${this.#word('sum|min|max|count')}(${this.number(table)})`
    return this.#one(
      () => sum,
      () => `${sum} filter (where ${this.condition(table)})`,
      () => 'count(*)',
      () => `max(${table}.s)`,
    )
  }

  #windows(): string {
    const keys = (): string => {
      const some = Array.from({ length: this.#next(4) }, () => this.#word('x.a|x.b|x.s|y.a|y.b|a0|x.a + 0'))
      return some.length === 0 ? '' : `partition by ${some.join(', ')} `
    }
    const exclude = this.#word('| exclude current row| exclude group| exclude ties')
    const frame = (): string =>
      this.#word('rows|groups') +
      ` between ${this.#word('unbounded preceding|2 preceding|current row')}` +
      ` and ${this.#word('current row|1 following|unbounded following')}${exclude}`
    const total = (): string => `order by ${this.number('x')}${this.order()}, x.id, y.id`
    const one = (): string =>
      this.#one(
        () => `${this.#aggregate('x')} over (${keys()})`,
        () => `${this.#aggregate('x')} over (${keys()}${total()} ${frame()})`,
        () => `${this.#aggregate('x')} over (${keys()}order by ${this.number('x')}${this.order()})`,
        () => `${this.#word('rank|dense_rank|row_number')}() over (${keys()}${total()})`,
        () => `${this.#word('lag|lead')}(${this.number('x')}, ${this.#next(3)}) over (${keys()}${total()})`,
        () => `${this.#word('first_value|last_value')}(${this.number('x')}) over (${keys()}${total()} ${frame()})`,
      )
    const from = `(select *, a as a0 from t) x ${this.#word('join|left join')} u y on ${this.#word('x.a = y.a|x.a = y.a and x.b = y.b')}`
    const all = `select x.id as i, y.id as j, ${one()} as n, ${one()} as m, ${one()} as o from ${from}`
    return this.#one(
      () => all,
      () =>
        `select * from (${all.replaceAll('max(x.s)', 'max(x.v)')}) q where q.n ${this.#word('<=|=')} ${1 + this.#next(3)}`,
    )
  }

  #groups(): string {
    const keys = `${this.number('x')}, x.${this.#word('s|b')}`
    const having = this.#one(
      () => '',
      () => ` having ${this.#aggregate('x').replace('max(x.s)', 'count(*)')} > ${this.#next(3)}`,
    )
    const [one, other] = [this.#aggregate('x'), this.#word('count(distinct x.a)|sum(distinct x.v)')]
    return `select ${keys}, ${one}, ${other} from t x where ${this.condition('x')} group by ${keys}${having}`
  }

  #join(): string {
    const to = this.#word('u|w|(select distinct 1 as id, a, b, c, v, s from u)|(select * from u where b > 0)')
    const on = this.#one(
      () => 'x.a = y.a',
      () => `x.b = y.b and ${this.number('x')} ${this.#compare()} ${this.number('y')}`,
      () => `${this.number('x')} ${this.#compare()} ${this.number('y')}`,
      () => '(x.a = y.a or x.s = y.s)',
    )
    const kind = this.#word('join|left join|right join|full join')
    return `${kind} ${to} y on ${on} where ${this.condition(this.#word('x|y'))}`
  }

  #side(): string {
    return `select ${this.#word('|distinct ')}x.a, ${this.number('x')} from ${this.#word('t|u')} x where ${this.condition('x')}`
  }

  firstRows(): string {
    const order = `${this.number('x')}${this.order()}, x.id${this.order()}`
    const from = `from t x where ${this.condition('x')} order by ${order}`
    return `select x.id as i, x.a as n ${from} limit ${1 + this.#next(9)} offset ${this.#next(3)}`
  }

  #shared(): string {
    const made = this.#one(
      () => `select x.a as k, ${this.#word('sum|max')}(x.v) as m from t x group by x.a`,
      () => `select x.a as k, y.b as m from t x ${this.#join()}`,
    )
    const how = this.#word('|materialized |not materialized ')
    const on = this.#word('p.k = q.k|p.k = q.m|p.m < q.m')
    return this.#one(
      () =>
        `with c as ${how}(${made}) select p.k, q.k, p.m from c p ${this.#word('join|left join|full join')} c q on ${on}`,
      () => `select * from (${made}) z where k > 0 union all select * from (${made}) z where m > ${this.#next(4)}`,
    )
  }

  /** Ties a row of `y` to the row around it. */
  tie(): string {
    return this.#one(
      () => `y.a = ${this.#column('x')}`,
      () => `${this.#column('y')} ${this.#compare()} ${this.#column('x')}`,
      () => `(y.b = ${this.#column('x')} and ${this.number('y')} ${this.#compare()} ${this.number('x')})`,
      () => `(${this.condition('y')} or y.b = ${this.#column('x')})`,
    )
  }

  #inner(): string {
    const ties = `from u y where ${this.tie()}`
    return this.#one(
      () => `(select ${this.#word('sum|min|count')}(${this.number('y')}) ${ties})`,
      () => `(select sum(q) from (select y.a, max(y.v) as q ${ties} group by y.a) z where z.q <> ${this.#column('x')})`,
      () => `(select count(*) from (select * ${ties}) z left join w on z.a = w.a and z.b <> w.v)`,
      () =>
        `(select sum(z.n * z.m) from (select sum(y.v) over (partition by y.a) as n, ` +
        `count(*) over (partition by y.b) as m ${ties}) z)`,
      () => `(select sum(i) from (select y.id as i ${ties} order by y.id limit 2 offset 1) z)`,
      () => `(select count(*) from (select y.a ${ties} ${this.#word('union|intersect|except')} select a from w) z)`,
    )
  }

  #exists(): string {
    const ties = `from u y where ${this.tie()}`
    const outer = `z.k ${this.#compare()} ${this.#column('x')}`
    return this.#one(
      () => `${this.#word('|not ')}exists (select 1 ${ties})`,
      () => `${this.#column('x')} ${this.#word('in|not in')} (select ${this.number('y')} ${ties})`,
      () =>
        `${this.#word('|not ')}exists (select 1 from (select ${this.#column('x')} as o, y.a as k ${ties}) z where ${outer})`,
      () =>
        `${this.#word('|not ')}exists (select 1 ${ties} and exists (select 1 from w z where z.a = y.a and z.c <> x.b))`,
    )
  }

  #marks(): string {
    const inner = (): string =>
      this.#one(
        () => `(select ${this.number('y')} from ${this.#word('u|w')} y where ${this.condition('y')})`,
        () =>
          `(select y.v from u y order by y.v nulls ${this.#word('first|last')}, y.id limit ${this.#next(5)} offset ${this.#next(3)})`,
        () => `(select y.a from u y group by y.a having count(*) > ${this.#next(4)})`,
        () => `(${this.number('x')}, null, ${this.#next(5)})`,
        () => `(0, ${this.number('x')}, ${this.number('x')})`,
      )
    const mark = (): string => `${this.number('x')} ${this.#word('in|not in')} ${inner()}`
    return this.#one(
      () => `select x.id, ${mark()} as p, (${mark()}) is null as q from t x`,
      () => `select x.id from t x where ${mark()} ${this.#word('and|or')} ${mark()}`,
      () => `select x.id from t x where not (${mark()} ${this.#word('and|or')} ${this.condition('x')})`,
      () => `select count(*) filter (where ${mark()}), sum(case when ${mark()} then x.v else -1 end) from t x`,
      () => `select x.id, y.id from t x join u y on x.a = y.a and ${mark()}`,
      () =>
        `select x.a, count(*) from t x group by x.a having max(x.v) ${this.#word('in|not in')} (select y.v from u y where ${this.condition('y')})`,
      () => `select x.id from t x where (x.a, x.b) in (select y.a, y.b from u y where ${this.condition('y')})`,
    )
  }

  /** First rows, used twice. */
  #chosenTwice(): string {
    const c = `with c as ${this.#word('|materialized |not materialized ')}(${this.firstRows()})`
    return this.#one(
      () =>
        `${c} select p.i, q.i from c p ${this.#word('join|left join|full join')} c q on p.n ${this.#word('=|<|<>')} q.n`,
      () => `${c} select i from c union all select i from c where n > (select min(n) from c)`,
      () =>
        `${c} select x.id, (select count(*) from c where c.n = x.a) from t x where x.id in (select i from c) or x.a > 2`,
      () =>
        `${c}, d as (select n, count(*) as k from c group by n) select c.i, d.k from c left join d on c.n = d.n where d.k > 1 or d.k is null`,
      () => `${c} select n, count(*), (select max(i) from c) from c group by n`,
      () =>
        `${c} select x.id, x.v from t x where exists (select 1 from c where c.i = x.id and c.n ${this.#word('=|<>|<')} x.b)`,
    )
  }

  #using(): string {
    const how = this.#word('join|left join|right join|full join')
    const by = this.#word('a|a, b|a, s')
    return this.#one(
      () => `select ${by}, x.id, y.id from t x ${how} u y using (${by}) where ${this.condition(this.#word('x|y'))}`,
      () => `select ${by}, count(*), sum(y.v) from t x ${how} u y using (${by}) group by ${by}`,
      () =>
        `select ${by}, x.id, y.id, z.id from t x ${how} u y using (${by}) ${this.#word('join|left join')} w z using (${by})`,
    )
  }

  /** Windows by name, with FILTER and RANGE. */
  #named(): string {
    const filter = this.#word(`| filter (where ${this.condition('x')})`)
    const range = this.#word('range|groups|rows')
    const frame = `${range} between ${this.#word('1 preceding|2 preceding|current row|unbounded preceding')} and ${this.#word('current row|1 following|unbounded following')}`
    const order = `order by x.v${this.order()}${range === 'rows' ? ', x.id' : ''}`
    return (
      `select x.id, sum(x.v)${filter} over p as o, count(*)${filter} over (p ${frame}) as n, max(x.c) over (q ${order}) as m, ${this.#word('rank|dense_rank')}() over (q ${order}) as r ` +
      `from t x where ${this.condition('x')} window p as (partition by x.${this.#word('a|b')} ${order}), q as (partition by x.${this.#word('s|c')})`
    )
  }

  #recursive(): string {
    const all = this.#word(' all|')
    const step = `select y.a + r.n, r.d + 1 from r join u y on y.b ${this.#word('=|<')} r.d and y.a ${this.#word('>|<>')} ${this.#next(3)} where r.d < 3`
    return `with recursive r(n, d) as (select x.a, 0 from w x union${all} ${step}) select r.n, r.d, x.id from r ${this.#word('join|left join')} w x on x.a = r.n`
  }
}
