// A wide table of values of every type, as a statement of the engine and as one of PostgreSQL that says the same.

/** Of one column: its type in both, and texts that are cast to it; two where the two are written apart. */
interface TypeValues {
  readonly engine: string
  readonly postgres: string
  readonly values: readonly (string | null | readonly [engine: string, postgres: string])[]
}

const texts = [
  '',
  'plain',
  'with "quotes", and commas',
  "it's",
  'a\nb\r\nc\td',
  '\b\f\v\u0001\u007f',
  String.raw`\N`,
  String.raw`\.`,
  String.raw`back\slash\\n`,
  'ünïcödé € 😀 \ufeff',
  null,
  ' ',
  'x'.repeat(5000),
  'NULL',
]
const dates: TypeValues['values'] = [
  '1970-01-01',
  '2000-01-01',
  '1999-12-31',
  '2024-02-29',
  '0001-01-01',
  ['0001-12-31 (BC)', '0001-12-31 BC'],
  ['0044-03-15 (BC)', '0044-03-15 BC'],
  ['4714-11-24 (BC)', '4714-11-24 BC'],
  null,
  '9999-12-31',
  '10000-01-01',
  '5874897-12-31',
]
const instants = (zone: string, fractions: readonly string[]): TypeValues['values'] => [
  ...fractions.map((fraction) => `2026-03-01 10:00:00${fraction}${zone}`),
  `1999-12-31 23:59:59${zone}`,
  `2255-06-05 23:47:34${zone}`,
  `2300-01-01 00:00:01${zone}`,
  null,
  `0001-01-01 00:00:00${zone}`,
  [`0001-12-31 (BC) 23:59:59${zone}`, `0001-12-31 23:59:59${zone} BC`],
  [`4714-11-24 (BC) 00:00:00${zone}`, `4714-11-24 00:00:00${zone} BC`],
  `294246-12-31 23:59:59${zone}`,
]
const micros = ['', '.1', '.12', '.000001', '.123456', '.999999', '.10001']
const floats = [
  '0',
  '-0',
  '1',
  '-1',
  '1.5',
  '0.1',
  '0.0001',
  '0.00012',
  '0.00009',
  '1e-5',
  '100000',
  '1e20',
  'NaN',
  null,
]
const infinities = ['Infinity', '-Infinity']

export const allTypes: readonly TypeValues[] = [
  { engine: 'BOOLEAN', postgres: 'bool', values: ['true', 'false', null] },
  { engine: 'TINYINT', postgres: 'int2', values: ['-128', '127', '0', null, '-1'] },
  { engine: 'UTINYINT', postgres: 'int2', values: ['0', '255', null] },
  { engine: 'SMALLINT', postgres: 'int2', values: ['-32768', '32767', null, '0', '-1'] },
  { engine: 'USMALLINT', postgres: 'int4', values: ['0', '65535', null] },
  { engine: 'INTEGER', postgres: 'int4', values: ['-2147483648', '2147483647', null, '0', '-1', '999999999'] },
  { engine: 'UINTEGER', postgres: 'int8', values: ['0', '4294967295', '2147483648', null] },
  {
    engine: 'BIGINT',
    postgres: 'int8',
    values: ['-9223372036854775808', '9223372036854775807', '9007199254740992', '-9007199254740993', null, '0', '-1'],
  },
  {
    engine: 'UBIGINT',
    postgres: 'numeric',
    values: [
      '0',
      '18446744073709551615',
      '9223372036854775808',
      '10000',
      '100000000',
      '9999',
      null,
      '9007199254740993',
    ],
  },
  {
    engine: 'HUGEINT',
    postgres: 'numeric',
    values: [`-${'9'.repeat(38)}`, '9'.repeat(38), '0', null, '-1', '-10000', '18446744073709551616'],
  },
  { engine: 'DECIMAL(4,1)', postgres: 'numeric(4,1)', values: ['-999.9', '0.0', '0.1', '100.0', null] },
  {
    engine: 'DECIMAL(18,4)',
    postgres: 'numeric(18,4)',
    values: ['12345678901234.5678', '-0.0001', '0', '1', '10000', '1.5', '99999999999999.9999', null],
  },
  { engine: 'DECIMAL(9,9)', postgres: 'numeric(9,9)', values: ['0.000000001', '-0.999999999', '0.0001', null, '0'] },
  {
    engine: 'DECIMAL(38,10)',
    postgres: 'numeric(38,10)',
    values: ['9'.repeat(28), '-1234567890123456789.0123456789', '0.0000000001', '1e20', null, '100.00001'],
  },
  {
    engine: 'DECIMAL(38,38)',
    postgres: 'numeric(38,38)',
    values: [`0.${'9'.repeat(38)}`, `-0.${'0'.repeat(37)}1`, '0', null],
  },
  {
    engine: 'FLOAT',
    postgres: 'float4',
    values: [
      ...floats,
      ...infinities,
      '999999',
      '1e6',
      '123456.7',
      '1234567',
      '3.4028235e38',
      '1e-45',
      '16777217',
      '1e10',
    ],
  },
  {
    engine: 'DOUBLE',
    postgres: 'float8',
    values: [
      ...floats,
      ...infinities,
      '999999999999999',
      '1e15',
      '1234567890123456',
      '5e-324',
      '1.7976931348623157e308',
      '2.2250738585072014e-308',
      '0.30000000000000004',
      '123.456',
      '-9007199254740993',
    ],
  },
  { engine: 'VARCHAR', postgres: 'text', values: texts },
  {
    engine: 'BLOB',
    postgres: 'bytea',
    values: ['', 'abc', [String.raw`\x00\xFF\x5C`, String.raw`\x00ff5c`], null],
  },
  { engine: 'DATE', postgres: 'date', values: dates },
  { engine: 'TIME', postgres: 'time', values: ['00:00:00', '23:59:59.999999', '24:00:00', '10:00:00.1', null] },
  { engine: 'TIMESTAMP', postgres: 'timestamp', values: instants('', micros) },
  { engine: 'TIMESTAMP_S', postgres: 'timestamp', values: instants('', ['']) },
  { engine: 'TIMESTAMP_MS', postgres: 'timestamp', values: instants('', ['', '.1', '.123']) },
  { engine: 'TIMESTAMPTZ', postgres: 'timestamptz', values: instants('+00', micros) },
  {
    engine: 'TIMESTAMP_NS',
    postgres: 'text',
    values: ['2026-03-01 10:00:00.123456789', '1960-01-01 00:00:00', null, '2026-03-01 10:00:00.00000001'],
  },
  { engine: 'TIME_NS', postgres: 'text', values: ['10:00:00.123456789', '00:00:00', null, '23:59:59.1'] },
  {
    engine: 'TIMETZ',
    postgres: 'timetz',
    values: ['10:00:00+00', '10:00:00.12+05:30', '23:59:59.999999-15:59:59', '00:00:00+00:00:01', null, '01:00:00-03'],
  },
  {
    engine: 'INTERVAL',
    postgres: 'interval',
    values: [
      '0 days',
      '1 year 2 months -3 days 04:05:06.789',
      '-1 year -2 months 3 days',
      '-13 months 00:00:01',
      '1 day -00:00:00.000001',
      '-1 day 00:00:00.5',
      '100:00:00',
      '-123:59:59.999999',
      '1 month',
      null,
      '2 days',
      '-1 days',
    ],
  },
  {
    engine: 'UUID',
    postgres: 'uuid',
    values: ['00000000-0000-0000-0000-000000000000', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6', null],
  },
  {
    engine: 'JSON',
    postgres: 'jsonb',
    values: ['{"a": 1, "b": [1, 2, "x,y"]}', '"te\\nxt \\" € "', 'null', '[]', '1.50', null],
  },
]

const quoted = (value: string): string => `'${value.replaceAll("'", "''")}'`

/** The same rows in both, the columns named by `nameOf`. */
export function statementsOf(
  types: readonly TypeValues[],
  nameOf = (at: number): string => `c${at}`,
): { readonly engine: string; readonly postgres: string } {
  const rows = Math.max(...types.map(({ values }) => values.length))
  const statement = (side: 0 | 1): string => {
    const literal = (value: TypeValues['values'][number]): string =>
      value === null ? 'NULL' : quoted(typeof value === 'string' ? value : value[side])
    const lines = Array.from({ length: rows }, (_, row) => {
      const cells = types.map(({ values }) => literal(values[row % values.length] ?? null))
      return `(${row}, ${cells.join(', ')})`
    })
    const casts = types.map(({ engine, postgres }, at) => {
      const name = nameOf(at).replaceAll('"', '""')
      return `CAST(v${at} AS ${side === 0 ? engine : postgres}) AS "${name}"`
    })
    const names = types.map((_, at) => `v${at}`)
    return `SELECT ${casts.join(', ')} FROM (VALUES ${lines.join(', ')}) v(row, ${names.join(', ')}) ORDER BY row`
  }
  return { engine: statement(0), postgres: statement(1) }
}
