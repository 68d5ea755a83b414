// Calls of every function that a proof may hold: each line is a list of expressions over `golden.mild`, or a whole
// statement. test/node/http/golden-proofs.test.ts tells which functions of src/libraries/sql/functions.ts have no call.

export const functionLines = String.raw`
n % 4, x % 2, p % 3, mod(n, 4), fmod(x, 2), n & 5, n | 5, xor(n, 5), n << 2, n >> 1, ~n where n > 0
n * 2, x * 2, p::DOUBLE * 2, try(p * 2), multiply(n, 3), n + 1, x + 1, p::DECIMAL(20, 4) + 1, add(n, 3), n - 1, x - 1, p - 1, subtract(n, 3), -n, +x
n / 2, x / 0, p / 7, n // 2, n // 0, divide(n, 2), fdiv(n, 2), x // 2
n::INT! from golden.mild where n between 0 and 30
"%"(n, 4), "&"(n, 1), "|"(n, 1), "<<"(n, 1), ">>"(n, 1), "~"(n), "*"(n, 2), "+"(n, 2), "-"(n, 2), "/"(n, 2), "//"(n, 2) from golden.mild where n > 0
"~~"(s, 'D%'), "!~~"(s, 'D%'), "~~*"(s, 'd%'), "!~~*"(s, 'd%'), "~~~"(s, 'D*'), "||"(s, w), "^@"(s, 'D'), "@"(n), "!__postfix"(3)
abs(n), abs(x), abs(p), @n, sign(n), sign(x), signbit(x), even(x), trunc(x), trunc(p), trunc(x, 0)
ceil(x), ceiling(p), floor(x), floor(p), round(x), round(x, 1), round(p, 2), round(n, -1), round_even(x, 0), roundbankers(x, 0)
sqrt(abs(x)), pi(), degrees(x), radians(x), nextafter(x, 9::DOUBLE), nextafter(h, 9::FLOAT), isnan(x), isinf(x), isfinite(x)
factorial(5), gcd(n, 9), greatest_common_divisor(n, 9), lcm(n, 4), least_common_multiple(n, 4), bit_count(n)
greatest(n, 4), greatest(x, p), greatest(s, w), least(n, 4), least(x, 1.5), least(d, DATE '2020-01-01'), nullif(n, 3), ifnull(n, 0), coalesce(n, -1)
s = w, s <> w, s < w, n between 1 and 5, n in (3, 12), n not in (3, null), n is null, n is not distinct from 3, x is distinct from 0.1
not yes, yes and n > 1, yes or n is null, yes is true, yes is not false, yes is unknown, constant_or_null(1, n), case when yes then n else x end
if(yes, 1, 0), case n when 3 then 'three' else s end, switch(n, MAP {3: 'a', 12: 'b'}), switch(n, MAP {3: 'a'}, 'other')
typeof(n), typeof(p), typeof(l), typeof(c), typeof(h), typeof(b), typeof(offset), typeof(event_time), typeof(null), alias(n)
hash(n), hash(s), hash(x), hash(l), hash(d), hash(null)
md5(s), md5(b), md5_number(s)::varchar, sha1(s), sha256(s), sha256(b)
md5_number_lower(s)::varchar, md5_number_upper(s)::varchar
upper(s), ucase(w), lower(s), lcase(w), upper(w), reverse(s), reverse(w), strip_accents(s), nfc_normalize(w)
length(s), len(w), char_length(s), character_length(w), strlen(w), bit_length(s), octet_length(b), length_grapheme(w), length(l), len(ws), array_length(l)
left(s, 3), left(w, -2), right(s, 3), right(w, -2), left_grapheme(w, 2), right_grapheme(w, 2)
substr(s, 2, 3), substring(s, -3), substring_grapheme(w, 2, 2), array_slice(s, 2, 3), s[2:4], s[-1], w[1], array_extract(s, 1)
ltrim(s), rtrim(s), trim(s), trim(s, 'Dk'), ltrim(s, ' Ä'), rtrim(s, 'k '), lpad(s, 8, '*'), rpad(w, 8, 'é'), repeat(s, 2)
replace(s, 'u', 'XX'), translate(s, 'abc', 'xy'), ascii(s), ord(w), unicode(w), chr(65 + abs(n)::INT), bar(x, 0, 3, 8), bar(x, 0, 3)
concat(s, n, null, x), concat_ws('-', s, n, null, x), s || '-' || w, l || [9], concat(l, l)
contains(s, 'u'), contains(l, 3), starts_with(s, 'D'), s ^@ 'D', prefix(s, 'D'), suffix(s, 'k'), ends_with(s, 'k')
instr(s, 'u'), position('u' in s), "position"(s, 'u'), strpos(s, 'u')
s like '%u%', s not like '%u%', s ilike '%DUCK%', s not ilike 'x', s like 'a/b_c.txt' escape '!', s glob 'D*', w similar to '.*db'
like_escape(s, 'a!%', '!'), not_like_escape(s, 'D%', '!'), ilike_escape(s, 'd%', '!'), not_ilike_escape(s, 'd%', '!')
regexp_matches(s, '[A-Z]u'), regexp_full_match(s, 'D.*'), regexp_extract(s, '(\w)(\w)', 2), regexp_extract(s, '(\w)(\w)', ['a', 'b']), regexp_extract_all(s, '[a-z]')
regexp_replace(s, '[aeiou]', '<\0>'), regexp_replace(s, '[aeiou]', '', 'g'), regexp_escape(s), s ~ 'D.*', s !~ 'D.*'
split(s, '/'), string_split(w, ' '), str_split(s, ''), string_to_array(s, '/'), split_part(s, '/', 2), split_part(s, '/', -1)
regexp_split_to_array(s, '[/.]'), string_split_regex(s, '\W'), str_split_regex(s, '[uc]')
select n, regexp_split_to_table(s, '/') from golden.mild
levenshtein(s, w), editdist3(s, w), damerau_levenshtein(s, w), jaccard(s, w), jaro_similarity(s, w), jaro_winkler_similarity(s, w) where length(s) > 0
hamming('duck', 'luck'), mismatches('duck', 'lack'), jaccard('duck', 'luck'), jaro_winkler_similarity('duck', 'duke', 0.8)
printf('%d|%5.2f|%s|%x', n, x, s, 255), format('{}|{:>6}|{:05d}', s, w, n), format('{:,}', 1234567), format('{1}-{0}', n, s)
bin(n), to_binary(n), hex(n), to_hex(n), hex(s), hex(b), from_hex('64ff'), unhex('64'), from_binary('0110'), unbin('1'), to_base(abs(n), 36), to_base(255, 16, 6)
base64(b), to_base64(b), from_base64('ZHVjaw=='), encode(s), decode('\x64\xC3\xA4'::BLOB), b || b, octet_length(b)
format_bytes(n * 1000), formatreadablesize(n * 100000), formatreadabledecimalsize(abs(n) * 100000), parse_formatted_bytes('16 KiB')
url_encode(s), url_encode(w), url_decode('a%20b%C3%A4+'), icu_sort_key(s, 'de'), s collate nocase = 'duck', s collate noaccent
parse_path(s), parse_filename(s), parse_filename(s, true), parse_dirname(s), parse_dirpath(s), parse_path(s, 'forward_slash')
bit_position('010'::BIT, '1110101'::BIT), bitstring('1010'::BIT, 7), get_bit('0110010'::BIT, 2), set_bit('0110010'::BIT, 2, 0), bit_count('1011'::BIT), '101'::BIT & '110'::BIT
'101'::BIT | '010'::BIT, xor('101'::BIT, '110'::BIT), ~'101'::BIT, '101'::BIT << 1, length('101'::BIT), n::BIT, '1100'::BIT::INT
year(d), month(d), day(d), quarter(d), week(d), weekofyear(d), weekday(d), dayofweek(d), dayofmonth(d), dayofyear(d), isodow(d), isoyear(d), yearweek(d)
decade(d), century(d), millennium(d), era(d), julian(d), last_day(d), monthname(d), dayname(d), days_in_month(d)
hour(c), minute(c), second(c), millisecond(c), microsecond(c), nanosecond(c), epoch(c), epoch_ms(c), epoch_us(c), epoch_ns(c)
hour(event_time), timezone(event_time), timezone_hour(event_time), timezone_minute(event_time), year(event_time), dayname(system_time) is null
date_part('year', d), date_part('dow', c), date_part(['year', 'month'], c), datepart('hour', c), extract(epoch from c), extract(week from d)
date_trunc('month', d), date_trunc('hour', c), datetrunc('week', c), date_trunc('quarter', event_time), date_trunc('decade', d)
date_diff('day', d, DATE '2024-03-01'), datediff('month', d, DATE '2024-03-01'), date_sub('month', d, DATE '2024-03-31'), datesub('hour', c, TIMESTAMP '2024-03-01')
date_add(d, INTERVAL 1 MONTH), d + 1, d - 1, d - DATE '2000-01-01', c + INTERVAL '1 day 2 hours', c - INTERVAL 90 MINUTE, age(c, TIMESTAMP '2000-01-01')
strftime(d, '%Y-%m-%d %a %j'), strftime(c, '%H:%M:%S.%f %p'), strftime(event_time, '%c'), strptime('2024-02-29 13:00', '%Y-%m-%d %H:%M'), try_strptime(s, '%Y')
to_char(d, 'YYYY-MM-DD, IW'), to_char(c, 'YYYY-MM-DD"T"HH24:MI:SS.US'), to_char(event_time, 'FMDD. FMMonth, Dy HH12 AM'), to_date('29 Feb 2024', 'DD Mon YYYY'), to_timestamp('2024-02-29 13:00', 'YYYY-MM-DD HH24:MI')
strptime('3 Feb 2020', ['%d %b %Y', '%Y']), time_bucket(INTERVAL 10 DAY, d), time_bucket(INTERVAL '1 month', c), time_bucket(INTERVAL 2 HOUR, event_time)
make_date(2024, 2, 29), make_date(19000), make_time(13, 14, 15.5), make_timestamp(2024, 2, 29, 1, 2, 3.5), make_timestamp(1700000000000000), make_timestamp_ms(1700000000000)
make_timestamp_ns(1700000000000000001), make_timestamptz(2024, 2, 29, 1, 2, 3.5), make_timestamptz(1700000000000000), make_timestamptz(2024, 7, 1, 1, 2, 3, 'Europe/Oslo'), to_timestamp(1.5)
to_years(2), to_months(n::INT), to_days(n::INT), to_hours(n), to_minutes(n), to_seconds(x), to_milliseconds(x), to_microseconds(n), to_weeks(1), to_quarters(1), to_decades(1), to_centuries(1), to_millennia(1)
INTERVAL 1 YEAR, INTERVAL '14 months 3 days', INTERVAL (n) DAY, normalized_interval(INTERVAL '45 days 30 hours'), INTERVAL 1 DAY * 3, INTERVAL 1 DAY / 2, -INTERVAL 1 MONTH
c at time zone 'Europe/Oslo', event_time at time zone 'Asia/Tokyo', timezone('America/New_York', event_time), timezone('UTC', c)
timetz_byte_comparable('18:18:16.21-07:00'::TIMETZ), '12:00:00'::TIME + INTERVAL 5 HOUR, (c at time zone 'UTC')::TIME, c::DATE, d::TIMESTAMP, event_time::DATE, epoch_ms(1700000000000)
uuid_extract_timestamp('019482e4-1441-7aad-8127-eec99573b0a0'::UUID), uuid_extract_version('019482e4-1441-7aad-8127-eec99573b0a0'::UUID), epoch(INTERVAL 1 DAY)
l[1], l[-1], l[2:3], l[1:3:2], list_extract(l, 1), list_element(l, 2), array_extract(l, 1), element_at(MAP {'a': n}, 'a'), list_slice(l, 1, 2), array_slice(l, -2, -1), list_slice(l, 1, 3, 2)
list_value(n, 1), [n, 2], list_pack(n, 3), array_value(n, 1), array_value(1, 2)::INT[2], [n, 2]::BIGINT[2]
list_append(l, 9), array_append(l, 9), array_push_back(l, 9), list_prepend(9, l), array_prepend(9, l), array_push_front(l, 9), array_pop_back(l), array_pop_front(l)
list_concat(l, [7]), list_cat(l, [7]), array_concat(l, [7]), array_cat(l, [7]), list_reverse(l), array_reverse(l)
list_contains(l, 5), list_has(l, 5), array_contains(l, 5), array_has(l, 5), 5 in l, list_position(l, 5), list_indexof(l, 5), array_position(l, 5), array_indexof(l, 5)
list_has_all(l, [1, 2]), list_has_any(l, [1, 2]), array_has_all(l, [5]), array_has_any(l, [5]), l @> [1], [1] <@ l, l && [1, 9], "@>"(l, [3]), "<@"([3], l), "&&"(l, [3])
list_intersect(l, [1, 2]), array_intersect(ws, ['b']), list_distinct(l).list_sort(), array_distinct(ws).array_sort(), list_unique(l), array_unique(ws)
list_sort(l), list_sort(l, 'DESC', 'NULLS FIRST'), array_sort(ws), list_reverse_sort(l), array_reverse_sort(ws, 'NULLS FIRST'), list_grade_up(l), array_grade_up(ws), grade_up(l)
list_resize(l, 4), array_resize(l, 4, 0), list_where(l, [true, false, true]), array_where([1, 2], [false, true]), list_select(l, [1, 2]), array_select(ws, [2])
list_zip(l, ws)::VARCHAR, array_zip(l, ws, true)::VARCHAR, flatten([l, [8]]), range(3), generate_series(1, 3), range(1, 9, 3), generate_series(DATE '2024-01-30', DATE '2024-02-02', INTERVAL 1 DAY)
list_transform(l, i -> i * 2), list_apply(l, lambda i: i + n), apply(l, i -> -i), array_transform(l, (i, place) -> i * place), array_apply(ws, v -> upper(v)), [i * i for i in l if i > 1]
list_filter(l, i -> i > 1), filter(l, i -> i > 1), array_filter(l, lambda i, place: place > 1), list_reduce(r, (a, b) -> a + b), reduce(r, (a, b) -> a + b), array_reduce(l, lambda a, b: a * b, 2)
array_to_string(ws, '+'), array_to_string_comma_default(ws), list_string_agg(ws), list_aggr(l, 'sum'), list_aggregate(l, 'max'), array_aggr(l, 'min'), array_aggregate(ws, 'string_agg', '/'), aggregate(l, 'count')
list_sum(l), list_avg(l), list_min(l), list_max(l), list_count(l), list_product(r), list_median(l), list_mad(l), list_mode([1, 1, 2])
list_first(l), list_last(l), list_any_value(l), list_bit_and(l), list_bit_or(l), list_bit_xor(l), list_bool_and([yes]), list_bool_or([yes]), list_histogram(ws)
list_sem(r), list_stddev_pop(r), list_stddev_samp(r), list_var_pop(r), list_var_samp(r), is_histogram_other_bin(n)
select list_distance(v, [1, 2, 3]), list_cosine_distance(v, [1, 2, 3]), list_cosine_similarity(v, [1, 2, 3]), list_dot_product(v, [1, 2, 3]), list_inner_product(v, [1, 2, 3]), list_negative_dot_product(v, [1, 2, 3]), list_negative_inner_product(v, [1, 2, 3]), v <-> [1, 2, 3], v <=> [1, 2, 3] from (select [coalesce(x, 0), 2, 3]::double[] as v from golden.mild)
array_distance(r::FLOAT[3], [1, 2, 3]::FLOAT[3]), array_cosine_distance(r::FLOAT[3], [1, 2, 3]::FLOAT[3]), array_cosine_similarity(r::DOUBLE[3], [1, 2, 3]::DOUBLE[3]), array_cross_product(r::DOUBLE[3], [1, 2, 3]::DOUBLE[3]), array_dot_product(r::FLOAT[3], [1, 2, 3]::FLOAT[3]), array_inner_product(r::FLOAT[3], [1, 2, 3]::FLOAT[3]), array_negative_dot_product(r::FLOAT[3], [1, 2, 3]::FLOAT[3]), array_negative_inner_product(r::FLOAT[3], [1, 2, 3]::FLOAT[3])
unpivot_list(1, n, 3), list_unique([1, null, 1]), list_sort([0e0, -0e0, 'nan'::DOUBLE, 'inf'::DOUBLE, null]), list_min([x, 'nan'::DOUBLE]), list_max([x, 'nan'::DOUBLE])
select n, generate_subscripts(l, 1) from golden.mild
select n, unnest(l), unnest(ws) from golden.mild
select unnest([{'a': n, 'b': s}], recursive := true) from golden.mild
select unnest({'a': n, 'b': {'c': s}}, recursive := true) from golden.mild
row(n, s)::VARCHAR, {'a': n, 'b': {'c': s}}, struct_pack(a := n, b := x), struct_insert({'a': n}, b := s), struct_update({'a': n, 'b': 1}, a := s), struct_concat({'a': n}, {'b': s})
struct_extract({'a': n}, 'a'), struct_extract(row(n, s), 2), struct_extract_at({'a': n, 'b': s}, 2), ({'a': n}).a, ({'a': n})['a'], struct_keys({'a': n, 'b': s}), struct_values({'a': n, 'b': s})::VARCHAR
struct_contains(row(n, 1), 3), struct_has(row(n, 1), 3), struct_indexof(row(n, 1), 3), struct_position(row(n, 1), 3), remap_struct({'i': n, 'j': 2}, NULL::ROW(v1 BIGINT, v2 INT, v3 BIGINT), {'v1': 'j', 'v3': 'i'}, {'v2': NULL::INTEGER})
MAP {'a': n, 'b': 2}, map(['k'], [n]), map_from_entries([('x', n)]), map_entries(MAP {'a': n}), map_keys(MAP {'a': n}), map_values(MAP {'a': n}), cardinality(MAP {'a': n, 'b': 1})
map_extract(MAP {'a': n}, 'a'), map_extract_value(MAP {'a': n}, 'a'), (MAP {'a': n})['a'], map_concat(MAP {'a': n}, MAP {'a': 1::BIGINT, 'b': 2}), map_contains(MAP {'a': n}, 'a'), map_contains_entry(MAP {'a': n}, 'a', 3), map_contains_value(MAP {'a': n}, 12)
select union_value(num := n), union_extract(union_value(num := n), 'num'), union_tag(union_value(num := n)), union_value(str := s).str, 1::UNION(a INT, b VARCHAR) from golden.mild
enum_code('b'::ENUM('a', 'b')), enum_first(null::ENUM('a', 'b')), enum_last(null::ENUM('a', 'b')), enum_range(null::ENUM('a', 'b')), enum_range_boundary('a'::ENUM('a', 'b'), null), 'a'::ENUM('a', 'b') < 'b'::ENUM('a', 'b')
json(j), j::JSON, to_json(s), to_json(l), to_json(d), to_json(x), to_json({'a': n}), array_to_json(l), row_to_json({'n': n}), json_quote(s)
json_extract(j, '$.k'), json_extract_path(j, 'k'), json_extract_string(j, '$.k'), json_extract_path_text(j, 'a'), j -> 'a', j ->> 'k', j -> '$[1]', json_extract(j, ['$.k', '$.a']), json_value(j, '$.k')
json_exists(j, '$.k'), json_type(j), json_type(j, '$.a'), json_valid(s), json_valid(j), json_array_length(j), json_array_length(j, '$.a'), json_keys(j), json_contains(j, '"v"'), json_structure(j)
json_pretty(j), json_merge_patch('{"a":1,"b":2}', '{"b":null,"c":[1]}'), json_array(n, s, null), json_object('a', n, 'b', l), from_json(j, '"JSON"'), from_json_strict('{"a":1}', '{"a":"INT"}')
json_transform('{"a":1,"b":"x"}', '{"a":"DOUBLE","b":"VARCHAR"}'), json_transform_strict('[1,2]', '["BIGINT"]'), from_json('{"a":[1,null]}', '{"a":["DECIMAL(5,2)"]}'), (j::JSON).k
st_x(geometry), st_y(geometry) from golden.places where st_geometrytype(geometry) = 'Point'
name, st_xmin(geometry), st_xmax(geometry), st_ymin(geometry), st_ymax(geometry) from golden.places
name, st_geometrytype(geometry), st_astext(geometry) from golden.places
name, st_intersects(geometry, 4, 4, 5, 5), bbox(geometry, 0, 0, 60, 60), st_intersects(geometry, 170, -20, -170, 20) from golden.places
select name from golden.places where bbox(geometry, 0, 0, 5, 5) order by name desc
select st_geometrytype(geometry) as kind, count(*), max(st_xmax(geometry)) from golden.places group by kind order by kind nulls first
st_point(x, n), st_astext(st_point(n, x)), st_x(st_point(10.75, 59.91)), st_point(null, 1)
st_asbinary('POINT (1 2)'::GEOMETRY), st_aswkb('LINESTRING (0 0, 1 1)'::GEOMETRY), st_aswkt('POINT Z (1 2 3)'::GEOMETRY), st_astext(st_geomfromwkb(st_aswkb('POINT (1 2)'::GEOMETRY)))
st_intersects_extent('POINT(5 5)'::GEOMETRY, 'LINESTRING(0 0, 10 20)'::GEOMETRY), st_crs('POINT(5 5)'::GEOMETRY), st_crs(st_setcrs('POINT(5 5)'::GEOMETRY, 'OGC:CRS84')), 'POINT(5 5)'::GEOMETRY && 'POINT(5 6)'::GEOMETRY
select * from json_each('{"a":1,"b":[2,3]}')
select key, value, type, path from json_tree('{"a":1,"b":[2,{"c":null}]}')
select * from generate_series(1, 10, 4)
select * from range(3) r(i), unnest([i, -i]) v(k)
select * from repeat(42, 3)
select * from repeat_row(1, 'a', num_rows = 2)
select * from range(TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-02', INTERVAL 7 HOUR)
select sum(k), sum(x), sum(p), sum(z), avg(k), avg(x), avg(p), mean(m) from golden.t
select count(*), count(x), count(distinct g), count_if(k > 3), countif(b), count_star() from golden.t
select min(k), max(x), min(z), max(d), min(g), max(p), min(l), max(b), min(event_time), max(g, 3), min(x, 2) from golden.t
select bit_and(k), bit_or(m), bit_xor(k), bool_and(k < 9), bool_or(b), bitstring_agg(k, 0, 7) from golden.t
select first(x order by offset), last(g order by offset), any_value(k order by m, offset), arbitrary(d), first(g), last(k) from golden.t
select arg_max(g, offset), arg_min(x, offset), argmax(k, m), argmin(g, x), max_by(d, offset), min_by(d, m), arg_max(k, m, 2) from golden.t
select arg_max_null(x, m), arg_min_null(x, m), arg_max_nulls_last(k, x, 2), arg_min_nulls_last(k, x, 2) from golden.t
select list(k order by offset), array_agg(g order by g, offset), list(distinct k order by k) from golden.t where m < 12
select string_agg(g, ',' order by offset), group_concat(g, '' order by g), listagg(k::varchar, '|' order by k desc), string_agg(distinct g order by g) from golden.t where m < 15
select median(k), median(x), quantile(k, 0.5), quantile_cont(x, 0.3), quantile_disc(g, 0.7), quantile_cont(k, [0.1, 0.9]), quantile_disc(d, 0.25), mad(m) from golden.t
select median(d), quantile_cont(event_time, 0.5), quantile_cont(p, 0.25), quantile_disc(p, [0.1, 0.2]), percentile_cont(0.5) within group (order by x desc), percentile_disc(0.1) within group (order by k), mode() within group (order by g) from golden.t
select mode(k), mode(g), histogram(k), histogram_exact(k, [0, 3]), histogram(m, [10, 50]) from golden.t
select stddev(k), stddev_pop(k), stddev_samp(x), var_pop(k), var_samp(x), variance(m), sem(k), corr(k, m), covar_pop(k, m), covar_samp(x, m) from golden.t
select regr_avgx(k, m), regr_avgy(k, m), regr_count(k, x), regr_intercept(k, m), regr_r2(k, m), regr_slope(k, m), regr_sxx(k, m), regr_sxy(k, m), regr_syy(k, m) from golden.t
select fsum(x), sumkahan(x), kahan_sum(x), favg(x), product(k + 1) from golden.t where m < 30
select weighted_avg(k, m), wavg(x, m) from golden.t
select json_group_array(k), json_group_object(g, k), json_group_structure(to_json(k)) from golden.t where m < 6
select g, sum(k), list(m order by m), count(*) filter (where b), max(x) filter (where not b) from golden.t group by g order by g limit 5
select offset, row_number() over (order by offset), rank() over (order by k), dense_rank() over (order by k), percent_rank() over (order by k), cume_dist() over (order by k), rank_dense() over (order by k) from golden.t where m < 20
select offset, ntile(3) over (order by offset), lag(k) over (order by offset), lead(g, 2, 'none') over (order by offset), lag(x, 1, 0e0 ignore nulls) over (order by offset) from golden.t where m < 20
select offset, first_value(g) over w, last_value(g) over w, nth_value(k, 2) over w, first(k) over w, last(x ignore nulls) over w from golden.t where m < 20 window w as (partition by b order by offset)
select offset, fill(x) over (order by offset) from golden.t where m < 20
select offset, count(*) over (partition by k), sum(k) over (order by offset rows between 2 preceding and current row), avg(m) over (order by offset rows between 1 preceding and 1 following) from golden.t where m < 20
`
