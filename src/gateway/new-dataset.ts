// The body of PUT /{account}/{dataset} as a dataset to be made, and whether an existing one is the same. Pure.

import { type DatasetChain, viewOf } from '../catalog/dataset-chain.ts'
import { demandReadBack } from '../chain/read-back.ts'
import { sameValue } from '../lib/compare.ts'
import type { CreateVocabulary } from '../log/messages.gen.ts'
import { NodeError } from '../model/errors.ts'
import type { JsonValue } from '../model/json.ts'
import { type Alias, foldAscii } from '../model/names.ts'
import {
  badName,
  checkColumns,
  columnNameFault,
  type DataSchema,
  defaultVocabulary,
  type Field,
  innerType,
  schemaEquals,
  type Vocabulary,
} from '../model/schema.ts'
import { eventFromJson, schemaFromJson } from '../odf/odf-json.ts'
import type { NewDataset } from './create-dataset.ts'
import { declaredSchema } from './shape.ts'

const bodyMembers = ['schema', 'info', 'license', 'attachments', 'vocab', 'visibility']

/** Reads the body; no body at all is an empty one. Throws NodeError `InvalidRequest`, `InvalidColumnName`. */
export function newDatasetOf(alias: Alias, body: JsonValue | undefined, columnsLimit: number): NewDataset {
  const members = body ?? new Map<string, JsonValue>()
  if (!(members instanceof Map)) throw invalid('The body is not a JSON object.')
  for (const name of members.keys()) {
    if (!bodyMembers.includes(name)) throw invalid(`'${name.slice(0, 80)}' is not a member of this body.`, bodyMembers)
  }
  const member = <T>(name: string, read: (value: JsonValue) => T): T | undefined => {
    const value = members.get(name)
    return value === undefined ? undefined : read(value)
  }
  const vocab = member('vocab', (value) => vocabularyOf(value))
  const schema = member('schema', (value) => schemaOf(value, { ...defaultVocabulary, ...vocab }, columnsLimit))
  const info = member('info', (value) => withoutKind(eventFromJson('SetInfo', value, 'info')))
  const license = member('license', (value) => withoutKind(eventFromJson('SetLicense', value, 'license')))
  const attachments = member(
    'attachments',
    (value) => eventFromJson('SetAttachments', new Map([['attachments', value]]), 'attachments').attachments.items,
  )
  return {
    alias,
    visibility: member('visibility', visibilityOf) ?? 'public',
    ...(schema === undefined ? {} : { schema }),
    ...(vocab === undefined ? {} : { vocab }),
    ...(info === undefined ? {} : { info }),
    ...(license === undefined ? {} : { license }),
    ...(attachments === undefined ? {} : { attachments }),
  }
}

/** True when the dataset was made as `asked` would make it: an identical repeat. What came since does not count. */
export function isSameDataset(asked: NewDataset, chain: DatasetChain): boolean {
  const made = viewOf(chain, chain.creationSequence)
  const schemas = asked.schema === undefined ? made.schema === undefined : sameSchema(asked.schema, made.schema)
  const items = made.attachments?.items ?? []
  return (
    schemas &&
    asked.visibility === made.visibility &&
    sameValue(asked.info ?? {}, made.info === undefined ? {} : withoutKind(made.info)) &&
    sameValue(asked.license ?? {}, made.license === undefined ? {} : withoutKind(made.license)) &&
    sameValue(asked.attachments ?? [], items) &&
    sameValue({ ...defaultVocabulary, ...asked.vocab }, made.vocabulary)
  )
}

function sameSchema(asked: DataSchema, made: DataSchema | undefined): boolean {
  return made !== undefined && schemaEquals(asked, made)
}

function schemaOf(value: JsonValue, vocabulary: Vocabulary, columnsLimit: number): DataSchema {
  const { fields, extra } = schemaFromJson(value)
  if (fields.length > columnsLimit) {
    throw new NodeError('InvalidRequest', `The schema has ${fields.length} columns; ${columnsLimit} are allowed.`, {
      limit: { name: 'columns', value: columnsLimit, unit: 'columns' },
    })
  }
  const { offsetColumn, operationTypeColumn, systemTimeColumn } = vocabulary
  const reserved = [offsetColumn, operationTypeColumn, systemTimeColumn].map(foldAscii)
  for (const field of fields) {
    const folded = foldAscii(field.name)
    if (reserved.includes(folded)) {
      throw new NodeError('InvalidColumnName', `The column '${field.name}' is one of the system columns.`, {
        hint: 'Leave it out: the node makes it.',
      })
    }
    if (folded === foldAscii(vocabulary.eventTimeColumn)) checkEventTime(field)
  }
  const full = declaredSchema(fields, vocabulary)
  // Two event-time columns that differ in case are found here.
  checkColumns(full.fields)
  demandReadBack(full)
  return extra === undefined ? full : { ...full, extra }
}

function checkEventTime(field: Field): void {
  const { kind } = innerType(field.type)
  if (kind === 'Timestamp' || kind === 'Date') return
  throw new NodeError('InvalidRequest', `The event-time column '${field.name}' has the type ${kind}.`, {
    hint: 'Declare it as Timestamp or Date.',
  })
}

function vocabularyOf(value: JsonValue): CreateVocabulary {
  const { kind: _, ...names } = eventFromJson('SetVocab', value, 'vocab')
  const all = Object.values({ ...defaultVocabulary, ...names })
  for (const name of all) {
    const fault = columnNameFault(name)
    if (fault !== undefined) throw badName(name, fault)
  }
  if (new Set(all.map(foldAscii)).size < all.length) throw invalid('vocab: two system columns have one name.')
  return names
}

function visibilityOf(value: JsonValue): 'public' | 'private' {
  if (value === 'public' || value === 'private') return value
  throw invalid('visibility is neither public nor private.', ['public', 'private'])
}

function withoutKind<T extends { readonly kind: string }>(event: T): Omit<T, 'kind'> {
  const { kind: _, ...rest } = event
  return rest
}

function invalid(message: string, candidates?: readonly string[]): NodeError {
  return new NodeError('InvalidRequest', message, candidates === undefined ? {} : { candidates })
}
