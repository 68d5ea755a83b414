// The events of a new dataset's first blocks, in order. Pure: the fold counts them, the builder writes them.

import type { CreateHeader } from '../log/messages.gen.ts'
import type { AddPushSource, MetadataEvent, SetVocab } from '../model/events.ts'
import { type DataSchema, defaultVocabulary, type Vocabulary } from '../model/schema.ts'

/** Name of the one push source and of the source state of every dataset. */
export const sourceName = 'default'
const systemColumnCount = 3

/** The system column names that `header` asks for. */
export function vocabularyOf(header: CreateHeader): Vocabulary {
  const { offsetColumn, operationTypeColumn, systemTimeColumn, eventTimeColumn } = header.vocab ?? {}
  return {
    offsetColumn: offsetColumn ?? defaultVocabulary.offsetColumn,
    operationTypeColumn: operationTypeColumn ?? defaultVocabulary.operationTypeColumn,
    systemTimeColumn: systemTimeColumn ?? defaultVocabulary.systemTimeColumn,
    eventTimeColumn: eventTimeColumn ?? defaultVocabulary.eventTimeColumn,
  }
}

/**
 * The push source of a dataset with this schema: its read schema is the event-time column and the user columns, so
 * that a copy's ingest keeps event times and knows every column.
 */
export function pushSource(schema: DataSchema | undefined): AddPushSource {
  const read = schema === undefined ? {} : { schema: { fields: schema.fields.slice(systemColumnCount) } }
  return { kind: 'AddPushSource', sourceName, read: { kind: 'NdJson', ...read }, merge: { kind: 'Append' } }
}

/** Seed, SetInfo?, SetLicense?, SetAttachments?, SetVocab?, SetDataSchema?, AddPushSource. */
export function creationEvents(header: CreateHeader): readonly MetadataEvent[] {
  const events: MetadataEvent[] = [{ kind: 'Seed', datasetId: header.dataset, datasetKind: 'Root' }]
  const { info, license, attachments, schema } = header
  if (info?.description !== undefined || info?.keywords !== undefined) events.push({ kind: 'SetInfo', ...info })
  if (license !== undefined) events.push({ kind: 'SetLicense', ...license })
  if (attachments !== undefined && attachments.length > 0) {
    events.push({ kind: 'SetAttachments', attachments: { kind: 'Embedded', items: attachments } })
  }
  const vocabulary = setVocabulary(header)
  if (vocabulary !== undefined) events.push(vocabulary)
  if (schema !== undefined) events.push({ kind: 'SetDataSchema', schema })
  events.push(pushSource(schema))
  return events
}

/** The names that differ from the defaults; undefined when none does: an event that changes nothing is none. */
function setVocabulary(header: CreateHeader): SetVocab | undefined {
  const vocabulary = vocabularyOf(header)
  const different: { -readonly [name in keyof Vocabulary]?: string } = {}
  if (vocabulary.offsetColumn !== defaultVocabulary.offsetColumn) different.offsetColumn = vocabulary.offsetColumn
  if (vocabulary.operationTypeColumn !== defaultVocabulary.operationTypeColumn) {
    different.operationTypeColumn = vocabulary.operationTypeColumn
  }
  if (vocabulary.systemTimeColumn !== defaultVocabulary.systemTimeColumn) {
    different.systemTimeColumn = vocabulary.systemTimeColumn
  }
  if (vocabulary.eventTimeColumn !== defaultVocabulary.eventTimeColumn) {
    different.eventTimeColumn = vocabulary.eventTimeColumn
  }
  return Object.keys(different).length === 0 ? undefined : { kind: 'SetVocab', ...different }
}
