// Statements of golden proofs: types, casts and edge values, joins, sets, groups, windows, subqueries, names, parameters,
// pins and cuts. Each line is a statement; `requests` have more members than their statement.

export const statementLines = String.raw`
select * from golden.values
select * exclude (system_time) from golden.values order by id desc
select id, i8, i16, i32, i64, u8, u16, u32, u64 from golden.values
select id, f32, f64 from golden.values order by f64, id
select id, f32, f64 from golden.values order by f32 desc nulls last, id
select id, d4, d18, d38, dd from golden.values
select id, s, length(s), hex(s), extra from golden.values
select id, day, ms, us, bin from golden.values
select id, ints, texts, reals, days, decs from golden.values
select offset, op, event_time, epoch_us(event_time) from golden.values
select id, f64 is null, isnan(f64), isinf(f64), f64 = f64, f64 > 1, signbit(f64), f64::varchar from golden.values
with a as (select f64 from golden.values where id in (9, 10) order by f64) select * from a
select f64, max(f64) over (order by f64), min(f64) over (order by f64 desc) from golden.values where id in (9, 10)
select a.f64, b.f64 from golden.values a join golden.values b on a.f64 = b.f64 where a.id in (9, 10)
select id, f32::double, f32::varchar, f64::float from golden.values where id in (4, 5, 9, 10)
select f64, count(*) from golden.values group by f64
select distinct f64 from golden.values
select max(f64), min(f64), max(f32), min(f32) from golden.values
select max(s), min(s), max(bin), min(bin), max(day), min(ms), max(us), max(d38), min(dd), max(u64), min(i64), max(ints), min(texts) from golden.values
select sum(i64), sum(u64), sum(i8), sum(d4), sum(d18), avg(u64), avg(i64) from golden.values
select sum(d38::decimal(38,0)) from golden.values where id in (2, 4)
select try_cast(f64 as integer), try_cast(f64 as hugeint), try_cast(s as double), try_cast(i64 as smallint), try_cast(u64 as bigint), try_cast(d38 as bigint) from golden.values
select id, try(i64 + 1), try(i64 * 2), try(-i64), try(u64 + 1), try(d38 + 1) from golden.values
select id, i64 // 0, i64 % 0, f64 / 0, 0e0 / 0, -f64 / 0, d4 / 0 from golden.values
select id, i8::double, i64::double, u64::float, d18::double, d38::double, dd::varchar from golden.values
select id, i64::varchar, f64::varchar, d18::varchar, day::varchar, ms::varchar, us::varchar, bin::varchar, ints::varchar, texts::varchar, yes::varchar from golden.values
select id, day + 1, day - 1 from golden.values where id in (3, 4, 5, 6)
select id, us + interval 1 month, us - interval '1 year', date_trunc('century', us), extract(isoyear from us) from golden.values where id in (1, 4, 5, 6)
select id, year(day), dayofyear(day), week(day), isodow(day), julian(day), last_day(day) from golden.values where id not in (2)
select id, epoch_ms(ms), epoch_us(us), strftime(us, '%Y-%m-%d %H:%M:%S.%f') from golden.values
select id, ints[1], len(ints), list_sum(ints::hugeint[]), list_sort(ints), texts[-1], reals[2], days[1], decs[3] from golden.values
select id, unnest(ints) from golden.values
select id, to_json(s), to_json(f64), to_json(ints), to_json(texts), to_json(day), to_json(d18) from golden.values where id <> 2
select id, s || '!', upper(s), lower(s), reverse(s), s collate nocase, ascii(s) from golden.values
select id from golden.values where s like '%\_%' escape '\'
select id from golden.values where s > 'a' order by s
select s from golden.values order by s desc nulls first
select id, hash(s), hash(f64), hash(i64), hash(day), hash(bin) from golden.values
select id, md5(s), sha256(bin) from golden.values
select count(*), count(extra), count(distinct extra) from golden.values
select extra, count(*) from golden.values group by extra order by all
select id, greatest(i64, u8), least(f64, 0), greatest(s, 'm'), least(day, date '2000-01-01') from golden.values
select bit_and(u8), bit_or(i16), bit_xor(u64) from golden.values
select typeof(columns(*)) from golden.values limit 1
select true, false, null, 1, -1, 2147483648, 9223372036854775808, 1.5, -0.05, 1e3, 1e-400, 1e308, 'x', date '2024-02-29', time '10:00', timestamp '2024-02-29 01:02:03', interval 3 day
select 127::tinyint, 255::utinyint, (-32768)::smallint, 65535::usmallint, 4294967295::uinteger, 18446744073709551615::ubigint, 99999999999999999999999999999999999999::hugeint, 7::uhugeint
select 170141183460469231731687303715884105727::varchar, 340282366920938463463374607431768211455::uhugeint::varchar, '123456789012345678901234567890123456789012'::bignum
select 0.1::float, 1e21::double, 'nan'::double, '-inf'::float, 1.50, 5e-324, -0e0, 0.1e0 + 0.2e0, 1e22, 123456789e0, 16777217::float
select 12345678901234567890.123456789::decimal(38,9), 1.005::decimal(4,2), -0.5::decimal(2,1), 1.5 * 1.5, 1.5 + 1, 10 / 4, 10 // 4, 1.0 / 3, 7.5 % 2
select 2.5::int, 3.5::int, -2.5::int, '0x1F'::int, ' 42 '::int, '1e3'::double, true::int, 'yes'::boolean, 1::boolean, '1_000'::int
select '550e8400-e29b-41d4-a716-446655440000'::uuid, '10101'::bit, 'b'::enum('a', 'b'), '\x00\xFF'::blob, '{"a":1}'::json, '21:50:00+02'::timetz
select '2024-09-02 21:50:00.12'::timestamp_ms, '2024-09-02 21:50:00'::timestamp_s, '2024-09-02 21:50:00.000000001'::timestamp_ns, timestamptz '2024-09-02 21:50:00.12+02', 'infinity'::timestamp, '21:50:00.000000001'::time_ns
select 'infinity'::date, '-infinity'::timestamptz, timestamp '0001-01-01', timestamp '10000-01-01', date '0044-03-15 (BC)', 'epoch'::date
select [1, null], [1, 2]::int[2], [[1.5], []], map {'k': 1, 'j': null}, {'z': 1, 'a': 'x'}, row(1, 'a')::varchar, [{'a': 1}], {'a': [map {1: {'b': 2}}]}
select cast('[1, 2]' as int[]), cast('{a: 1}' as struct(a int)), cast([1, 2] as varchar), cast({'a': 1} as varchar), cast(map {1: 'a'} as varchar), cast('{1=a}' as map(int, varchar))
select union_value(n := 1), union_value(s := 'x'), [union_value(a := 1)]
select interval '14 months 3 days 4 hours 5 minutes 6.789 seconds', interval '-1 day', interval 1 year = interval 12 month, interval 30 day = interval 1 month, interval 1 month::varchar
select 1 = 1.0, 'a' < 'B', null = null, null is null, 1 in (1, null), 2 in (1, null), not null, true and null, false or null, [1] <=> [1]
select e'\n\t', 'it''s', $$a'b$$, '😀', 'a' || 'b', chr(0), chr(128512), 'é' = 'e' || chr(769)
select 9223372036854775807 + 0::hugeint + 1, 1::bigint << 62, -1 >> 1, 5 & 3, 5 | 3, xor(5, 3), ~5, 5 // -2, -5 % 3, -5 // 3, 2::tinyint * 60::tinyint
select "A b", "é", "--", "a""b" from (select 1 as "A b", 2 as "é", 3 as "--", 4 as "a""b")
select 1 as a, 2 as a, 3 as "A"
select 1 where false
select * from golden.empty
select count(*), sum(a), max(b), avg(c), list(a), string_agg(b), min(c) from golden.empty
select b, count(*) from golden.empty group by b
select e.a, t.k from golden.empty e right join golden.t t on e.a = t.k where t.m < 9
select e.a, t.k from golden.t t left join golden.empty e on e.a = t.k where t.m < 9
select rank() over (order by a) from golden.empty
select count(*), sum(i), sum(v), avg(v), max(v), min(i) from golden.long
select i % 10 as r, count(*), sum(v), max(i) from golden.long group by r order by r
select i, v from golden.long where i > 2040 and i < 2056
select i from golden.long order by v desc, i limit 5
select v, count(*) from golden.long group by v order by v limit 8
select count(distinct v), count(distinct i) from golden.long
select list(i order by i)[2040:2052], string_agg(i::varchar, ',' order by i)[1:30] from golden.long
select i, sum(v) over (order by i rows 3 preceding), row_number() over (order by offset) from golden.long qualify i between 2046 and 2050
select a.i, b.i from golden.long a join golden.long b on a.i = b.i + 2048 where a.i > 2590 order by 1
select i, v from golden.long limit 4 offset 2047
select approx.i from golden.long approx where i in (select k from golden.u) order by 1
select t.offset, t.g, u.name from golden.t t join golden.u u using (k) where t.m < 9
select t.k, u.name from golden.t t left join golden.u u on t.k = u.k and u.w > 2 where t.m < 9
select t.k, u.name from golden.t t right join golden.u u on t.k = u.k and t.m < 4
select t.k, u.name from (select * from golden.t where m < 5) t full join golden.u u on t.k = u.k
select u.name from golden.u u semi join golden.t t on t.k = u.k and t.x > 800
select u.name from golden.u u anti join golden.t t using (k)
select t.k, u.k from golden.t t cross join golden.u u where t.m < 2 and u.w < 1
select t.k, u.k from golden.t t, golden.u u where t.k > u.w and t.m < 3
select k, name, most from golden.u u natural join (select k, max(m) as most from golden.t group by k) v
select t.offset, u.name from golden.t t asof join golden.u u on t.k = u.k and t.offset >= u.offset where t.m < 20
select t.offset, u.name from golden.t t asof left join golden.u u on t.event_time >= u.event_time where t.m < 9
select u.name, v.n from golden.u u, lateral (select count(*) as n from golden.t t where t.k = u.k) v
select u.name, v.x from golden.u u left join lateral (select max(t.x) as x from golden.t t where t.k = u.k and t.b) v on true
select a.k, b.k, c.k from golden.u a join golden.u b on a.offset = b.offset + 1 join golden.u c on b.offset = c.offset + 1
select t.k, u.name from golden.t t join golden.u u on t.x < u.w * 100 and t.m < u.k where t.m < 3
select k from golden.t where m < 9 union select k from golden.u
select k from golden.t intersect select k from golden.u
select k from golden.t except select k from golden.u where k > 2
select k from golden.t where m < 9 intersect all select k from golden.u
select k from golden.t where m < 9 except all select k from golden.u
select k from golden.t where m < 6 union all select k from golden.u
select k as n from golden.t where m < 6 union by name select name as s, k as n from golden.u
(select 1 union select 2) except select 2
select 1 as a union all by name select 2 as b union all by name select 3 as a
select k, count(*) from golden.t group by all order by all
select k, b, sum(m) from golden.t group by rollup (k, b)
select k, b, count(*), grouping(k), grouping(k, b), grouping_id(b) from golden.t group by cube (k, b)
select k, b, max(d) from golden.t group by grouping sets ((k), (b), ())
select k % 2 as odd, b, count(*) from golden.t group by odd, rollup (b)
select k, sum(m) as total from golden.t group by k having total > 300 order by total desc
select count(*) from golden.t having count(*) > 1
select distinct on (g) g, k, m from golden.t order by g, m desc, k
select distinct k, b from golden.t
select distinct on (k) k, offset from golden.t order by k, offset
select x, k from golden.t order by x nulls first limit 4
select x, k from golden.t order by x desc nulls last limit 4 offset 3
select k, g from golden.t order by k desc, g limit 5 offset 2
select k, m from golden.t order by all limit 6
select g from golden.t order by length(g), g collate nocase desc limit 6
select k from golden.t order by x limit 10%
select k from golden.t limit (select 3) offset 2
select z from golden.t order by z limit 6
select k, (select name from golden.u u where u.k = t.k order by u.offset limit 1) from golden.t t where m < 9
select name from golden.u where k in (select k from golden.t where x > 500)
select name from golden.u u where exists (select 1 from golden.t t where t.k = u.k and b)
select name from golden.u u where not exists (select 1 from golden.t t where t.k = u.k)
select name from golden.u where k >= all (select k from golden.t)
select name from golden.u where k = any (select k from golden.t where m < 9)
select name from golden.u where (k, w) in (select k, w from golden.u where w < 2)
select (select max(x) from golden.t) - max(w) from golden.u
select array(select k from golden.u order by offset), (select list(k order by k) from golden.u)
with a as (select k, sum(m) as total from golden.t group by k) select max(total), min(k) from a
with a as materialized (select k, m from golden.t where m < 20), b(n) as (select k + 1 from a) select n, count(*) from b group by n
with recursive c as (select 1 as a union all select a + 1 from c where a < 6) select a, a * a from c
with recursive f(n, a, b) as (select 1, 0::hugeint, 1::hugeint union all select n + 1, b, a + b from f where n < 20) select n, a from f order by n
with recursive walk as (select k, name from golden.u where k = 0 union select u.k, u.name from golden.u u join walk on u.k = walk.k + 1) select * from walk
with recursive r(n, v) using key (n) as (select 1, 1 union select n, v + 1 from r where v < 4) select * from r
select sum(n) from (select k, count(*) as n from golden.t group by k)
select * from (values (1, 'a'), (2, null)) v(a, b)
values (3, 'c'), (1, 'a'), (2, 'b')
from golden.u
table golden.u
from golden.u select name, w where w > 2
select u.* replace (w * 2 as w) rename (name as label) from golden.u u
select columns('k|w') from golden.u
select max(columns(* exclude (name, system_time))) from golden.u
select columns(c -> c like '%e') from golden.u limit 2
select coalesce(*columns('^[km]$')) from golden.t limit 3
select offset, sum(k) over (order by m) from golden.t where m < 20
select offset, sum(k) over (order by m range between 2 preceding and current row) from golden.t where m < 20
select offset, count(*) over (order by m groups between 1 preceding and 1 following) from golden.t where m < 20
select offset, sum(k) over (order by offset rows between unbounded preceding and current row exclude current row) from golden.t where m < 20
select offset, sum(m) over (partition by k order by m range unbounded preceding exclude ties) from golden.t where m < 20
select offset, sum(m) over (partition by k order by m range unbounded preceding exclude group) from golden.t where m < 20
select offset, max(x) over (order by event_time range between interval 10 minute preceding and interval 5 minute following) from golden.t where m < 20
select offset, list(k) over (order by offset rows 2 preceding), string_agg(g, '' order by g) over (order by offset rows 2 preceding) from golden.t where m < 20
select offset, sum(x) over (order by offset), avg(x) over (order by offset rows 4 preceding), median(x) over (order by offset rows 4 preceding) from golden.t where m < 20
select offset, count(distinct k) over (order by offset), sum(k) filter (where b) over (order by offset) from golden.t where m < 20
select k, m, row_number() over (partition by k order by m, offset) as r from golden.t qualify r <= 2 order by k, r
select g, sum(k) as total, rank() over (order by sum(k) desc) as place from golden.t group by g order by place, g
select offset, lead(x ignore nulls) over w, lag(x, 2) over w, last_value(x) over (w rows between current row and unbounded following) from golden.t where m < 20 window w as (order by offset)
select offset, first_value(k order by m desc, offset) over (partition by b order by offset) from golden.t where m < 20
select offset, ntile(4) over (order by m, offset), cume_dist() over (partition by b order by m) from golden.t where m < 20
pivot (select k, b, m from golden.t) on b in (true, false) using sum(m) group by k order by k
pivot golden.t on k in (1, 2) using count(*), max(m) as most group by b
from (select k, b, m from golden.t) pivot (sum(m) for b in (true, false) group by k)
unpivot (select k, m, q from golden.t limit 3) on m, q into name what value amount
from (select name, k, w from golden.u) unpivot include nulls (v for n in (k, w))
select k, case when x > 500 then 'high' when x > 0 then 'low' when x is null then 'none' else 'zero' end as level from golden.t limit 9
select list_transform(l, i -> i + k), list_filter(l, i -> i > 1), [i * 2 for i in l if i > 0] from golden.t limit 4
select sum(x), avg(x), sum(x * k), stddev(x), corr(x, m) from golden.t
select k, sum(x), avg(x), var_samp(x) from golden.t group by k order by k
select sum(k)::double / count(*), sum(k) / sum(m), avg(k) * 100, round(avg(x), 3) from golden.t
select date_trunc('month', d) as month, count(*), min(d) from golden.t group by month order by month limit 5
select strftime(d, '%Y-%m') as month, sum(p) from golden.t group by 1 order by 1 limit 5
select time_bucket(interval '30 minutes', event_time) as slot, count(*) from golden.t group by slot order by slot
select offset, op, event_time from golden.t order by event_time desc limit 3
select system_time = max(system_time) over () from golden.u limit 2
select t.k, t."offset", "g" from "golden/t" t where "m" < 4
select golden.u.name from golden.u where golden.u.k = 1
select K, NAME from GOLDEN.U where W < 1
select name /* a comment */ from golden.u -- and another
select try(1 // 0), try('x'::int), try_cast('x' as int), try(error_free) from (select 1 as error_free)
select 'a' as "select", 1 as "offset", 2 as "from"
select k, unnest(l) as i, generate_subscripts(l, 1) as at from golden.t limit 6
select * from golden.u u, unnest([u.k, -u.k]) v(signed) where u.w < 1
select i, j from range(3) a(i) cross join range(2) b(j) order by i desc, j
select struct_pack(a := k, b := name) as s, {'k': k, 'l': [k, w]} as n from golden.u limit 3
select s.a, s.b.c from (select {'a': k, 'b': {'c': name}} as s from golden.u limit 2)
select map_from_entries(list((name, k) order by offset)) from golden.u
select histogram(k), list(distinct b order by b), mode(b) from golden.t
select d, d + interval 1 month, d - date '2024-01-01', date_diff('week', date '2024-01-01', d) from golden.t limit 4
select p, p * 3, p / 3, p + 0.001, round(p, 1), p::int, p::double, sum(p) over (order by offset) from golden.t limit 4
select k ^@ 'x' from (select 'xyz' as k)
select k, s.total, s.n from golden.u u join (select k, sum(m) as total, count(*) as n from golden.t group by k) s using (k) order by all
select b, not b, b and k > 3, b::int, b = (k > 3) from golden.t limit 4
`

export interface GoldenRequest {
  readonly query: string
  readonly dataFormat?: string
  readonly schemaFormat?: string
  readonly skip?: number
  readonly limit?: number
  /** JSON text: numbers keep their tokens. */
  readonly parameters?: string
  /** Of which dataset only the first blocks with rows count, and how many. */
  readonly pinned?: { readonly name: string; readonly blocks: number }
  /** The name of a dataset is its id. */
  readonly byId?: string
}

const formats = ['JsonAoa', 'JsonAos', 'JsonSoa'] as const
const schemas = ['ArrowJson', 'OdfJson', 'OdfYaml', 'Parquet', 'ParquetJson'] as const

export const requests: readonly GoldenRequest[] = [
  ...formats.flatMap((dataFormat) => [
    { query: 'select * exclude (system_time) from golden.values', dataFormat },
    { query: 'select k, name, w from golden.u', dataFormat, limit: 3 },
    { query: 'select k, name, w from golden.u', dataFormat, skip: 10 },
    { query: 'select k, name, w from golden.u', dataFormat, skip: 4, limit: 2 },
    { query: 'select k, name, w from golden.u', dataFormat, skip: 40 },
    { query: 'select k, name, w from golden.u', dataFormat, limit: 0 },
    { query: 'select a, b from golden.empty', dataFormat },
    { query: "select {'z': 1, 'a': [1, null]} as s, map {'k': 1} as m, union_value(n := 1) as u", dataFormat },
    { query: 'select 1 as "😀", 2 as "ﾞ", 3 as "Z", 4 as "a"', dataFormat },
    { query: 'select k, sum(m) as total from golden.t group by k order by total desc', dataFormat, limit: 2, skip: 1 },
  ]),
  ...schemas.flatMap((schemaFormat) => [
    { query: 'select * exclude (system_time) from golden.values limit 2', schemaFormat },
    { query: 'select [1] as l, {a: 1} as s, 1.5 as d, 1::uhugeint as h, map {1: 2} as m, [null] as t', schemaFormat },
    { query: 'select [1] as l, {a: 1} as s, 1.5 as d, 1::uhugeint as h, map {1: 2} as m, null as n', schemaFormat },
    { query: 'select * from golden.empty', schemaFormat },
  ]),
  { query: 'select name from golden.u where k = $1 or name = $2 order by 1', parameters: '[1,"n3"]' },
  { query: 'select name from golden.u where k < $most and w > $least', parameters: '{"most":5,"least":0.5}' },
  {
    query: 'select $1, $2, $3, $4, $5, $6, $7, $8',
    parameters: '[9007199254740993,9223372036854775808,1.0,1e2,"é\'",true,null,-0.0]',
  },
  { query: 'select typeof($1), typeof($2), typeof($3), typeof($4)', parameters: '[1,1.5,"x",null]' },
  { query: 'select $a || $b, $A', parameters: '{"a":"x","b":"y"}' },
  { query: 'select k from golden.t where x > $1 order by x limit $2', parameters: '[100,3]' },
  { query: 'select ? + ?, ?', parameters: '[1,2,"z"]' },
  { query: 'select k from golden.u where name in ($1, $2)', parameters: '["n1","n2"]', dataFormat: 'JsonSoa' },
  ...[1, 2, 3].map((blocks) => ({
    query: 'select count(*), sum(k), sum(x), max(offset) from golden.t',
    pinned: { name: 't', blocks },
  })),
  ...[1, 2, 3, 4].map((blocks) => ({
    query: 'select * exclude (system_time) from golden.values order by id desc limit 3',
    pinned: { name: 'values', blocks },
  })),
  { query: 'select count(*), max(i) from golden.long', pinned: { name: 'long', blocks: 1 } },
  { query: 'select s, w from golden.mild', pinned: { name: 'mild', blocks: 1 }, dataFormat: 'JsonAos' },
  { query: 'select name, k from "$id"', byId: 'u', limit: 3 },
]
