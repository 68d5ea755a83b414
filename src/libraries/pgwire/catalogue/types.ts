// The types that answers to PostgreSQL programs have, and what `pg_type` and `pg_proc` say of them: numbers and
// properties are those of PostgreSQL 15 (pg_type.dat). Data.

/** A type, or the array of one. */
export interface PgType {
  readonly oid: number
  readonly name: string
  /** Bytes; -1 where they vary. */
  readonly length: number
  readonly byValue: boolean
  readonly category: string
  readonly preferred: boolean
  /** Type of the elements; 0 where it is no array. */
  readonly element: number
  readonly isArray: boolean
  /** Its array; 0 where there is none. */
  readonly array: number
  readonly input: PgFunction
  readonly receive: PgFunction
  readonly align: string
  readonly storage: string
  readonly collation: number
  readonly kind: 'b' | 'p'
  /** As `format_type` has it. */
  readonly shown: string
}

/** A function that reads values of a type. */
export interface PgFunction {
  readonly oid: number
  readonly name: string
}

// oid name length by-value category preferred element array input receive align storage collation kind shown
const written = `
16 bool 1 t B t 0 1000 1242:boolin 2436:boolrecv c p 0 b boolean
17 bytea -1 f U f 0 1001 1244:byteain 2412:bytearecv i x 0 b bytea
18 char 1 t Z f 0 1002 1245:charin 2434:charrecv c p 0 b "char"
19 name 64 f S f 18 1003 34:namein 2422:namerecv c p 950 b name
20 int8 8 t N f 0 1016 460:int8in 2408:int8recv d p 0 b bigint
21 int2 2 t N f 0 1005 38:int2in 2404:int2recv s p 0 b smallint
22 int2vector -1 f A f 21 1006 40:int2vectorin 2410:int2vectorrecv i p 0 b int2vector
23 int4 4 t N f 0 1007 42:int4in 2406:int4recv i p 0 b integer
24 regproc 4 t N f 0 1008 44:regprocin 2444:regprocrecv i p 0 b regproc
25 text -1 f S t 0 1009 46:textin 2414:textrecv i x 100 b text
26 oid 4 t N t 0 1028 1798:oidin 2418:oidrecv i p 0 b oid
30 oidvector -1 f A f 26 1013 54:oidvectorin 2420:oidvectorrecv i p 0 b oidvector
114 json -1 f U f 0 199 321:json_in 323:json_recv i x 0 b json
700 float4 4 t N f 0 1021 200:float4in 2424:float4recv i p 0 b real
701 float8 8 t N t 0 1022 214:float8in 2426:float8recv d p 0 b double precision
705 unknown -2 f X f 0 0 109:unknownin 2416:unknownrecv c p 0 p unknown
869 inet -1 f I t 0 1041 910:inet_in 2496:inet_recv i m 0 b inet
1042 bpchar -1 f S f 0 1014 1044:bpcharin 2430:bpcharrecv i x 100 b character
1043 varchar -1 f S f 0 1015 1046:varcharin 2432:varcharrecv i x 100 b character varying
1082 date 4 t D f 0 1182 1084:date_in 2468:date_recv i p 0 b date
1083 time 8 t D f 0 1183 1143:time_in 2470:time_recv d p 0 b time without time zone
1114 timestamp 8 t D f 0 1115 1312:timestamp_in 2474:timestamp_recv d p 0 b timestamp without time zone
1184 timestamptz 8 t D t 0 1185 1150:timestamptz_in 2476:timestamptz_recv d p 0 b timestamp with time zone
1186 interval 16 f T t 0 1187 1160:interval_in 2478:interval_recv d p 0 b interval
1266 timetz 12 f D f 0 1270 1350:timetz_in 2472:timetz_recv d p 0 b time with time zone
1700 numeric -1 f N f 0 1231 1701:numeric_in 2460:numeric_recv i m 0 b numeric
2205 regclass 4 t N f 0 2210 2218:regclassin 2452:regclassrecv i p 0 b regclass
2206 regtype 4 t N f 0 2211 2220:regtypein 2454:regtyperecv i p 0 b regtype
2249 record -1 f P f 0 2287 2290:record_in 2402:record_recv d x 0 p record
2278 void 4 t P f 0 0 2298:void_in 3120:void_recv i p 0 p void
2950 uuid 16 f U f 0 2951 2952:uuid_in 2961:uuid_recv c p 0 b uuid
3802 jsonb -1 f U f 0 3807 3806:jsonb_in 3805:jsonb_recv i x 0 b jsonb`

const arrayInput: PgFunction = { oid: 750, name: 'array_in' }
const arrayReceive: PgFunction = { oid: 2400, name: 'array_recv' }

const plainTypes: readonly PgType[] = written
  .trim()
  .split('\n')
  .map((line) => {
    const [oid, name = '', length, byValue, category = '', preferred, element, array, ...rest] = line.split(' ')
    const [input = '', receive = '', align = '', storage = '', collation, kind, ...shown] = rest
    return {
      oid: Number(oid),
      name,
      length: Number(length),
      byValue: byValue === 't',
      category,
      preferred: preferred === 't',
      element: Number(element),
      isArray: false,
      array: Number(array),
      input: functionOf(input),
      receive: functionOf(receive),
      align,
      storage,
      collation: Number(collation),
      kind: kind === 'p' ? 'p' : 'b',
      shown: shown.join(' '),
    }
  })

/** All types, arrays behind the others. */
export const pgTypes: readonly PgType[] = [...plainTypes, ...plainTypes.filter(({ array }) => array !== 0).map(arrayOf)]

/** Values of these types are arrays. */
export const arrayOids: ReadonlySet<number> = new Set(pgTypes.filter(({ isArray }) => isArray).map(({ oid }) => oid))

/** Words for types that only a grammar has, the engine's `blob` too. */
export const otherWords: ReadonlyMap<string, string> = new Map([
  ['blob', 'bytea'],
  ['decimal', 'numeric'],
  ['float', 'float8'],
  ['int', 'int4'],
])

/** The type of a name, as SQL writes it: `int`, `double precision`, `text[]`. */
export function typeCalled(name: string): PgType | undefined {
  const base = name.replace(/\[\]$/, '')
  const word = otherWords.get(base) ?? base
  const type = plainTypes.find((one) => one.name === word || one.shown === word)
  return base === name ? type : pgTypes.find(({ oid }) => oid === type?.array)
}

function functionOf(written: string): PgFunction {
  const [oid, name = ''] = written.split(':')
  return { oid: Number(oid), name }
}

function arrayOf(type: PgType): PgType {
  return {
    ...type,
    oid: type.array,
    name: `_${type.name}`,
    length: -1,
    byValue: false,
    category: type.kind === 'p' ? 'P' : 'A',
    preferred: false,
    element: type.oid,
    isArray: true,
    array: 0,
    input: arrayInput,
    receive: arrayReceive,
    align: type.align === 'd' ? 'd' : 'i',
    storage: 'x',
    shown: `${type.shown}[]`,
  }
}
