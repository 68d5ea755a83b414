// What is known of functions for the class of a statement (stability.ts): which aggregates do not depend on the order of
// rows, and what the values are that functions return. Reviewed one by one; what is not listed is pinned, or blurred.

function names(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

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

/** Macros that are aggregates of floats or of order. */
export const pinnedMacros = names(
  'geomean geometric_mean json_group_array json_group_object json_group_structure wavg weighted_avg',
)

/** One row of the statement becomes several. */
export const rowMakers = names('generate_subscripts regexp_split_to_table unnest')

/** They return an integer or a truth value, whatever they are given. */
export const numberFunctions = names(
  'array_contains array_length array_position ascii bit_count bit_length bool_and bool_or char_length ' +
    'character_length contains count count_if count_star countif damerau_levenshtein date_diff date_sub datediff ' +
    'datesub day dayofmonth dayofweek dayofyear decade dense_rank editdist3 ends_with epoch_ns epoch_us even factorial ' +
    'gcd generate_subscripts hamming hour instr isfinite isinf isnan isodow isoyear json_array_length json_contains json_exists json_valid ' +
    'lcm len length levenshtein list_contains list_has list_indexof list_position list_unique microsecond millennium ' +
    'millisecond minute mismatches month nanosecond ntile octet_length ord position prefix quarter rank rank_dense ' +
    'regexp_full_match regexp_matches regr_count row_number second sign starts_with strlen strpos suffix unicode week ' +
    'weekday weekofyear year yearweek ~~ !~~ ~~* !~~* ~~~ ^@ !',
)

/** They return text, a date, a time or bytes, whatever they are given. */
export const otherFunctions = names(
  '->> array_to_string base64 bin chr concat_ws dayname encode decode format format_bytes from_base64 from_hex hex ' +
    'json_extract_path_text json_extract_string json_type json_value last_day lcase left lower lpad ltrim make_date ' +
    'make_timestamp md5 monthname printf regexp_extract regexp_replace regexp_split_to_table repeat replace reverse right rpad rtrim sha1 ' +
    'sha256 split_part strftime string_agg strip_accents strptime substr substring time_bucket to_base64 to_hex ' +
    'translate trim try_strptime typeof ucase unhex upper url_decode url_encode',
)

/** They return one of their operands, or a value of the same kind. */
export const operandFunctions = names(
  'abs @ any_value arbitrary array_agg array_value concat date_trunc datetrunc fill first first_value greatest ' +
    'ifnull lag last last_value lead least list list_value max min nth_value nullif quantile_disc round trunc unnest ||',
)

/** Arithmetic: numbers of numbers; of times and spans it makes spans, which are blurred. */
export const arithmeticFunctions = names(
  '% * + - add bit_and bit_or bit_xor mod multiply subtract sum sum_no_overflow xor & | << >> ~',
)
