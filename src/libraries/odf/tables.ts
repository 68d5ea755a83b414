// The tables of Open Data Fabric metadata as data: per table its fields in slot order (name, kind, argument, required).
// These lists drive the encoder, the decoder, the JSON form and validation; no other file knows a field.
// Source: Open Data Fabric, schemas-generated/flatbuffers/opendatafabric.fbs and the JSON schemas beside it.

import { assert, must } from '../base/assert.ts'
import { timeUnits } from '../model/schema.ts'

/**
 * Kinds of fields that name nothing else. u64, u32 and i32 are left out of the bytes when they are 0, and read as 0 when
 * absent; all others are written whenever they are set.
 */
const scalarKinds = [
  ...(['u64', 'u32', 'i32', 'optionalU64', 'optionalBool', 'string', 'strings'] as const),
  ...(['multihash', 'datasetId', 'hexBytes', 'time', 'extra'] as const),
]

export interface EnumDefinition {
  readonly bits: 16 | 32
  readonly members: readonly string[]
}

type FieldKind =
  | { readonly kind: (typeof scalarKinds)[number] }
  | { readonly kind: 'enum'; readonly of: EnumDefinition; readonly optional: boolean }
  | { readonly kind: 'table' | 'tables'; readonly table: string }
  | { readonly kind: 'union' | 'wrappedUnions'; readonly union: string }

export type FieldDefinition = { readonly name: string; readonly slot: number; readonly required: boolean } & FieldKind

export interface TableDefinition {
  readonly fields: readonly FieldDefinition[]
  readonly slotCount: number
}

/** A member of a union: the name it has in JSON (`kind`), its table, and its number: its place, from 1. */
interface UnionMember {
  readonly kind: string
  readonly table: string
  readonly number: number
}

const enums: Readonly<Record<string, EnumDefinition>> = {
  TimeUnit: { bits: 16, members: timeUnits },
  DatasetKind: { bits: 32, members: ['Root', 'Derivative'] },
  CompressionFormat: { bits: 32, members: ['Gzip', 'Zip'] },
  SourceOrdering: { bits: 32, members: ['ByEventTime', 'ByName'] },
  MqttQos: { bits: 32, members: ['AtMostOnce', 'AtLeastOnce', 'ExactlyOnce'] },
}

/**
 * Each table as its fields in slot order, `name:type` or `name!:type` (required). A type is a scalar kind, an enum
 * (`Name?` where it may be absent), a table, `[Table]`, `<Union>` or `[<Union>]`, a list of wrapped unions.
 */
const tableTexts: Readonly<Record<string, string>> = {
  MetadataBlock: 'systemTime!:time prevBlockHash:multihash sequenceNumber:u64 event!:<MetadataEvent>',
  Seed: 'datasetId!:datasetId datasetKind:DatasetKind',
  AddData:
    'prevCheckpoint:multihash prevOffset:optionalU64 newData:DataSlice newCheckpoint:Checkpoint newWatermark:time' +
    ' newSourceState:SourceState extra:extra',
  ExecuteTransform:
    'queryInputs!:[ExecuteTransformInput] prevCheckpoint:multihash prevOffset:optionalU64 newData:DataSlice' +
    ' newCheckpoint:Checkpoint newWatermark:time',
  ExecuteTransformInput:
    'datasetId!:datasetId prevBlockHash:multihash newBlockHash:multihash prevOffset:optionalU64 newOffset:optionalU64',
  DataSlice: 'logicalHash!:multihash physicalHash!:multihash offsetInterval!:OffsetInterval size:u64',
  OffsetInterval: 'start:u64 end:u64',
  Checkpoint: 'physicalHash!:multihash size:u64',
  SourceState: 'sourceName!:string kind!:string value!:string',
  SetDataSchema: 'rawArrowSchema:hexBytes schema:DataSchema',
  DataSchema: 'fields!:[DataField] extra:extra',
  DataField: 'name!:string type!:<DataType> extra:extra',
  SetVocab: 'offsetColumn:string operationTypeColumn:string systemTimeColumn:string eventTimeColumn:string',
  SetInfo: 'description:string keywords:strings',
  SetLicense: 'shortName!:string name!:string spdxId:string websiteUrl!:string',
  SetAttachments: 'attachments!:<Attachments>',
  AttachmentsEmbedded: 'items!:[AttachmentEmbedded]',
  AttachmentEmbedded: 'path!:string content!:string',
  AddPushSource: 'sourceName!:string read!:<ReadStep> preprocess:<Transform> merge!:<MergeStrategy>',
  DisablePushSource: 'sourceName!:string',
  SetPollingSource:
    'fetch!:<FetchStep> prepare:[<PrepStep>] read!:<ReadStep> preprocess:<Transform> merge!:<MergeStrategy>',
  SetTransform: 'inputs!:[TransformInput] transform!:<Transform>',
  TransformInput: 'datasetRef!:string alias:string',
  TransformSql: 'engine!:string version:string query:string queries:[SqlQueryStep] temporalTables:[TemporalTable]',
  SqlQueryStep: 'alias:string query!:string',
  TemporalTable: 'name!:string primaryKey!:strings',
  Keyed: 'primaryKey!:strings',
  MergeStrategySnapshot: 'primaryKey!:strings compareColumns:strings',
  ReadStepCsv:
    'ddlSchema:strings separator:string encoding:string quote:string escape:string header:optionalBool' +
    ' inferSchema:optionalBool nullValue:string dateFormat:string timestampFormat:string schema:DataSchema',
  SchemaOnly: 'ddlSchema:strings schema:DataSchema',
  ReadStepEsriShapefile: 'ddlSchema:strings subPath:string schema:DataSchema',
  ReadStepJson:
    'subPath:string ddlSchema:strings dateFormat:string encoding:string timestampFormat:string schema:DataSchema',
  ReadStepNdJson: 'ddlSchema:strings dateFormat:string encoding:string timestampFormat:string schema:DataSchema',
  FetchStepUrl: 'url!:string eventTime:<EventTimeSource> cache:<SourceCaching> headers:[RequestHeader]',
  FetchStepFilesGlob: 'path!:string eventTime:<EventTimeSource> cache:<SourceCaching> order:SourceOrdering?',
  FetchStepContainer: 'image!:string command:strings args:strings env:[EnvVar]',
  FetchStepMqtt: 'host!:string port:i32 username:string password:string topics!:[MqttTopicSubscription]',
  FetchStepEthereumLogs: 'chainId:optionalU64 nodeUrl:string filter:string signature:string',
  RequestHeader: 'name!:string value!:string',
  EnvVar: 'name!:string value:string',
  MqttTopicSubscription: 'path!:string qos:MqttQos?',
  EventTimeSourceFromPath: 'pattern!:string timestampFormat:string',
  PrepStepDecompress: 'format:CompressionFormat subPath:string',
  PrepStepPipe: 'command!:strings',
  Empty: '',
  DataTypeBinary: 'fixedLength:optionalU64',
  DataTypeDecimal: 'precision:u32 scale:i32',
  WithUnit: 'unit:TimeUnit?',
  DataTypeTimestamp: 'unit:TimeUnit? timezone:string',
  DataTypeList: 'itemType!:<DataType> fixedLength:optionalU64',
  DataTypeMap: 'keyType!:<DataType> valueType!:<DataType> keysSorted:optionalBool',
  DataTypeOption: 'inner!:<DataType>',
  DataTypeStruct: 'fields!:[DataField]',
}

/** Every table by name. The slot of a union is that of its value; its type stands in the slot before. */
export const tables: Readonly<Record<string, TableDefinition>> = Object.fromEntries(
  Object.entries(tableTexts).map(([name, fields]) => [name, tableOf(fields)]),
)

function tableOf(text: string): TableDefinition {
  const fields: FieldDefinition[] = []
  let slotCount = 0
  for (const [, name = '', mark, type = ''] of text.matchAll(/(\w+)(!?):(\S+)/g)) {
    const kind = fieldKind(type)
    if (kind.kind === 'union') slotCount++
    fields.push({ name, slot: slotCount++, required: mark === '!', ...kind })
  }
  return { fields, slotCount }
}

function fieldKind(type: string): FieldKind {
  const [, list, isUnion, name = ''] = /^(\[?)(<?)(\w+)/.exec(type) ?? []
  if (isUnion) return { kind: list ? 'wrappedUnions' : 'union', union: name }
  const of = enums[name]
  if (of !== undefined) return { kind: 'enum', of, optional: type.endsWith('?') }
  if (name in tableTexts) return { kind: list ? 'tables' : 'table', table: name }
  return {
    kind: must(
      scalarKinds.find((kind) => kind === name),
      `a type of a field, not ${type}`,
    ),
  }
}

// Union notation: `Kind` has the table `<prefix>Kind`; `Kind=Table` names it.
function members(prefix: string, list: string): readonly UnionMember[] {
  return list.split(' ').map((entry, index) => {
    const [kind = '', own] = entry.split('=')
    return { kind, table: own ?? `${prefix}${kind}`, number: index + 1 }
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

/** The definition of table `name`. */
export function tableNamed(name: string): TableDefinition {
  return must(tables[name], name)
}

/** The member of `union` that `value` is by its `kind`. A value of no such kind is a bug. */
export function unionMember(union: string, value: object): UnionMember {
  const kind: unknown = 'kind' in value ? value.kind : undefined
  for (const member of must(unions[union], union)) if (member.kind === kind) return member
  assert(false, `${union} has no member ${String(kind)}`)
}

/** Members of an object of the model, found by their ODF names; each is checked when it is used. */
export function membersOf(name: string, value: unknown): Readonly<Record<string, unknown>> {
  assert(typeof value === 'object' && value !== null, `${name} is an object`)
  // As the comment above says.
  return value as Readonly<Record<string, unknown>>
}

export function itemsOf(name: string, value: unknown): readonly unknown[] {
  assert(Array.isArray(value), `${name} is a list`)
  return value
}
