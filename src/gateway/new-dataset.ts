// The body of PUT /{account}/{dataset} as a dataset to be made, and whether an existing one is the same. Pure.

import type { DatasetView } from '../catalog/view.ts'
import { eventFromJson, schemaFromJson } from '../codec/odf-json.ts'
import type { CreateVocabulary } from '../log/messages.gen.ts'
import { NodeError } from '../model/errors.ts'
import type { JsonValue } from '../model/json.ts'
import type { Alias } from '../model/names.ts'
import { type DataSchema, type Field, type Vocabulary, defaultVocabulary, innerType } from '../model/schema.ts'
import { checkColumns, columnNameFault, schemaEquals } from '../model/schema-rules.ts'
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

/** True when the dataset at its first schema is what `asked` would make: an identical repeat. */
export function isSameDataset(asked: NewDataset, view: DatasetView): boolean {
  const schemas = asked.schema === undefined || (view.schema !== undefined && schemaEquals(asked.schema, view.schema))
  const same = (a: object | undefined, b: object | undefined): boolean => sameMembers(a ?? {}, b ?? {})
  return (
    schemas &&
    asked.visibility === view.visibility &&
    same(asked.info, view.info === undefined ? undefined : withoutKind(view.info)) &&
    same(asked.license, view.license === undefined ? undefined : withoutKind(view.license)) &&
    same(
      asked.attachments === undefined ? undefined : { items: asked.attachments },
      view.attachments === undefined ? undefined : { items: view.attachments.items },
    ) &&
    same({ ...defaultVocabulary, ...asked.vocab }, view.vocabulary)
  )
}

function sameMembers(a: object, b: object): boolean {
  const text = (value: object): string => JSON.stringify(Object.entries(value).sort(([x], [y]) => (x < y ? -1 : 1)))
  return text(a) === text(b)
}

function schemaOf(value: JsonValue, vocabulary: Vocabulary, columnsLimit: number): DataSchema {
  const { fields, extra } = schemaFromJson(value)
  if (fields.length > columnsLimit) {
    throw new NodeError('InvalidRequest', `The schema has ${fields.length} columns; ${columnsLimit} are allowed.`, {
      limit: { name: 'columns', value: columnsLimit, unit: 'columns' },
    })
  }
  const reserved = [vocabulary.offsetColumn, vocabulary.operationTypeColumn, vocabulary.systemTimeColumn].map((name) =>
    name.toLowerCase(),
  )
  for (const field of fields) {
    if (reserved.includes(field.name.toLowerCase())) {
      throw new NodeError('InvalidColumnName', `The column '${field.name}' is one of the system columns.`, {
        hint: 'Leave it out: the node makes it.',
      })
    }
    if (field.name === vocabulary.eventTimeColumn) checkEventTime(field)
  }
  const full = declaredSchema(fields, vocabulary)
  checkColumns(full.fields)
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
  const fault = all.map((name) => columnNameFault(name)).find((reason) => reason !== undefined)
  if (fault !== undefined) throw new NodeError('InvalidColumnName', `vocab: ${fault}.`)
  if (new Set(all.map((name) => name.toLowerCase())).size < all.length)
    throw invalid('vocab: two system columns have one name.')
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
