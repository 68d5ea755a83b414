// The tables of Open Data Fabric metadata as data: per table its fields in slot order (name, kind, argument, required).
// These lists drive the encoder, the decoder, the JSON form and validation; no other file knows a field.
// Source: Open Data Fabric, schemas-generated/flatbuffers/opendatafabric.fbs and the JSON schemas beside it.

/** A number that is left out of the bytes when it is 0, and read as 0 when it is absent. */
type ZeroNumber = 'u64' | 'u32' | 'i32'
/** A field that is written whenever it is set. */
type Plain =
  | 'optionalU64'
  | 'optionalBool'
  | 'string'
  | 'strings'
  | 'multihash'
  | 'datasetId'
  | 'hexBytes'
  | 'time'
  | 'extra'

export interface EnumDefinition {
  readonly bits: 16 | 32
  readonly members: readonly string[]
}

export type FieldDefinition = { readonly name: string; readonly slot: number; readonly required: boolean } & (
  | { readonly kind: ZeroNumber | Plain }
  | { readonly kind: 'enum'; readonly of: EnumDefinition; readonly optional: boolean }
  | { readonly kind: 'table' | 'tables'; readonly table: string }
  | { readonly kind: 'union' | 'wrappedUnions'; readonly union: string }
)

export interface TableDefinition {
  readonly fields: readonly FieldDefinition[]
  readonly slotCount: number
}

/** A member of a union: the name it has in JSON (`kind`) and its table. Its number is its place, from 1. */
export interface UnionMember {
  readonly kind: string
  readonly table: string
}

const timeUnit: EnumDefinition = { bits: 16, members: ['Second', 'Millisecond', 'Microsecond', 'Nanosecond'] }
const datasetKind: EnumDefinition = { bits: 32, members: ['Root', 'Derivative'] }
const compressionFormat: EnumDefinition = { bits: 32, members: ['Gzip', 'Zip'] }
const sourceOrdering: EnumDefinition = { bits: 32, members: ['ByEventTime', 'ByName'] }
const mqttQos: EnumDefinition = { bits: 32, members: ['AtMostOnce', 'AtLeastOnce', 'ExactlyOnce'] }

// Field notation: `name` or `name!` (required); the slot is the place in the list, a union takes two.
type FieldBody = FieldDefinition extends infer F ? (F extends unknown ? Omit<F, 'slot'> : never) : never

function named(name: string): { name: string; required: boolean } {
  return name.endsWith('!') ? { name: name.slice(0, -1), required: true } : { name, required: false }
}
const plain = (name: string, kind: ZeroNumber | Plain): FieldBody => ({ ...named(name), kind })
const text = (name: string): FieldBody => plain(name, 'string')
const texts = (name: string): FieldBody => plain(name, 'strings')
const choice = (name: string, of: EnumDefinition): FieldBody => ({ ...named(name), kind: 'enum', of, optional: false })
const choiceOrNone = (name: string, of: EnumDefinition): FieldBody => ({
  ...choice(name, of),
  kind: 'enum',
  of,
  optional: true,
})
const table = (name: string, of: string): FieldBody => ({ ...named(name), kind: 'table', table: of })
const tableList = (name: string, of: string): FieldBody => ({ ...named(name), kind: 'tables', table: of })
const union = (name: string, of: string): FieldBody => ({ ...named(name), kind: 'union', union: of })
const unionList = (name: string, of: string): FieldBody => ({ ...named(name), kind: 'wrappedUnions', union: of })

function define(fields: readonly FieldBody[]): TableDefinition {
  let slot = 0
  const placed = fields.map((field): FieldDefinition => {
    const own = field.kind === 'union' ? slot + 1 : slot
    slot = own + 1
    return { ...field, slot: own }
  })
  return { fields: placed, slotCount: slot }
}

const empty = define([])
const keyed = define([texts('primaryKey!')])
const schemaOnly = define([texts('ddlSchema'), table('schema', 'DataSchema')])
const withUnit = define([choiceOrNone('unit', timeUnit)])

/** Every table by name. The slot of a union is that of its value; its type stands in the slot before. */
export const tables: Readonly<Record<string, TableDefinition>> = {
  MetadataBlock: define([
    plain('systemTime!', 'time'),
    plain('prevBlockHash', 'multihash'),
    plain('sequenceNumber', 'u64'),
    union('event!', 'MetadataEvent'),
  ]),
  Seed: define([plain('datasetId!', 'datasetId'), choice('datasetKind', datasetKind)]),
  AddData: define([
    plain('prevCheckpoint', 'multihash'),
    plain('prevOffset', 'optionalU64'),
    table('newData', 'DataSlice'),
    table('newCheckpoint', 'Checkpoint'),
    plain('newWatermark', 'time'),
    table('newSourceState', 'SourceState'),
    plain('extra', 'extra'),
  ]),
  ExecuteTransform: define([
    tableList('queryInputs!', 'ExecuteTransformInput'),
    plain('prevCheckpoint', 'multihash'),
    plain('prevOffset', 'optionalU64'),
    table('newData', 'DataSlice'),
    table('newCheckpoint', 'Checkpoint'),
    plain('newWatermark', 'time'),
  ]),
  ExecuteTransformInput: define([
    plain('datasetId!', 'datasetId'),
    plain('prevBlockHash', 'multihash'),
    plain('newBlockHash', 'multihash'),
    plain('prevOffset', 'optionalU64'),
    plain('newOffset', 'optionalU64'),
  ]),
  DataSlice: define([
    plain('logicalHash!', 'multihash'),
    plain('physicalHash!', 'multihash'),
    table('offsetInterval!', 'OffsetInterval'),
    plain('size', 'u64'),
  ]),
  OffsetInterval: define([plain('start', 'u64'), plain('end', 'u64')]),
  Checkpoint: define([plain('physicalHash!', 'multihash'), plain('size', 'u64')]),
  SourceState: define([text('sourceName!'), text('kind!'), text('value!')]),
  SetDataSchema: define([plain('rawArrowSchema', 'hexBytes'), table('schema', 'DataSchema')]),
  DataSchema: define([tableList('fields!', 'DataField'), plain('extra', 'extra')]),
  DataField: define([text('name!'), union('type!', 'DataType'), plain('extra', 'extra')]),
  SetVocab: define([
    text('offsetColumn'),
    text('operationTypeColumn'),
    text('systemTimeColumn'),
    text('eventTimeColumn'),
  ]),
  SetInfo: define([text('description'), texts('keywords')]),
  SetLicense: define([text('shortName!'), text('name!'), text('spdxId'), text('websiteUrl!')]),
  SetAttachments: define([union('attachments!', 'Attachments')]),
  AttachmentsEmbedded: define([tableList('items!', 'AttachmentEmbedded')]),
  AttachmentEmbedded: define([text('path!'), text('content!')]),
  AddPushSource: define([
    text('sourceName!'),
    union('read!', 'ReadStep'),
    union('preprocess', 'Transform'),
    union('merge!', 'MergeStrategy'),
  ]),
  DisablePushSource: define([text('sourceName!')]),
  SetPollingSource: define([
    union('fetch!', 'FetchStep'),
    unionList('prepare', 'PrepStep'),
    union('read!', 'ReadStep'),
    union('preprocess', 'Transform'),
    union('merge!', 'MergeStrategy'),
  ]),
  SetTransform: define([tableList('inputs!', 'TransformInput'), union('transform!', 'Transform')]),
  TransformInput: define([text('datasetRef!'), text('alias')]),
  TransformSql: define([
    text('engine!'),
    text('version'),
    text('query'),
    tableList('queries', 'SqlQueryStep'),
    tableList('temporalTables', 'TemporalTable'),
  ]),
  SqlQueryStep: define([text('alias'), text('query!')]),
  TemporalTable: define([text('name!'), texts('primaryKey!')]),
  Keyed: keyed,
  MergeStrategySnapshot: define([texts('primaryKey!'), texts('compareColumns')]),
  ReadStepCsv: define([
    texts('ddlSchema'),
    text('separator'),
    text('encoding'),
    text('quote'),
    text('escape'),
    plain('header', 'optionalBool'),
    plain('inferSchema', 'optionalBool'),
    text('nullValue'),
    text('dateFormat'),
    text('timestampFormat'),
    table('schema', 'DataSchema'),
  ]),
  SchemaOnly: schemaOnly,
  ReadStepEsriShapefile: define([texts('ddlSchema'), text('subPath'), table('schema', 'DataSchema')]),
  ReadStepJson: define([
    text('subPath'),
    texts('ddlSchema'),
    text('dateFormat'),
    text('encoding'),
    text('timestampFormat'),
    table('schema', 'DataSchema'),
  ]),
  ReadStepNdJson: define([
    texts('ddlSchema'),
    text('dateFormat'),
    text('encoding'),
    text('timestampFormat'),
    table('schema', 'DataSchema'),
  ]),
  FetchStepUrl: define([
    text('url!'),
    union('eventTime', 'EventTimeSource'),
    union('cache', 'SourceCaching'),
    tableList('headers', 'RequestHeader'),
  ]),
  FetchStepFilesGlob: define([
    text('path!'),
    union('eventTime', 'EventTimeSource'),
    union('cache', 'SourceCaching'),
    choiceOrNone('order', sourceOrdering),
  ]),
  FetchStepContainer: define([text('image!'), texts('command'), texts('args'), tableList('env', 'EnvVar')]),
  FetchStepMqtt: define([
    text('host!'),
    plain('port', 'i32'),
    text('username'),
    text('password'),
    tableList('topics!', 'MqttTopicSubscription'),
  ]),
  FetchStepEthereumLogs: define([plain('chainId', 'optionalU64'), text('nodeUrl'), text('filter'), text('signature')]),
  RequestHeader: define([text('name!'), text('value!')]),
  EnvVar: define([text('name!'), text('value')]),
  MqttTopicSubscription: define([text('path!'), choiceOrNone('qos', mqttQos)]),
  EventTimeSourceFromPath: define([text('pattern!'), text('timestampFormat')]),
  PrepStepDecompress: define([choice('format', compressionFormat), text('subPath')]),
  PrepStepPipe: define([texts('command!')]),
  Empty: empty,
  DataTypeBinary: define([plain('fixedLength', 'optionalU64')]),
  DataTypeDecimal: define([plain('precision', 'u32'), plain('scale', 'i32')]),
  WithUnit: withUnit,
  DataTypeTimestamp: define([choiceOrNone('unit', timeUnit), text('timezone')]),
  DataTypeList: define([union('itemType!', 'DataType'), plain('fixedLength', 'optionalU64')]),
  DataTypeMap: define([
    union('keyType!', 'DataType'),
    union('valueType!', 'DataType'),
    plain('keysSorted', 'optionalBool'),
  ]),
  DataTypeOption: define([union('inner!', 'DataType')]),
  DataTypeStruct: define([tableList('fields!', 'DataField')]),
}

// Union notation: `Kind` has the table `<prefix>Kind`; `Kind=Table` names it.
function members(prefix: string, list: string): readonly UnionMember[] {
  return list.split(' ').map((entry) => {
    const [kind = '', own] = entry.split('=')
    return { kind, table: own ?? `${prefix}${kind}` }
  })
}

/** Every union by name, its members in the order of their numbers, which begin at 1. */
export const unions: Readonly<Record<string, readonly UnionMember[]>> = {
  MetadataEvent: members(
    '',
    'AddData ExecuteTransform Seed SetPollingSource SetTransform SetVocab SetAttachments SetInfo SetLicense' +
      ' SetDataSchema AddPushSource DisablePushSource DisablePollingSource=Empty',
  ),
  DataType: members(
    'DataType',
    'Binary Bool=Empty Date=Empty Decimal Duration=WithUnit Float16=Empty Float32=Empty Float64=Empty' +
      ' Int8=Empty Int16=Empty Int32=Empty Int64=Empty UInt8=Empty UInt16=Empty UInt32=Empty UInt64=Empty' +
      ' List Map Null=Empty Option Struct Time=WithUnit Timestamp String=Empty',
  ),
  ReadStep: members(
    'ReadStep',
    'Csv GeoJson=SchemaOnly EsriShapefile Parquet=SchemaOnly Json NdJson NdGeoJson=SchemaOnly',
  ),
  Transform: members('Transform', 'Sql'),
  MergeStrategy: members(
    'MergeStrategy',
    'Append=Empty Ledger=Keyed Snapshot ChangelogStream=Keyed UpsertStream=Keyed',
  ),
  Attachments: members('Attachments', 'Embedded'),
  FetchStep: members('FetchStep', 'Url FilesGlob Container Mqtt EthereumLogs'),
  EventTimeSource: members('EventTimeSource', 'FromMetadata=Empty FromPath FromSystemTime=Empty'),
  SourceCaching: members('SourceCaching', 'Forever=Empty'),
  PrepStep: members('PrepStep', 'Decompress Pipe'),
}
