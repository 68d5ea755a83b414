// The making of a dataset: the body of PUT /{account}/{dataset} as what is asked for, whether an existing dataset is the
// same, and the creation: a message in the log, then the wait until its blocks are committed. The first in the log wins.

import { defined } from '../../libraries/base/collections.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { type DatasetChain, viewOf } from '../catalog/dataset-chain.ts'
import { demandReadBack } from '../../libraries/odf/chain/read-back.ts'
import { type IngestRules, isEntered } from '../../libraries/odf/chain/records.ts'
import { type DatasetId, datasetIdFromKey } from '../../libraries/base/ids/identifiers.ts'
import { ed25519Signer, randomBytes } from '../../libraries/base/ids/native-crypto.ts'
import { type Clock, durationMs, durationText } from '../../libraries/base/clock.ts'
import { sameValue } from '../../libraries/base/compare.ts'
import type { EventLog } from '../log/event-log.ts'
import type { CreateAttachment, CreateInfo, CreateLicense, CreateVocabulary } from '../log/messages.gen.ts'
import { partitionOf } from '../log/partitions.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { JsonValue } from '../../libraries/base/json/value.ts'
import { type Alias, foldAscii } from '../../libraries/model/names.ts'
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
} from '../../libraries/model/schema.ts'
import { received } from '../../libraries/formats/event-time.ts'
import { eventFromJson, schemaFromJson } from '../../libraries/odf/odf-json.ts'
import type { IngestControls } from './controls.ts'
import { ingestOf, invalid } from './ingest-rules.ts'
import type { Publisher } from './publish.ts'
import type { TypedBody } from './reading.ts'
import { demandBuilt } from './refusals.ts'
import { declaredSchema } from './shape.ts'

/** A creation that is not committed within this time has an unknown outcome. */
const commitWithinMs = 15_000
/** A builder that is behind has caught up a little by then. */
const behindSeconds = 5
/** A commit that was not announced here is found in the store. */
const lookMs = 1_000

/** What a dataset is made with. */
export interface NewDataset {
  readonly alias: Alias
  readonly schema?: DataSchema
  readonly vocab?: CreateVocabulary
  readonly info?: CreateInfo
  readonly license?: CreateLicense
  readonly attachments?: readonly CreateAttachment[]
  readonly visibility: 'public' | 'private'
  /** Age at which a row of a steady stream is in a block. */
  readonly freshnessMs?: number
  readonly ingest?: IngestRules
  readonly ledger?: boolean
  readonly proofs?: 'rows'
  /** The trace of the request. */
  readonly traceparent?: string
}

const bodyMembers = 'schema info license attachments vocab eventTime visibility freshness ingest ledger proofs'.split(
  ' ',
)
/** As the schema of `create` messages has them. */
const freshnessLeastMs = 100
const freshnessMostMs = 24 * 3_600_000

/** Reads the body; no body at all is an empty one. Throws NodeError `InvalidRequest`, `InvalidColumnName`. */
export function newDatasetOf(alias: Alias, body: JsonValue | undefined, columnsLimit: number): NewDataset {
  const member = membersOf(body ?? new Map<string, JsonValue>(), bodyMembers)
  const said = member('vocab', (value) => withoutKind(eventFromJson('SetVocab', value, 'vocab')))
  const eventTimeColumn = member('eventTime', eventTimeOf)
  if (eventTimeColumn !== undefined && said?.eventTimeColumn !== undefined)
    throw invalid('eventTime and vocab.eventTimeColumn name the same column: say one of both.')
  const vocab =
    said === undefined && eventTimeColumn === undefined
      ? undefined
      : vocabularyOf({ ...said, ...defined({ eventTimeColumn }) })
  const schema = member('schema', (value) => schemaOf(value, { ...defaultVocabulary, ...vocab }, columnsLimit))
  const freshnessMs = member('freshness', freshnessOf)
  const ingest = member('ingest', (value) => ingestOf(value, { ...defaultVocabulary, ...vocab }, schema))
  return {
    alias,
    visibility: member('visibility', visibilityOf) ?? 'public',
    ...defined({ freshnessMs, ingest, schema, vocab }),
    ...defined({ ledger: member('ledger', ledgerOf) }),
    ...(member('proofs', proofsOf) === 'rows' && { proofs: 'rows' }),
    ...descriptionOf(member),
  }
}

/** Reads a member of a body if it is there. */
export type Member = <T>(name: string, read: (value: JsonValue) => T) => T | undefined

/** The members of a body. Throws NodeError `InvalidRequest` where there are others than `known`. */
export function membersOf(body: JsonValue | undefined, known: readonly string[]): Member {
  if (!(body instanceof Map)) throw invalid('The body is not a JSON object.')
  for (const name of body.keys()) {
    if (!known.includes(name)) throw invalid(`'${name.slice(0, 80)}' is not a member of this body.`, known)
  }
  return (name, read) => {
    const value = body.get(name)
    return value === undefined ? undefined : read(value)
  }
}

/** What a dataset says of itself. Throws NodeError `InvalidRequest`. */
export function descriptionOf(member: Member): Pick<NewDataset, 'info' | 'license' | 'attachments'> {
  const info = member('info', (value) => withoutKind(eventFromJson('SetInfo', value, 'info')))
  const license = member('license', (value) => withoutKind(eventFromJson('SetLicense', value, 'license')))
  const attachments = member(
    'attachments',
    (value) => eventFromJson('SetAttachments', new Map([['attachments', value]]), 'attachments').attachments.items,
  )
  return { ...defined({ info, license, attachments }) }
}

/** The rules that the first batch of an empty dataset makes, as of one that it had made; undefined where there are none. */
export function rulesOfFirst(
  { aspects, name }: DatasetChain,
  { rules }: IngestControls,
  { rows, takenTime }: TypedBody,
): IngestRules | undefined {
  if (aspects.schema !== undefined || name.ingest !== undefined || rows === 0) return undefined
  const isRule = takenTime !== undefined && takenTime !== aspects.vocabulary.eventTimeColumn
  return isRule ? { ...rules, eventTime: takenTime } : rules
}

/** True when the dataset was made as `asked` would make it: an identical repeat. What came since does not count. */
export function isSameDataset(asked: NewDataset, chain: DatasetChain): boolean {
  const made = viewOf(chain, chain.creationSequence)
  const hasSameSchema =
    asked.schema === undefined || made.schema === undefined
      ? asked.schema === made.schema
      : schemaEquals(asked.schema, made.schema)
  const items = made.attachments?.items ?? []
  return (
    hasSameSchema &&
    asked.visibility === made.visibility &&
    asked.freshnessMs === chain.name.freshnessMs &&
    asked.proofs === chain.name.proofs &&
    (asked.ledger === undefined || asked.ledger === isEntered(chain.name)) &&
    sameValue(asked.ingest ?? {}, chain.name.ingest ?? {}) &&
    sameValue(asked.info ?? {}, made.info === undefined ? {} : withoutKind(made.info)) &&
    sameValue(asked.license ?? {}, made.license === undefined ? {} : withoutKind(made.license)) &&
    sameValue(asked.attachments ?? [], items) &&
    sameValue({ ...defaultVocabulary, ...asked.vocab }, made.vocabulary)
  )
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

/** Throws NodeError `InvalidRequest`. */
function eventTimeOf(value: JsonValue): string {
  if (typeof value === 'string' && value !== received && !/^\/|,/.test(value)) return value
  throw invalid('eventTime is not the name of a column.')
}

function vocabularyOf(names: CreateVocabulary): CreateVocabulary {
  const all = Object.values({ ...defaultVocabulary, ...names })
  for (const name of all) {
    const fault = columnNameFault(name)
    if (fault !== undefined) throw badName(name, fault)
  }
  if (new Set(all.map(foldAscii)).size < all.length) throw invalid('vocab: two system columns have one name.')
  return names
}

export function visibilityOf(value: JsonValue): 'public' | 'private' {
  if (value === 'public' || value === 'private') return value
  throw invalid('visibility is neither public nor private.', ['public', 'private'])
}

/** Throws NodeError `InvalidRequest`. */
export function ledgerOf(value: JsonValue): boolean {
  if (typeof value === 'boolean') return value
  throw invalid('ledger is neither true nor false.')
}

/** Throws NodeError `InvalidRequest`. */
export function proofsOf(value: JsonValue): 'rows' | 'batches' {
  if (value === 'rows' || value === 'batches') return value
  throw invalid("proofs is not 'rows' or 'batches'.", ['rows', 'batches'])
}

export function freshnessOf(value: JsonValue): number {
  const ms = typeof value === 'string' ? durationMs(value) : undefined
  if (ms !== undefined && ms >= freshnessLeastMs && ms <= freshnessMostMs) return ms
  const [least, most] = [freshnessLeastMs, freshnessMostMs].map(durationText)
  throw new NodeError('InvalidRequest', `freshness is not a duration from ${least} to ${most}.`, {
    hint: 'Write a text such as "500ms", "5s", "10m" or "2h"; without freshness the node sets the pace.',
  })
}

export function withoutKind<T extends { readonly kind: string }>(event: T): Omit<T, 'kind'> {
  const { kind: _, ...rest } = event
  return rest
}

interface CreateDeps {
  readonly catalog: Catalog
  readonly log: EventLog
  readonly publisher: Publisher
  readonly clock: Clock
  readonly haltOf: (dataset: DatasetId, partition: number) => string | undefined
}

/**
 * Logs the creation and waits for it. Resolves with the dataset that now has the name, and whether this call made it.
 * Throws NodeError `LogUnavailable` where nothing is built now and after 15 s, and what the log throws.
 */
export async function createDataset(
  deps: CreateDeps,
  dataset: NewDataset,
): Promise<{ chain: DatasetChain; created: boolean }> {
  const { alias, ...rest } = dataset
  const id = datasetIdFromKey(ed25519Signer(randomBytes(32)).publicKey)
  const partition = partitionOf(alias.folded, deps.log.partitions)
  const ended = new AbortController()
  const appeared = new Promise<void>((resolve) => {
    const stop = deps.catalog.onAdvance(({ chain }) => {
      if (chain.name.alias.toLowerCase() === alias.folded) resolve()
    })
    ended.signal.addEventListener('abort', stop, { once: true })
  })
  try {
    const taken = await deps.catalog.byAlias(alias.text)
    if (taken !== undefined) return { chain: taken, created: false }
    demandBuilt(alias.text, deps.haltOf(id, partition))
    await deps.publisher.create(partition, {
      dataset: id,
      alias: alias.text,
      time: new Date(deps.clock.nowMs()).toISOString(),
      ...rest,
    })
    for (let waitedMs = 0; waitedMs < commitWithinMs; waitedMs += lookMs) {
      await Promise.race([appeared, deps.clock.sleep(lookMs, ended.signal)])
      const chain = await deps.catalog.byAlias(alias.text)
      if (chain !== undefined) return { chain, created: chain.name.id === id }
    }
  } finally {
    ended.abort()
  }
  const message = `The creation of '${alias.text}' is in the log but was not committed within ${commitWithinMs / 1000} s.`
  const hint = 'Repeat the same request; it finishes what was begun.'
  throw new NodeError('LogUnavailable', message, { hint, retryAfterSeconds: behindSeconds })
}
