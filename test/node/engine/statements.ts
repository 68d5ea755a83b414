// A wide corpus of what callers may write: each construct of the engine's SELECT at least once.

/** Each becomes `SELECT … FROM t`. */
const expressions = String.raw`
(x).y ¦ [1,2] ¦ {'a':1} ¦ MAP {1:2} ¦ ARRAY[1] ¦ ARRAY(SELECT 1) ¦ row(1,2) ¦ (1,2) ¦
CASE a WHEN 1 THEN 2 ELSE 3 END ¦ CASE WHEN a THEN b END ¦ a = b ¦ a <> b ¦ a != b ¦ a<b ¦ a IS DISTINCT FROM b ¦
a IS NOT DISTINCT FROM b ¦ NOT a ¦ a AND b OR c ¦ a AND b AND c ¦ a IN (1,2) ¦ a NOT IN (1,2) ¦ a IS NULL ¦
a IS NOT NULL ¦ COALESCE(a,b) ¦ a NOT BETWEEN 1 AND 2 ¦ a IN (SELECT 1) ¦ a NOT IN (SELECT 1) ¦
NOT EXISTS(SELECT 1) ¦ a = ANY(SELECT 1) ¦ a > ALL(SELECT 1) ¦ (SELECT 1) ¦ a = ANY([1,2]) ¦ a IN b ¦ TRY(a) ¦
a IS TRUE ¦ a IS NOT FALSE ¦ a IS UNKNOWN ¦ GROUPING(a) ¦ a COLLATE nocase ¦ a ^ b ¦ a ** b ¦ @a ¦ a! ¦ ~a ¦
a SIMILAR TO b ¦ a LIKE b ESCAPE c ¦ a NOT LIKE b ¦ a ISNULL ¦ a NOTNULL ¦ a // b ¦ a % b ¦ a << b ¦ a & b ¦
a AT TIME ZONE 'UTC' ¦ SUBSTRING(a FROM 1 FOR 2) ¦ TRIM(BOTH 'x' FROM a) ¦ POSITION(a IN b) ¦
EXTRACT(year FROM a) ¦ NULLIF(a,b) ¦ list_transform(l, x -> x+1) ¦ list_transform(l, lambda x: x+1) ¦
list_transform(l, lambda x, i: x+i) ¦ [x+1 FOR x IN l IF x>1] ¦ [x FOR x, i IN l] ¦ list_filter(l, (x,i) -> x>i) ¦
#1 ¦ 1 ¦ -1 ¦ 1.5 ¦ 1. ¦ .5 ¦ 1e3 ¦ 1e-400 ¦ 1e308 ¦ 9223372036854775807 ¦ 9223372036854775808 ¦
170141183460469231731687303715884105727 ¦ 170141183460469231731687303715884105728 ¦
340282366920938463463374607431768211455 ¦ 340282366920938463463374607431768211456 ¦
99999999999999999999999999999999999999999999999999 ¦ 0.1e0 ¦ 1_000 ¦ 0x1F ¦ 0b11 ¦ 1.5e3 ¦ 1e21 ¦ 1e22 ¦
123456789e0 ¦ 1E5 ¦ 5e-324 ¦ 0e0 ¦ -0e0 ¦ -0.0 ¦ true ¦ false ¦ NULL ¦ 'x' ¦ '\x00'::blob ¦ b'0101' ¦ e'\n' ¦
$$a$$ ¦ DATE '2020-01-01' ¦ TIMESTAMP '2020-01-01' ¦ INTERVAL 3 DAY ¦ INTERVAL '3' MONTH ¦ INTERVAL (x) YEAR ¦
TIME '10:00' ¦ 1.00000000000000000000000000000000000001 ¦ 0.1234567890123456789012345678901234567 ¦
12345678901234567890.1234567890123456789 ¦ 12345678901234567890123456789012345678901234567890.5 ¦
interval '1 year 2 months' ¦ interval '3' day ¦ TIMESTAMPTZ '2020-01-01' ¦ INT '5' ¦ DECIMAL(3,1) '1.5' ¦
foo 'x' ¦ percentile_cont(0.5) WITHIN GROUP (ORDER BY y DESC) ¦ mode() WITHIN GROUP (ORDER BY x) ¦
percentile_disc(0.1) within group (order by x) ¦ (t).a ¦ STRUCT.a ¦ a !~~ b ¦ a ~ b ¦ a !~ b ¦ a ~~~ b ¦ a ^@ b ¦
a ~~* b ¦ a !~~* b ¦ a -> b -> c ¦ 'a'[1] ¦ ([1,2,3])[1] ¦ ('abc').length() ¦ -x ¦ +x ¦ -(5) ¦ - 5 ¦
-9223372036854775808 ¦ -170141183460469231731687303715884105728 ¦ - 1.5 ¦ -1e3 ¦ -1e-3 ¦ +1 ¦ 5 % 3 ¦ a - -1 ¦
a - (-1) ¦ a -(- 1.5) ¦ 1 - -1e0 ¦ (-1)::int ¦ -1::int ¦ (-1) ** 2 ¦ -1 ** 2 ¦ (-1.5e0) ** 2 ¦ 2 ** 3 ** 2 ¦
(a,b) = (1,2) ¦ not a in (1) ¦ not (a = b) ¦ (not a) = b ¦ a or b and c ¦ (a or b) and c ¦ (a = b) = c ¦
a = (b = c) ¦ a between 1 and (2 and true) ¦ a::int::text ¦ (a + b)::int ¦ a || b || c ¦ a || (b || c) ¦ a + b * c ¦
(a + b) * c ¦ a - (b - c) ¦ -(-1) ¦ - - 1 ¦ (-1).abs() ¦ -5! ¦ (a is null) is null ¦ a is null = b ¦
case when a then b else c end + 1 ¦ (x[1:2])[1] ¦ (a.b)[1] ¦ (a and b) is null ¦ lambda x: x ¦
a = any(select 1 union select 2) ¦ a in (b) ¦ a in ((1,2),(3,4)) ¦ exists (from t) ¦
count(*) filter (where x > 1) ¦ sum(distinct x order by y desc nulls first) ¦ count(distinct x) ¦
string_agg(x, ',' order by y) ¦
sum(x) over (partition by a order by b rows between 1 preceding and 2 following exclude ties) ¦
lag(x ignore nulls) over () ¦ lag(x,2,3) over (order by y) ¦ first_value(x order by z) over (order by y) ¦
sum(distinct x) over (range between unbounded preceding and unbounded following exclude group) ¦
nth_value(x,2) over (groups between current row and 1 following exclude current row) ¦
sum(x) over (order by y range between interval 1 day preceding and current row) ¦
sum(x) filter (where y) over (order by z) ¦ rank() over (order by x) ¦
count(*) over (order by x groups between 2 preceding and 1 preceding) ¦
sum(x) over (rows between current row and unbounded following) ¦
sum(x) over (rows between 2 following and 3 following) ¦ sum(x) over (range between current row and current row) ¦
sum(x) over (order by y rows 3 preceding) ¦ date '2020-01-01' + 1 ¦ 'it''s' ¦ 'é😀' ¦ "a""b" ¦ "A b"."C" ¦
struct_pack(a := 1, "b c" := 2) ¦ {'a b': 1} ¦ {a: 1} ¦ {'a': {'b': [1]}} ¦ union_value(a := 1) ¦
cast(x as row(a int)) ¦ cast(1 as time(3)) ¦ columns('a') ¦ max(columns(*)) ¦ columns(c -> c like 'a%') ¦
columns('a(.*)') as 'b\1' ¦ unpack(columns(a)) ¦ coalesce(*columns(*)) ¦ try_cast('x' as int) ¦ try(1/0) ¦
current_date ¦ current_timestamp ¦ user ¦ extract('year' from a) ¦ date_part('year', a) ¦ (select 1) + 1 ¦
(select a from t limit 1) ¦ array_agg(x order by y)[1] ¦ sum(x)::int ¦ main.abs(1) ¦ system.main.abs(1) ¦
list_value(1,2) ¦ [] ¦ map {} ¦ map() ¦ row() ¦ 'nan'::double ¦ default ¦ a.b.c.d ¦
[x for x in [1,2,3] if x > 1 and x < 3] ¦ (x -> 'a')::int ¦ a.b->'c' ¦ -a ** 2 ¦ (-a) ** 2 ¦ a ** -1 ¦ (a)! ¦
1::decimal(10,2) ¦ 1.0::double ¦ 1e0::double ¦ cast('1e3' as double) ¦ cast(1e3 as float) ¦ (1e0) ¦ [1e0, 2.5e0] ¦
{'a': 1e0} ¦ 1e3 in (1e3) ¦ 'a\x00b'::blob ¦ chr(0) ¦ timestamp '2020-01-01 00:00:00' at time zone 'UTC' ¦
'a'::"varchar" ¦ "select" ¦ "offset" ¦ 'a' is not distinct from null ¦ null::int ¦ (null) ¦ not null ¦ not true ¦
true and false ¦ (1 = 1) ¦ a is not true ¦ 1 is true ¦ (a, b) is null ¦ a in (values (1),(2)) ¦
a not in (values (1)) ¦ (values (1)) ¦ (table t) ¦ a::INT ¦ a::DECIMAL(10,2) ¦ a::VARCHAR ¦
a::STRUCT(a INT, b VARCHAR) ¦ a::MAP(INT,INT) ¦ a::INT[] ¦ a::INT[3] ¦ a::INT[][] ¦ a::UNION(x INT, y VARCHAR) ¦
a::ENUM('x','y') ¦ a::foo ¦ a::foo.bar ¦ a::a.b.c ¦ a::varchar collate nocase ¦ a::TIMESTAMP_NS ¦ a::TIMESTAMP_S ¦
a::TIMESTAMP_MS ¦ a::GEOMETRY ¦ a::GEOMETRY('OGC:CRS84') ¦ a::VARCHAR(10) ¦ a::TIME(3) ¦
a::timestamp with time zone ¦ a::foo(1,2) ¦ a::foo(-1.5, 'a') ¦ a::LIST ¦ a::"NULL" ¦ a::BIGNUM ¦
a::JSON ¦ a::BIT ¦ a::uuid ¦ a::interval ¦ a::time_ns ¦ a::timetz ¦ a::hugeint ¦ a::uhugeint ¦ a::char ¦
a::char(3) ¦ a::double precision ¦ a::numeric ¦ a::float4 ¦ a::float(3) ¦ a::DECIMAL ¦ a::DECIMAL(5) ¦ a::blob ¦
a::bytea ¦ a::tinyint ¦ a::"foo bar" ¦ a::INT ARRAY ¦ a::INT ARRAY[3] ¦ a::row(a int) ¦ a::setof int ¦
a::timestamp(3) ¦ a::timestamp(9) ¦ a::interval year to month ¦ a::interval year ¦ a::bit(3) ¦ a::bpchar ¦
a::text(5) ¦ a::STRUCT(a STRUCT(b INT[])) ¦ a::datetime ¦ a::AGGREGATE_STATE ¦ a::pointer ¦ a::varint ¦
a::unknown ¦ a::enum('a') ¦ a::oid ¦ a::regclass ¦ TRY_CAST(a AS INT) ¦ TRY_CAST(a AS DECIMAL(10,2)) ¦
TRY_CAST(a AS VARCHAR) ¦ TRY_CAST(a AS STRUCT(a INT, b VARCHAR))
`

/** Statements that are more than one expression. */
const whole: readonly string[] = [
  'SELECT x[1] FROM t',
  'SELECT x[1:2] FROM t',
  'SELECT x[1:2:1] FROM t',
  'SELECT x[:2] FROM t',
  'SELECT x[1:] FROM t',
  'SELECT x[:-:2] FROM t',
  'SELECT x.y.z FROM t',
  "SELECT x->'y' FROM t",
  "SELECT x->>'y' FROM t",
  'SELECT EXISTS(SELECT 1) FROM t',
  "SELECT x'AB' FROM t",
  'SELECT t.* EXCLUDE a FROM t',
  'SELECT unnest(x, recursive := true) FROM t',
  'SELECT x[1][2] FROM t',
  "SELECT x like 'a' escape '\\' FROM t",
  "SELECT x ->> '$.a' = 'b' FROM t",
  "SELECT x'00ff' FROM t",
  "SELECT x'27' FROM t",
  'WITH a AS (SELECT 1), b(x) AS MATERIALIZED (SELECT 2), c AS NOT MATERIALIZED (SELECT 3) SELECT * FROM a,b,c',
  'SELECT x FROM t LIMIT 10%',
  'SELECT x FROM t LIMIT 10% OFFSET 2',
  'SELECT x FROM t LIMIT (SELECT 50)%',
  'SELECT x FROM t LIMIT 10.5%',
  'SELECT x FROM t LIMIT 10.5 PERCENT',
  'SELECT x FROM t LIMIT 1e1%',
  'SELECT x FROM t LIMIT (10)%',
  'SELECT x FROM t LIMIT 10 OFFSET 3',
  'SELECT x FROM t OFFSET 3',
  'SELECT x FROM t LIMIT (SELECT 1) OFFSET (SELECT 2)',
  'SELECT x FROM t LIMIT 1+1',
  'SELECT x FROM t LIMIT 1e1',
  'SELECT x FROM t LIMIT NULL',
  'SELECT x FROM t LIMIT ALL',
  'SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3',
  '(SELECT 1 LIMIT 1) UNION (SELECT 2 LIMIT 2)',
  'SELECT 1 UNION (SELECT 2 EXCEPT SELECT 3)',
  '(SELECT 1 UNION SELECT 2) EXCEPT SELECT 3',
  'SELECT 1 UNION ALL BY NAME SELECT 2 UNION ALL BY NAME SELECT 3',
  '(SELECT 1 ORDER BY 1) UNION SELECT 2 ORDER BY 1 LIMIT 2',
  'SELECT 1 INTERSECT ALL SELECT 2',
  'WITH RECURSIVE r(n) USING KEY (n) AS (SELECT 1 UNION SELECT n+1 FROM r) SELECT * FROM r',
  'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL (SELECT n+1 FROM r ORDER BY n LIMIT 3)) SELECT * FROM r ORDER BY 1',
  'WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) SELECT * FROM r',
  'WITH a AS (WITH b AS (SELECT 1) SELECT * FROM b) SELECT * FROM a UNION SELECT 2',
  '(WITH a AS (SELECT 1) SELECT * FROM a) UNION (WITH b AS (SELECT 1) FROM b)',
  'WITH a AS (SELECT 1) (SELECT * FROM a UNION SELECT 2) ORDER BY 1',
  'SELECT * FROM t TABLESAMPLE 10%',
  'SELECT * FROM t TABLESAMPLE reservoir(10 ROWS) REPEATABLE (3)',
  'SELECT * FROM t USING SAMPLE 10',
  'SELECT * FROM t USING SAMPLE bernoulli(10%)',
  'SELECT * FROM t USING SAMPLE 10% (system, 377)',
  'SELECT * FROM (SELECT 1) TABLESAMPLE 10%',
  'SELECT * FROM range(3) TABLESAMPLE 10%',
  'SELECT * FROM t TABLESAMPLE 1e1%',
  'SELECT * FROM t USING SAMPLE 10.5%',
  'SELECT * FROM range(3) WITH ORDINALITY',
  'SELECT * FROM unnest([1]) WITH ORDINALITY AS u(a,b)',
  'SELECT * FROM (VALUES (1,2),(3,4)) v(a,b)',
  'VALUES (1)',
  'VALUES (1) ORDER BY 1 LIMIT 1',
  'FROM t',
  'TABLE t',
  'SELECT * FROM t a(b,c)',
  'SELECT * FROM (t a JOIN u b USING (x)) AS j',
  'SELECT * FROM (SELECT 1) s(a)',
  'SELECT * FROM t JOIN u ON t.a=u.a JOIN v USING (b)',
  'SELECT * FROM t JOIN (u JOIN v USING (b)) ON true',
  'SELECT * FROM t, u, v',
  'SELECT * FROM t LEFT JOIN u ON t.a=1e0',
  'SELECT * FROM t NATURAL LEFT JOIN u',
  'SELECT * FROM t ASOF LEFT JOIN u ON t.a >= u.a',
  'SELECT * FROM t ASOF JOIN u USING (a,b)',
  'SELECT * FROM t POSITIONAL JOIN u',
  'SELECT * FROM t SEMI JOIN u USING (a)',
  'SELECT * FROM t FULL JOIN u USING (a)',
  'SELECT * FROM t, LATERAL (SELECT t.a)',
  'SELECT * FROM t CROSS JOIN u',
  'SELECT * FROM t JOIN u ON true',
  'SELECT * FROM t INNER JOIN u ON (t.a = u.b AND t.c = u.d)',
  'PIVOT t ON a IN (1,2) USING sum(b) GROUP BY c',
  "PIVOT t ON a IN (1,2), b IN ('x','y') USING sum(b) AS s, count(*)",
  'FROM t PIVOT (sum(a) FOR b IN (1, 2 AS two) c IN (3) GROUP BY d)',
  'FROM t PIVOT (sum(a) FOR (b,c) IN ((1,2),(3,4)))',
  "PIVOT t ON a || b IN ('x') USING sum(c)",
  'UNPIVOT t ON a, b INTO NAME n VALUE v',
  'FROM t UNPIVOT INCLUDE NULLS (v FOR n IN (a,b))',
  'FROM t UNPIVOT ((v,w) FOR n IN ((a,b) AS x,(c,d)))',
  'UNPIVOT t ON COLUMNS(* EXCLUDE a) INTO NAME n VALUE v',
  'UNPIVOT t ON (a+1) as z, b',
  'FROM t PIVOT (sum(a) FOR b IN (1)) AS p(x,y)',
  "FROM t PIVOT (sum(a) FOR b IN (1e3, -1.5, 'x'))",
  'PIVOT (SELECT 1 AS a) ON a IN (1e0, 1.) USING count(*)',
  'SELECT x FROM t GROUP BY ROLLUP(a,b)',
  'SELECT x FROM t GROUP BY CUBE(a,b), c',
  'SELECT x FROM t GROUP BY GROUPING SETS((a),(b),())',
  'SELECT x FROM t GROUP BY ()',
  'SELECT x FROM t GROUP BY a, ()',
  'SELECT x FROM t GROUP BY ALL',
  'SELECT count(*) FROM t HAVING true',
  'SELECT x FROM t ORDER BY ALL DESC',
  'SELECT x FROM t ORDER BY *',
  'SELECT x FROM t ORDER BY ALL',
  'SELECT x FROM t ORDER BY a DESC NULLS LAST, 2',
  'SELECT DISTINCT ON (a,b) a FROM t ORDER BY a',
  'SELECT DISTINCT a FROM t LIMIT 3',
  'SELECT x FROM t WINDOW w AS (PARTITION BY a)',
  'SELECT sum(a) OVER w, sum(b) OVER (w ROWS 1 PRECEDING) FROM t WINDOW w AS (PARTITION BY a ORDER BY b)',
  'SELECT x FROM t QUALIFY row_number() OVER () = 1',
  'SELECT * EXCLUDE (a) REPLACE (b+1e0 AS b) RENAME (c AS d) FROM t',
  'SELECT t.* EXCLUDE (a) FROM t',
  'SELECT * EXCLUDE (t.a, b), * EXCLUDE x, * RENAME (t.a as b) FROM t',
  "SELECT COLUMNS(*), COLUMNS(t.*), COLUMNS(['a','b']) FROM t",
  "SELECT * LIKE 'a%' FROM t",
  "SELECT * NOT ILIKE 'a%' FROM t",
  "SELECT * SIMILAR TO 'a' FROM t",
  "SELECT x: 42, y: 'a' FROM t",
  'SELECT * FROM x: t',
  'SELECT a AS "b c", d e FROM t',
  'FROM t SELECT a WHERE b',
  'SELECT * FROM t WHERE a',
  'SELECT * FROM (SELECT * FROM (SELECT 1 AS a) WHERE a = 1e0) x',
  "SELECT 'a' AS 'b'",
  "SELECT * FROM 'x.csv'",
  'SELECT * FROM generate_series(1,3) AS g(x), unnest([1,2]) AS u(y)',
  'SELECT unnest([1]), generate_series(1,2)',
  'SELECT * FROM t ORDER BY a COLLATE nocase',
  'SELECT * FROM (FROM t SELECT a)',
  '(SELECT 1) LIMIT 1',
  '((SELECT 1))',
  'SELECT * FROM ((SELECT 1 UNION SELECT 2))',
  'SELECT * FROM (SELECT 1 UNION ALL SELECT 2) x(a)',
  'SELECT EXISTS(FROM t WHERE a), (FROM t), ARRAY(FROM t)',
  'SELECT * FROM (VALUES (1e0, 1.))',
  "SELECT * FROM repeat_row(1, 'a', num_rows = 3)",
  'SELECT * FROM range(1, 3, 1)',
  "SELECT * FROM json_each('{}')",
  "SELECT * FROM range(DATE '2020-01-01', DATE '2020-02-01', INTERVAL 1 DAY)",
]

export const statements: readonly string[] = [
  ...expressions.split('¦').map((text) => `SELECT ${text.trim()} FROM t`),
  ...whole,
]
