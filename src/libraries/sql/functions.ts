// Which functions of the engine a statement may call, and what is known of them for the class of a statement. Everything is
// denied unless it is listed: `scalarFunctions` and `aggregateFunctions` are the catalogue of DuckDB 1.5.6 minus what is
// refused here, in byte order (test/node/engine/allowed-functions.test.ts regenerates both, and fails when a new engine version
// brings a name without a review). Data; names are in ASCII lower case.

/** Names between white space. */
export function names(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}

/** Refused by name: they read settings, catalogue or clock of the node, change state, or reach into raw memory forms. */
export const deniedFunctions = names(`
  ago can_cast_implicitly cast_to_type col_description combine create_sort_key current_catalog current_connection_id
  current_database current_query current_query_id current_role current_schema current_schemas current_setting
  current_transaction_id current_user currval error finalize format_pg_type format_type get_block_size get_type
  getvariable in_search_path inet_client_addr json_deserialize_sql json_serialize_plan json_serialize_sql make_type
  map_to_pg_oid nextval obj_description parse_duckdb_log_message replace_type session_user setseed shobj_description
  sleep_ms stats txid_current user vector_type version write_log
`)

/** Types that may not be named: TYPE is the engine's own, and VARIANT has no form in an answer (and see below). */
export const deniedTypes: ReadonlySet<string> = new Set(['type', 'variant'])

/** VARIANT: deep JSON that becomes one overflows the engine's stack. */
const deniedPrefixes = ['__internal', 'has_', 'inet_', 'pg_', 'variant_']

/** True when a function of this name must stay out of the list. */
export function isDenied(name: string): boolean {
  return deniedFunctions.has(name) || deniedPrefixes.some((prefix) => name.startsWith(prefix))
}

/** Functions of a FROM clause; all others there read files, catalogue or state. */
export const allowedTableFunctions = names('generate_series json_each json_tree range repeat repeat_row unnest')

/** Macros whose bodies were read and call allowed functions only. */
export const allowedMacros = names(`
  array_append array_pop_back array_pop_front array_prepend array_push_back array_push_front array_reverse
  array_to_string array_to_string_comma_default date_add days_in_month fdiv fmod generate_subscripts geomean
  geometric_mean json json_group_array json_group_object json_group_structure list_any_value list_append
  list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or list_count
  list_entropy list_first list_histogram list_kurtosis list_kurtosis_pop list_last list_mad list_max list_median
  list_min list_mode list_prepend list_product list_reverse list_sem list_skewness list_stddev_pop list_stddev_samp
  list_string_agg list_sum list_var_pop list_var_samp map_contains_entry map_contains_value md5_number_lower
  md5_number_upper nullif regexp_split_to_table round_even roundbankers split_part to_char to_date wavg weighted_avg
`)

/** Allowed macros that look at more than one row, or make rows; the others are scalar. */
export const rowSetMacros = names(`
  generate_subscripts geomean geometric_mean json_group_array json_group_object json_group_structure
  regexp_split_to_table wavg weighted_avg
`)

/** Answers change from run to run, or the algorithm is not a promise: no proof, but they may run. */
export const volatileFunctions = names(`
  approx_count_distinct approx_quantile approx_top_k current_date current_localtime current_localtimestamp
  gen_random_uuid get_current_time get_current_timestamp list_approx_count_distinct now random reservoir_quantile
  today transaction_timestamp uuid uuidv4 uuidv7
`)

/**
 * Their last digits depend on the processor and the mathematical library (with or without FMA, glibc or musl): they run,
 * but what one machine signs another may not find again. The four operations, sqrt, round and the sums are alike on all by
 * IEEE 754; so are corr, stddev and their like, which are made of those alone, and round_even, whose powers of ten are
 * whole. skewness and kurtosis take third and fourth powers, geomean is exp(avg(ln(x))), wide bins come from log10.
 */
export const machineDependentFunctions = names(`
  ^ ** acos acosh asin asinh atan atan2 atanh cbrt cos cosh cot entropy equi_width_bins exp gamma geomean
  geometric_mean kurtosis kurtosis_pop lgamma list_entropy list_kurtosis list_kurtosis_pop list_skewness ln log
  log10 log2 pow power sin sinh skewness tan tanh
`)

/** A bare column of such a name is a call of the clock when no column has the name. */
export const clockNames = names('current_date current_time current_timestamp localtime localtimestamp')

/** A bare column of such a name reveals the session when no column has the name. */
export const sessionNames = names('current_catalog current_role current_schema current_user session_user user')

/** They call an aggregate that is named by their second argument. */
export const aggregateByName = names('aggregate array_aggr array_aggregate list_aggr list_aggregate')

/** Of the engine, by name in ASCII lower case; operators too. */
const engineFunctions = names(`
  !__postfix !~~ !~~* % & && * ** + - ->> / // <-> << <=> <@ >> @ @> ^ ^@ abs acos acosh add age aggregate alias
  apply array_aggr array_aggregate array_apply array_cat array_concat array_contains array_cosine_distance
  array_cosine_similarity array_cross_product array_distance array_distinct array_dot_product array_extract
  array_filter array_grade_up array_has array_has_all array_has_any array_indexof array_inner_product
  array_intersect array_length array_negative_dot_product array_negative_inner_product array_position array_reduce
  array_resize array_reverse_sort array_select array_slice array_sort array_to_json array_transform array_unique
  array_value array_where array_zip ascii asin asinh atan atan2 atanh bar base64 bin bit_count bit_length
  bit_position bitstring cardinality cbrt ceil ceiling century char_length character_length chr concat concat_ws
  constant_or_null contains cos cosh cot current_date current_localtime current_localtimestamp damerau_levenshtein
  date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek
  dayofyear decade decode degrees divide editdist3 element_at encode ends_with enum_code enum_first enum_last
  enum_range enum_range_boundary epoch epoch_ms epoch_ns epoch_us equi_width_bins era even exp factorial filter
  flatten floor format format_bytes formatreadabledecimalsize formatreadablesize from_base64 from_binary from_hex
  from_json from_json_strict gamma gcd gen_random_uuid generate_series get_bit get_current_time
  get_current_timestamp grade_up greatest greatest_common_divisor hamming hash hex hour icu_sort_key ilike_escape
  instr is_histogram_other_bin isfinite isinf isnan isodow isoyear jaccard jaro_similarity jaro_winkler_similarity
  json_array json_array_length json_contains json_exists json_extract json_extract_path json_extract_path_text
  json_extract_string json_keys json_merge_patch json_object json_pretty json_quote json_structure json_transform
  json_transform_strict json_type json_valid json_value julian last_day lcase lcm least least_common_multiple left
  left_grapheme len length length_grapheme levenshtein lgamma like_escape list_aggr list_aggregate list_apply
  list_cat list_concat list_contains list_cosine_distance list_cosine_similarity list_distance list_distinct
  list_dot_product list_element list_extract list_filter list_grade_up list_has list_has_all list_has_any
  list_indexof list_inner_product list_intersect list_negative_dot_product list_negative_inner_product list_pack
  list_position list_reduce list_resize list_reverse_sort list_select list_slice list_sort list_transform
  list_unique list_value list_where list_zip ln log log10 log2 lower lpad ltrim make_date make_time make_timestamp
  make_timestamp_ms make_timestamp_ns make_timestamptz map map_concat map_contains map_entries map_extract
  map_extract_value map_from_entries map_keys map_values md5 md5_number microsecond millennium millisecond minute
  mismatches mod month monthname multiply nanosecond nextafter nfc_normalize normalized_interval not_ilike_escape
  not_like_escape now octet_length ord parse_dirname parse_dirpath parse_filename parse_formatted_bytes parse_path
  pi position pow power prefix printf quarter radians random range reduce regexp_escape regexp_extract
  regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array remap_struct repeat
  replace reverse right right_grapheme round row row_to_json rpad rtrim second set_bit sha1 sha256 sign signbit sin
  sinh split sqrt st_asbinary st_astext st_aswkb st_aswkt st_crs st_geomfromwkb st_intersects_extent st_setcrs
  starts_with str_split str_split_regex strftime string_split string_split_regex string_to_array strip_accents
  strlen strpos strptime struct_concat struct_contains struct_extract struct_extract_at struct_has struct_indexof
  struct_insert struct_keys struct_pack struct_position struct_update struct_values substr substring
  substring_grapheme subtract suffix switch tan tanh time_bucket timetz_byte_comparable timezone timezone_hour
  timezone_minute to_base to_base64 to_binary to_centuries to_days to_decades to_hex to_hours to_json
  to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks
  to_years today transaction_timestamp translate trim trunc try_strptime typeof ucase unbin unhex unicode
  union_extract union_tag union_value unpivot_list upper url_decode url_encode uuid uuid_extract_timestamp
  uuid_extract_version uuidv4 uuidv7 week weekday weekofyear xor year yearweek | || ~ ~~ ~~* ~~~
`)

/** Functions of ours over geometries (duckdb-spatial.ts); st_astext has the name of one of the engine's. */
export const spatialFunctions = names(`
  bbox st_geometrytype st_intersects st_point st_x st_xmax st_xmin st_y st_ymax st_ymin
`)

/** Scalar functions and operators by name in ASCII lower case. */
export const scalarFunctions: ReadonlySet<string> = new Set([...engineFunctions, ...spatialFunctions])

/** Aggregate and window functions by name. */
export const aggregateFunctions = names(`
  any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last
  arg_min arg_min_null arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor bitstring_agg bool_and
  bool_or corr count count_if count_star countif covar_pop covar_samp cume_dist dense_rank entropy favg fill first
  first_value fsum group_concat histogram histogram_exact kahan_sum kurtosis kurtosis_pop lag last last_value lead
  list listagg mad max max_by mean median min min_by mode nth_value ntile percent_rank product quantile
  quantile_cont quantile_disc rank rank_dense regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
  regr_sxx regr_sxy regr_syy reservoir_quantile row_number sem skewness stddev stddev_pop stddev_samp string_agg sum
  sum_no_overflow sumkahan var_pop var_samp variance
`)

/** Aggregates that count, whatever they count: equal values count as equal. */
export const countingAggregates = names('count count_if count_star countif regr_count bool_and bool_or')

/** Exact where their operands are numbers that are added or combined without rounding. */
export const addingAggregates = names('avg bit_and bit_or bit_xor mean sum sum_no_overflow')

/** They take values out of the sorted operands: exact where equal values are the same value. */
export const sortingAggregates = names('max median min quantile quantile_cont quantile_disc')

/** Exact where their own ORDER BY leaves no choice. */
export const orderedAggregates = names('array_agg first group_concat last list listagg string_agg')

/** Of two rows with equal second operands they keep one: exact where that operand is the offset. */
export const extremeAggregates = names('arg_max arg_min argmax argmin max_by min_by')

/** Window functions that give peers the same value. */
export const peerFunctions = names('cume_dist dense_rank percent_rank rank rank_dense')

/** Window functions that tell peers apart: exact where the order leaves no peers. */
export const rowFunctions = names('fill first first_value lag last last_value lead nth_value ntile row_number')

/**
 * What they give is of one version of the engine, though the text means the same in all: they add and multiply floats in an
 * order of their own, or give values in the order of a hash or of a collation. Another version, or another program, finds other
 * last digits (docs/engines.md#duckdb-20). So no statement with one is exact.
 */
export const versionFunctions = names(`
  <-> <=> array_cosine_distance array_cosine_similarity array_cross_product array_distance array_distinct
  array_dot_product array_inner_product array_negative_dot_product array_negative_inner_product corr covar_pop
  covar_samp favg fsum icu_sort_key kahan_sum list_cosine_distance list_cosine_similarity list_distance list_distinct
  list_dot_product list_inner_product list_mode list_negative_dot_product list_negative_inner_product list_product
  list_sem list_stddev_pop list_stddev_samp list_var_pop list_var_samp mode product regr_avgx regr_avgy regr_intercept
  regr_r2 regr_slope regr_sxx regr_sxy regr_syy sem stddev stddev_pop stddev_samp sumkahan var_pop var_samp variance
  wavg weighted_avg
`)

/** Aggregates of the items of a list: of one version where these are floats, whose sums round and whose zeros are two. */
export const listAggregates = names('list_avg list_mad list_max list_median list_min list_sum')

/** Macros that are aggregates of floats or of order. */
export const pinnedMacros = names(`
  geomean geometric_mean json_group_array json_group_object json_group_structure wavg weighted_avg
`)

/** One row of the statement becomes several. */
export const rowMakers = names('generate_subscripts regexp_split_to_table unnest')

/** They return an integer or a truth value, whatever they are given. */
export const numberFunctions = names(`
  array_contains array_length array_position ascii bit_count bit_length bool_and bool_or char_length
  character_length contains count count_if count_star countif damerau_levenshtein date_diff date_sub datediff
  datesub day dayofmonth dayofweek dayofyear decade dense_rank editdist3 ends_with epoch_ns epoch_us factorial
  gcd generate_subscripts hamming hour instr isfinite isinf isnan isodow isoyear json_array_length json_contains
  json_exists json_valid lcm len length levenshtein list_contains list_has list_indexof list_position list_unique
  microsecond millennium millisecond minute mismatches month nanosecond ntile octet_length ord position prefix
  quarter rank rank_dense regexp_full_match regexp_matches regr_count row_number second sign starts_with strlen
  strpos suffix unicode week weekday weekofyear year yearweek ~~ !~~ ~~* !~~* ~~~ ^@ ! bbox st_intersects
`)

/** They return text, a date, a time or bytes, whatever they are given. */
export const otherFunctions = names(`
  ->> array_to_string base64 bin chr concat_ws dayname encode decode format format_bytes from_base64 from_hex hex
  json_extract_path_text json_extract_string json_type json_value last_day lcase left lower lpad ltrim make_date
  make_timestamp md5 monthname printf regexp_extract regexp_replace regexp_split_to_table repeat replace reverse
  right rpad rtrim sha1 sha256 split_part strftime string_agg strip_accents strptime substr substring time_bucket
  to_base64 to_char to_date to_hex translate trim try_strptime typeof ucase unhex upper url_decode url_encode
`)

/** They return one of their operands, or a value of the same kind. */
export const operandFunctions = names(`
  abs @ any_value arbitrary date_trunc datetrunc fill first first_value greatest ifnull lag last last_value lead least
  max min nth_value nullif quantile_disc round trunc unnest
`)

/** They return lists, or texts, of their operands. */
export const joiningFunctions = names('array_agg array_value concat list list_value ||')

/** Arithmetic: numbers of numbers; of times and spans it makes spans, which are blurred. */
export const arithmeticFunctions = names(`
  * + - add bit_and bit_or bit_xor multiply subtract sum sum_no_overflow xor & | << >> ~
`)

/** Integers of integers; of decimals they may make floats. */
export const integerFunctions = names('% // mod')
