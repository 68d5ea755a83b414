// The datasets of golden proofs, as the requests that make them: `values` has each type of column at its ends, `mild` has
// values that any function takes, `t` and `u` are those of the corpus of statements, `places` has geometries.

interface Batch {
  readonly mediaType: string
  readonly body: string
  /** Of the URL. */
  readonly more?: string
}

export interface GoldenDataset {
  readonly name: string
  readonly fields: readonly { readonly name: string; readonly type: string }[]
  /** Each becomes a block. */
  readonly batches: readonly Batch[]
}

/** `a: Int32, b: String?` as fields. */
function fields(text: string): GoldenDataset['fields'] {
  return text
    .trim()
    .split(/;\s*/)
    .map((part) => ({ name: part.slice(0, part.indexOf(':')), type: part.slice(part.indexOf(':') + 1).trim() }))
}

const ndjson = (lines: readonly string[], more = ''): Batch => ({
  mediaType: 'application/x-ndjson',
  body: lines.map((line) => `${line}\n`).join(''),
  more,
})
const csv = (body: string): Batch => ({ mediaType: 'text/csv', body })
const times = (from: number, count: number, line: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => line(from + i))

/** Minutes after the first day of 2024, as an event time. */
const at = (minutes: number): string =>
  `"event_time":"${new Date(Date.UTC(2024, 0, 1) + minutes * 60_000).toISOString()}"`

const values: GoldenDataset = {
  name: 'values',
  fields: fields(`
    id: Int32; yes: Bool?; i8: Int8?; i16: Int16?; i32: Int32?; i64: Int64?; u8: UInt8?; u16: UInt16?; u32: UInt32?;
    u64: UInt64?; f32: Float32?; f64: Float64?; d4: Decimal(4,1)?; d18: Decimal(18,6)?; d38: Decimal(38,0)?;
    dd: Decimal(38,20)?; s: String?; day: Date?; ms: Timestamp?; us: Timestamp(Microsecond)?; bin: Binary?;
    ints: List(Int64?)?; texts: List(String?)?; reals: List(Float64?)?; days: List(Date?)?; decs: List(Decimal(9,2)?)?`),
  batches: [
    ndjson([
      String.raw`{${at(0)},"id":1,"yes":true,"i8":-128,"i16":-32768,"i32":-2147483648,"i64":-9223372036854775808,"u8":0,"u16":0,"u32":0,"u64":0,"f32":-3.4028234663852886e38,"f64":-1.7976931348623157e308,"d4":"-999.9","d18":"-999999999999.999999","d38":"-99999999999999999999999999999999999999","dd":"-999999999999999999.99999999999999999999","s":"","day":"0001-01-01","ms":"0001-01-01T00:00:00Z","us":"0001-01-01T00:00:00Z","bin":"","ints":[],"texts":[],"reals":[],"days":[],"decs":[]}`,
      String.raw`{${at(1)},"id":2,"yes":false,"i8":127,"i16":32767,"i32":2147483647,"i64":9223372036854775807,"u8":255,"u16":65535,"u32":4294967295,"u64":18446744073709551615,"f32":3.4028234663852886e38,"f64":1.7976931348623157e308,"d4":"999.9","d18":"999999999999.999999","d38":"99999999999999999999999999999999999999","dd":"999999999999999999.99999999999999999999","s":"\u0000nul\u0001","day":"9999-12-31","ms":"9999-12-31T23:59:59.999Z","us":"9999-12-31T23:59:59.999999Z","bin":"00ff","ints":[9223372036854775807,null,-9223372036854775808],"texts":["",null,"😀"],"reals":[0.1,-0.0,5e-324],"days":["2024-02-29",null],"decs":["-0.01",null,"9999999.99"]}`,
      String.raw`{${at(2)},"id":3}`,
      String.raw`{${at(2)},"id":4,"yes":true,"i8":-1,"i16":-1,"i32":-1,"i64":-1,"u8":1,"u16":1,"u32":1,"u64":9007199254740993,"f32":1.401298464324817e-45,"f64":5e-324,"d4":"-0.1","d18":"0.000001","d38":"170141183460469231731687303715884105","dd":"0.00000000000000000001","s":"e\u0301é😀","day":"1969-12-31","ms":"1969-12-31T23:59:59.999Z","us":"1969-12-31T23:59:59.999999Z","bin":"c328","ints":[1,1,2],"texts":["b","a","B"],"reals":[1e16,1e-7,123456789.125],"days":["1582-10-15"],"decs":["1.10"]}`,
      String.raw`{${at(3)},"id":5,"yes":null,"i8":0,"i16":0,"i32":0,"i64":9007199254740993,"u8":7,"u16":7,"u32":7,"u64":7,"f32":0.1,"f64":0.1,"d4":"0.0","d18":"1.500000","d38":"0","dd":"0.5","s":"שלום\u200fعالم","day":"2024-02-29","ms":"2024-02-29T23:59:59.500Z","us":"2024-02-29T12:34:56.000001Z","bin":"66726565","ints":[null],"texts":["\"\\/\b\f\n\r\t"],"reals":[null],"days":[null],"decs":[null]}`,
    ]),
    csv(
      `event_time,id,f32,f64,s,day,us
2024-01-01T00:04:00Z,6,NaN,NaN,null,1970-01-01,1970-01-01T00:00:00Z
2024-01-01T00:05:00Z,7,inf,inf,' ''x''; --,2000-12-31,2000-12-31T23:59:60Z
2024-01-01T00:06:00Z,8,-inf,-inf,"  \ufeffpad\u2028 ",2038-01-19,2038-01-19T03:14:08.5Z
2024-01-01T00:07:00Z,9,-0.0,-0.0,NaN,1900-02-28,1900-02-28T00:00:00Z
`.replace('23:59:60Z', '23:59:59Z'),
    ),
    ndjson([`{${at(8)},"id":10,"f64":0.0,"f32":16777216,"s":"Ω","extra":"new"}`], '?unknownFields=add'),
    ndjson([
      `{${at(8)},"id":11,"f64":0.30000000000000004,"i64":42,"s":"ß ǅ İ ﬁ","extra":null}`,
      `{${at(7)},"id":12,"f64":1e21,"i64":42,"s":"a%b_c\\\\d","extra":"late"}`,
    ]),
  ],
}

const mild: GoldenDataset = {
  name: 'mild',
  fields: fields(`
    n: Int64?; x: Float64?; p: Decimal(18,4)?; s: String?; w: String?; d: Date?; c: Timestamp(Microsecond)?;
    l: List(Int64?)?; r: List(Float64?)?; ws: List(String?)?; j: String?; b: Binary?; yes: Bool?; h: Float32?`),
  batches: [
    ndjson([
      String.raw`{${at(0)},"n":3,"x":2.5,"p":"12.3456","s":"Duck","w":"duck db","d":"2024-02-29","c":"2024-02-29T13:14:15.161718Z","l":[3,1,2],"r":[1.5,-2.5,0.25],"ws":["b","a","b"],"j":"{\"a\":[1,{\"b\":null}],\"k\":\"v\"}","b":"6475636b","yes":true,"h":1.25}`,
      String.raw`{${at(1)},"n":-7,"x":-0.5,"p":"-0.5000","s":"  Ärger, und ß ","w":"Überall","d":"1999-12-31","c":"1999-12-31T23:59:59.999999Z","l":[5,null,5],"r":[3.0,4.0,0.5],"ws":["x",null],"j":"[1,2.5,\"three\",true]","b":"00ff10","yes":false,"h":-0.5}`,
    ]),
    ndjson([
      String.raw`{${at(2)},"n":12,"x":0.1,"p":"99999999999999.9999","s":"a/b/c.txt","w":"😀👩‍👩‍👧é","d":"2021-01-03","c":"2021-01-03T00:00:00Z","l":[1],"r":[0.1,0.2,0.3],"ws":["a","bb","ccc"],"j":"{\"k\":1e2,\"n\":9007199254740993}","b":"","yes":true,"h":3.5}`,
      String.raw`{${at(3)},"n":null,"x":null,"p":null,"s":null,"w":null,"d":null,"c":null,"l":null,"r":null,"ws":null,"j":null,"b":null,"yes":null,"h":null}`,
    ]),
  ],
}

const t: GoldenDataset = {
  name: 't',
  fields: fields(
    'k: Int32; m: Int64; x: Float64?; z: Float64; g: String; d: Date; p: Decimal(9,2); b: Bool; l: List(Int64); q: Int32',
  ),
  batches: [0, 50, 100].map((from) =>
    ndjson(
      times(from, 50, (i) => {
        const mixed = (i * 7919 + 104_729) % 1009
        const x = mixed % 9 === 0 ? 'null' : mixed % 9 === 1 ? '-0.0' : String((mixed * 13) / 7 - 400)
        const day = new Date(Date.UTC(2024, 0, 1 + (mixed % 400))).toISOString().slice(0, 10)
        const sign = mixed % 2 === 0 ? '' : '-'
        return `{${at(i)},"k":${mixed % 7},"m":${mixed % 90},"x":${x},"z":${sign}0.0,"g":"g${mixed % 12}","d":"${day}","p":"${((mixed * 37) % 10_000) / 100}","b":${mixed % 3 === 0},"l":[${mixed % 4},${i % 3}],"q":${Math.floor(i / 25)}}`
      }),
    ),
  ),
}

const u: GoldenDataset = {
  name: 'u',
  fields: fields('k: Int32; name: String; w: Float64'),
  batches: [ndjson(times(0, 12, (i) => `{${at(i * 10)},"k":${i % 9},"name":"n${i}","w":${i / 3}}`))],
}

const long: GoldenDataset = {
  name: 'long',
  fields: fields('i: Int32; v: Float64'),
  batches: [
    csv(`event_time,i,v\n${times(0, 2500, (i) => `2024-01-01T00:00:00Z,${i},${(i % 50) / 8}`).join('\n')}\n`),
    csv(`event_time,i,v\n${times(2500, 100, (i) => `2024-01-01T00:00:00Z,${i},${(i % 50) / 8}`).join('\n')}\n`),
  ],
}

const shapes = [
  ['a', '{"type":"Point","coordinates":[10.75,59.91]}'],
  ['b', '{"type":"Point","coordinates":[-179.9,0.1,7]}'],
  ['c', '{"type":"LineString","coordinates":[[0,0],[10,10],[20,0.5]]}'],
  ['d', '{"type":"Polygon","coordinates":[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[2,2],[2,8],[8,8],[8,2],[2,2]]]}'],
  ['e', '{"type":"MultiPoint","coordinates":[[50,50],[3,4]]}'],
  ['f', '{"type":"MultiPolygon","coordinates":[[[[170,-10],[180,-10],[180,10],[170,10],[170,-10]]]]}'],
  ['g', '{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}'],
  ['h', 'null'],
]
const places: GoldenDataset = {
  name: 'places',
  fields: [],
  batches: [
    {
      mediaType: 'application/x-ndgeojson',
      body: shapes
        .map(([name, shape]) => `{"type":"Feature","geometry":${shape},"properties":{"name":"${name}"}}\n`)
        .join(''),
      more: '?create=true',
    },
  ],
}

const empty: GoldenDataset = { name: 'empty', fields: fields('a: Int64?; b: String; c: Float64?'), batches: [] }

export const goldenDatasets: readonly GoldenDataset[] = [values, mild, t, u, long, places, empty]
