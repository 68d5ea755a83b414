// The rules that make a sequence of blocks a chain, as a fold: state of the chain so far, next block, new state. Builder,
// catalog and fsck fold every block through `checkNext`. That a block's bytes hash to its name is checked
// before they are decoded. Source: Open Data Fabric specification; the reference implementation's checks on append.

import { sameValue } from '../../base/compare.ts'
import { HaltError } from '../../base/errors.ts'
import type { DatasetId, Hash } from '../../base/ids/identifiers.ts'
import type {
  AddData,
  AddPushSource,
  Checkpoint,
  ExecuteTransform,
  Instant,
  MetadataBlock,
  MetadataEvent,
  Seed,
  SetAttachments,
  SetDataSchema,
  SetInfo,
  SetLicense,
  SourceState,
  Transform,
  U64,
} from '../../model/events.ts'
import { compareInstants } from '../../model/instant.ts'
import {
  checkEvolution,
  type DataSchema,
  defaultVocabulary,
  schemaEquals,
  type Vocabulary,
} from '../../model/schema.ts'

/** What a chain says after its last block. */
export interface ChainState {
  /** Number of blocks, which is the sequence number of the next one. */
  readonly length: number
  readonly head: Hash | undefined
  /** Of the last block. */
  readonly systemTime: Instant | undefined
  readonly datasetId: DatasetId | undefined
  readonly datasetKind: Seed['datasetKind'] | undefined
  readonly vocabulary: Vocabulary
  readonly schema: DataSchema | undefined
  /** Hex of the Arrow schema, when the last SetDataSchema has the deprecated form. */
  readonly rawArrowSchema: string | undefined
  /** Sequence number of the last SetDataSchema; -1 without one. */
  readonly schemaSequence: number
  readonly info: SetInfo | undefined
  readonly license: SetLicense | undefined
  readonly attachments: SetAttachments | undefined
  readonly pushSources: ReadonlyMap<string, AddPushSource>
  readonly hasPollingSource: boolean
  readonly hasTransform: boolean
  /** Offset of the last record; undefined before the first. The next data block's `prevOffset`. */
  readonly lastOffset: U64 | undefined
  /** Of the last data block; its hash is the next data block's `prevCheckpoint`. */
  readonly checkpoint: Checkpoint | undefined
  /** Once set, every data block carries it or a later one. */
  readonly watermark: Instant | undefined
  /** Of the last AddData. */
  readonly sourceState: SourceState | undefined
}

export const emptyChain: ChainState = {
  length: 0,
  head: undefined,
  systemTime: undefined,
  datasetId: undefined,
  datasetKind: undefined,
  vocabulary: defaultVocabulary,
  schema: undefined,
  rawArrowSchema: undefined,
  schemaSequence: -1,
  info: undefined,
  license: undefined,
  attachments: undefined,
  pushSources: new Map(),
  hasPollingSource: false,
  hasTransform: false,
  lastOffset: undefined,
  checkpoint: undefined,
  watermark: undefined,
  sourceState: undefined,
}

/** The state after `block`, whose bytes hash to `hash`. Throws HaltError `ChainBroken` when the block cannot come next. */
export function checkNext(state: ChainState, block: MetadataBlock, hash: Hash): ChainState {
  const chain: Link = {
    state,
    refuse: (reason) => {
      throw new HaltError('ChainBroken', `block ${state.length} (${hash}): ${reason}`)
    },
  }
  checkLink(chain, block)
  const next = applyEvent(chain, block.event)
  return { ...next, length: state.length + 1, head: hash, systemTime: block.systemTime }
}

/** A chain and how to say that a block does not fit it. */
interface Link {
  readonly state: ChainState
  readonly refuse: (reason: string) => never
}

function checkLink({ state, refuse }: Link, block: MetadataBlock): void {
  if (block.event.kind === 'Seed' && state.length > 0) refuse('a Seed stands at the beginning only')
  if (block.event.kind !== 'Seed' && state.length === 0) refuse('a chain begins with a Seed')
  if (!sameU64(block.sequenceNumber, state.length)) refuse(`has the sequence number ${block.sequenceNumber}`)
  if (block.prevBlockHash !== state.head) {
    refuse(`links to ${block.prevBlockHash ?? 'no block'} and not to ${state.head ?? 'no block'}`)
  }
  if (state.systemTime !== undefined && compareInstants(block.systemTime, state.systemTime) < 0) {
    refuse(`its time ${block.systemTime} is before ${state.systemTime}`)
  }
}

function applyEvent(chain: Link, event: MetadataEvent): ChainState {
  const { state } = chain
  switch (event.kind) {
    case 'Seed':
      return { ...state, datasetId: event.datasetId, datasetKind: event.datasetKind }
    case 'AddData':
      return applyAddData(chain, event)
    case 'ExecuteTransform':
      return applyExecuteTransform(chain, event)
    case 'SetDataSchema':
      return applySchema(chain, event)
    case 'SetVocab': {
      const { kind: _, ...names } = event
      return { ...state, vocabulary: { ...defaultVocabulary, ...names } }
    }
    case 'SetInfo':
      return { ...state, info: event }
    case 'SetLicense':
      return { ...state, license: event }
    case 'SetAttachments':
      return { ...state, attachments: event }
    case 'AddPushSource':
      return applyPushSource(chain, event)
    case 'DisablePushSource':
      return { ...state, pushSources: new Map([...state.pushSources].filter(([name]) => name !== event.sourceName)) }
    case 'SetPollingSource':
      if (state.pushSources.size > 0) chain.refuse('a polling source cannot be set while a push source exists')
      checkTransform(chain, event.preprocess)
      return { ...state, hasPollingSource: true }
    case 'DisablePollingSource':
      return { ...state, hasPollingSource: false }
    case 'SetTransform':
      checkTransform(chain, event.transform)
      return { ...state, hasTransform: true }
  }
}

function applyAddData(chain: Link, event: AddData): ChainState {
  const { state, refuse } = chain
  const { newData, newCheckpoint, newWatermark, newSourceState } = event
  if (!newData && !newCheckpoint && !newWatermark && !newSourceState) refuse('the AddData is empty')
  const next = applyData(chain, event)
  if (!movesData(state, event) && sameValue(newSourceState, state.sourceState)) refuse('the AddData changes nothing')
  return { ...next, sourceState: newSourceState }
}

function applyExecuteTransform(chain: Link, event: ExecuteTransform): ChainState {
  const { state, refuse } = chain
  if (!state.hasTransform) refuse('an ExecuteTransform needs a SetTransform before it')
  const next = applyData(chain, event)
  const movesInput = event.queryInputs.some((input) => input.newBlockHash !== undefined)
  if (!movesData(state, event) && !movesInput) refuse('the ExecuteTransform changes nothing')
  return next
}

/** What both kinds of data blocks have in common: offsets, checkpoint and watermark go on from the block before. */
function applyData({ state, refuse }: Link, event: AddData | ExecuteTransform): ChainState {
  const { prevCheckpoint, prevOffset, newData, newWatermark } = event
  if (newData && state.schemaSequence < 0) refuse('data comes before the first SetDataSchema')
  if (prevCheckpoint !== state.checkpoint?.physicalHash) {
    refuse(
      `prevCheckpoint is ${prevCheckpoint ?? 'absent'}, the last checkpoint ${state.checkpoint?.physicalHash ?? 'absent'}`,
    )
  }
  if (!sameU64(prevOffset, state.lastOffset)) {
    refuse(`prevOffset is ${prevOffset ?? 'absent'}, the last offset ${state.lastOffset ?? 'absent'}`)
  }
  if (newData) {
    const { start, end } = newData.offsetInterval
    const expected = prevOffset === undefined ? 0n : BigInt(prevOffset) + 1n
    if (BigInt(start) !== expected) refuse(`its offsets begin at ${start}, expected ${expected}`)
    if (BigInt(end) < BigInt(start)) refuse(`its offsets end at ${end}, before they begin`)
  }
  if (state.watermark !== undefined) {
    if (newWatermark === undefined) refuse(`the watermark ${state.watermark} is not carried`)
    else if (compareInstants(newWatermark, state.watermark) < 0) refuse(`the watermark goes back to ${newWatermark}`)
  }
  return {
    ...state,
    lastOffset: newData ? newData.offsetInterval.end : prevOffset,
    checkpoint: event.newCheckpoint,
    watermark: newWatermark,
  }
}

/** True when the event has data, or another checkpoint or watermark than the block before. */
function movesData(state: ChainState, event: AddData | ExecuteTransform): boolean {
  if (event.newData !== undefined || event.newWatermark !== state.watermark) return true
  return event.newCheckpoint?.physicalHash !== event.prevCheckpoint
}

function applySchema({ state, refuse }: Link, event: SetDataSchema): ChainState {
  const { schema, rawArrowSchema } = event
  if ((schema === undefined) === (rawArrowSchema === undefined)) refuse('a SetDataSchema has exactly one schema')
  if (rawArrowSchema !== undefined && rawArrowSchema === state.rawArrowSchema) refuse('the schema is not new')
  // A raw Arrow schema has no logical types to compare: the step from or to one is free.
  if (schema !== undefined && state.schema !== undefined) {
    const change = checkEvolution(state.schema, schema)
    if (change.kind === 'identical') refuse('the schema is not new')
    if (change.kind === 'incompatible') refuse(`the schema does not follow from the one before: ${change.reason}`)
  }
  return { ...state, schema, rawArrowSchema, schemaSequence: state.length }
}

function applyPushSource(chain: Link, event: AddPushSource): ChainState {
  const { state, refuse } = chain
  if (state.hasPollingSource) refuse('a push source cannot be added while a polling source exists')
  if (event.read.schema !== undefined && event.read['ddlSchema'] !== undefined) {
    refuse('a read step has a DDL schema or an ODF schema, not both')
  }
  checkTransform(chain, event.preprocess)
  const known = state.pushSources.get(event.sourceName)
  if (known !== undefined && samePushSource(known, event)) refuse(`the push source ${event.sourceName} is not new`)
  return { ...state, pushSources: new Map([...state.pushSources, [event.sourceName, event]]) }
}

/** True when adding `b` after `a` would change nothing, which a chain does not admit. */
function samePushSource(a: AddPushSource, b: AddPushSource): boolean {
  const { schema: schemaA, ...readA } = a.read
  const { schema: schemaB, ...readB } = b.read
  if ((schemaA === undefined) !== (schemaB === undefined)) return false
  if (schemaA !== undefined && schemaB !== undefined && !schemaEquals(schemaA, schemaB)) return false
  return sameValue({ ...a, read: readA }, { ...b, read: readB })
}

/** A stored query is normalised: in `queries`, of which the last and only the last has no alias. */
function checkTransform({ refuse }: Link, transform: Transform | undefined): void {
  if (transform === undefined) return
  const queries = transform.queries ?? []
  if (transform.query !== undefined || queries.length === 0) refuse('a query is not in the normalised form')
  const last = queries.length - 1
  if (queries.some((query, index) => (query.alias === undefined) !== (index === last))) {
    refuse('all queries but the last have an alias, and the last has none')
  }
}

function sameU64(a: U64 | undefined, b: U64 | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && BigInt(a) === BigInt(b))
}
