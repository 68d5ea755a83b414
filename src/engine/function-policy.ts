// Which functions of the engine a statement may call. Everything is denied unless `allowed-functions.ts` lists it; that
// list is generated from the engine's own catalogue minus what is refused here (test/engine/allowed-functions.test.ts
// regenerates it and fails when a new engine version brings a name that nobody reviewed).

/** Refused by name: they read settings, catalogue or clock of the node, change state, or reach into raw memory forms. */
export const deniedFunctions: ReadonlySet<string> = new Set(
  (
    'ago can_cast_implicitly cast_to_type col_description combine create_sort_key current_catalog ' +
    'current_connection_id current_database current_query current_query_id current_role current_schema ' +
    'current_schemas current_setting current_transaction_id current_user currval error finalize format_pg_type ' +
    'format_type get_block_size get_type getvariable in_search_path inet_client_addr json_deserialize_sql ' +
    'json_serialize_plan json_serialize_sql make_type map_to_pg_oid nextval obj_description ' +
    'parse_duckdb_log_message replace_type session_user setseed shobj_description sleep_ms stats txid_current user ' +
    'vector_type version write_log'
  ).split(' '),
)

/** Types that may not be named: TYPE is the engine's own, and VARIANT has no form in an answer (and see below). */
export const deniedTypes: ReadonlySet<string> = new Set(['type', 'variant'])

/** VARIANT: deep JSON that becomes one overflows the engine's stack. */
const deniedPrefixes = ['__internal', 'has_', 'inet_', 'pg_', 'variant_']

/** True when a function of this name must stay out of the list. */
export function isDenied(name: string): boolean {
  return deniedFunctions.has(name) || deniedPrefixes.some((prefix) => name.startsWith(prefix))
}

/** Functions of a FROM clause; all others there read files, catalogue or state. */
export const allowedTableFunctions: ReadonlySet<string> = new Set([
  'generate_series',
  'json_each',
  'json_tree',
  'range',
  'repeat',
  'repeat_row',
  'unnest',
])

/** Macros whose bodies were read and call allowed functions only. */
export const allowedMacros: ReadonlySet<string> = new Set(
  (
    'array_append array_pop_back array_pop_front array_prepend array_push_back array_push_front array_reverse ' +
    'array_to_string array_to_string_comma_default date_add days_in_month fdiv fmod generate_subscripts geomean ' +
    'geometric_mean json json_group_array json_group_object json_group_structure list_any_value list_append ' +
    'list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or list_count ' +
    'list_entropy list_first list_histogram list_kurtosis list_kurtosis_pop list_last list_mad list_max list_median ' +
    'list_min list_mode list_prepend list_product list_reverse list_sem list_skewness list_stddev_pop ' +
    'list_stddev_samp list_string_agg list_sum list_var_pop list_var_samp map_contains_entry map_contains_value ' +
    'md5_number_lower md5_number_upper nullif regexp_split_to_table round_even roundbankers split_part wavg ' +
    'weighted_avg'
  ).split(' '),
)

/** Allowed macros that look at more than one row, or make rows; the others are scalar. */
export const rowSetMacros: ReadonlySet<string> = new Set(
  (
    'generate_subscripts geomean geometric_mean json_group_array json_group_object json_group_structure ' +
    'regexp_split_to_table wavg weighted_avg'
  ).split(' '),
)

/** Answers change from run to run, or the algorithm is not a promise: no proof, but they may run. */
export const volatileFunctions: ReadonlySet<string> = new Set(
  (
    'approx_count_distinct approx_quantile approx_top_k current_date current_localtime current_localtimestamp ' +
    'gen_random_uuid get_current_time get_current_timestamp list_approx_count_distinct now random ' +
    'reservoir_quantile today transaction_timestamp uuid uuidv4 uuidv7'
  ).split(' '),
)

/**
 * Their last digits depend on the processor and the mathematical library (with or without FMA, glibc or musl): they run,
 * but what one machine signs another may not find again. The four operations, sqrt, round and the sums are exact by
 * IEEE 754; so are corr, stddev and their like, which are made of those alone, and round_even, whose powers of ten are
 * whole. skewness and kurtosis take third and fourth powers, geomean is exp(avg(ln(x))), wide bins come from log10.
 */
export const machineDependentFunctions: ReadonlySet<string> = new Set(
  (
    '^ ** acos acosh asin asinh atan atan2 atanh cbrt cos cosh cot entropy equi_width_bins exp gamma geomean ' +
    'geometric_mean kurtosis kurtosis_pop lgamma list_entropy list_kurtosis list_kurtosis_pop list_skewness ln log ' +
    'log10 log2 pow power sin sinh skewness tan tanh'
  ).split(' '),
)

/** A bare column of such a name is a call of the clock when no column has the name. */
export const clockNames: ReadonlySet<string> = new Set([
  'current_date',
  'current_time',
  'current_timestamp',
  'localtime',
  'localtimestamp',
])

/** A bare column of such a name tells of the session when no column has the name. */
export const sessionNames: ReadonlySet<string> = new Set([
  'current_catalog',
  'current_role',
  'current_schema',
  'current_user',
  'session_user',
  'user',
])

/** They call an aggregate that is named by their second argument. */
export const aggregateByName: ReadonlySet<string> = new Set([
  'aggregate',
  'array_aggr',
  'array_aggregate',
  'list_aggr',
  'list_aggregate',
])
