// Every rule of a chain, kept and broken. A chain that keeps them all is built first; each case changes one thing.

import { describe, expect, test } from 'vitest'
import { type ChainState, checkNext, emptyChain } from '../../../../src/libraries/odf/chain/rules.ts'
import { HaltError } from '../../../../src/libraries/base/errors.ts'
import type {
  AddData,
  AddPushSource,
  ExecuteTransform,
  MetadataBlock,
  MetadataEvent,
} from '../../../../src/libraries/model/events.ts'
import { type DataSchema, defaultVocabulary, systemFields } from '../../../../src/libraries/model/schema.ts'

const hashOf = (name: string | number): string => `f1620${Buffer.from(String(name)).toString('hex').padEnd(64, '0')}`
const dataset = `did:odf:fed01${'ab'.repeat(32)}`

const seed: MetadataEvent = { kind: 'Seed', datasetId: dataset, datasetKind: 'Root' }
const schema: DataSchema = {
  fields: [...systemFields(defaultVocabulary), { name: 'city', type: { kind: 'Option', inner: { kind: 'String' } } }],
}
const setSchema: MetadataEvent = { kind: 'SetDataSchema', schema }
const pushSource: AddPushSource = {
  kind: 'AddPushSource',
  sourceName: 'default',
  read: { kind: 'NdJson', schema: { fields: [{ name: 'at', type: { kind: 'Timestamp' } }] } },
  merge: { kind: 'Append' },
}
const slice = (start: number, end: number): NonNullable<AddData['newData']> => ({
  logicalHash: `f9680c00120${'00'.repeat(32)}`,
  physicalHash: hashOf(`slice ${start}`),
  offsetInterval: { start, end },
  size: 10,
})
const firstData: AddData = {
  kind: 'AddData',
  newData: slice(0, 9),
  newCheckpoint: { physicalHash: hashOf('checkpoint'), size: 3 },
  newWatermark: '2025-01-01T00:00:00.5Z',
  newSourceState: { sourceName: 'default', kind: 'proofstream.dev/log-position', value: '{"next":10}' },
}
/** What a data block must carry after `firstData`. */
const carried: AddData = {
  kind: 'AddData',
  prevCheckpoint: hashOf('checkpoint'),
  prevOffset: 9,
  newCheckpoint: { physicalHash: hashOf('checkpoint'), size: 3 },
  newWatermark: '2025-01-01T00:00:00.5Z',
  newSourceState: { sourceName: 'default', kind: 'proofstream.dev/log-position', value: '{"next":10}' },
}

function next(state: ChainState, event: MetadataEvent, changes: Partial<MetadataBlock> = {}): ChainState {
  const block: MetadataBlock = {
    systemTime: '2025-06-01T00:00:00Z',
    sequenceNumber: state.length,
    event,
    ...(state.head === undefined ? {} : { prevBlockHash: state.head }),
    ...changes,
  }
  return checkNext(state, block, hashOf(state.length))
}

function chainOf(...events: MetadataEvent[]): ChainState {
  return events.reduce((state, event) => next(state, event), emptyChain)
}

const withSchema = chainOf(seed, setSchema)
const withData = chainOf(seed, setSchema, firstData)
const withSource = chainOf(seed, pushSource)
const checkpoint = { physicalHash: hashOf('checkpoint'), size: 3 }

/** `event` without one of its members. */
function without<T extends object>(event: T, name: keyof T): T {
  return Object.fromEntries(Object.entries(event).filter(([key]) => key !== name)) as T // all but an optional member
}

/** The chain with data, and a block of rows after it. */
const rows = (start: number, end: number, changes: Partial<AddData> = {}): ChainState =>
  next(withData, { ...carried, newData: slice(start, end), ...changes })
const queries = (preprocess: object): ChainState =>
  chainOf(seed, { ...pushSource, preprocess: { kind: 'Sql', engine: 'datafusion', ...preprocess } })
const widened = (type: DataSchema['fields'][number]['type']): MetadataEvent => ({
  kind: 'SetDataSchema',
  schema: { fields: [...schema.fields, { name: 'n', type }] },
})
const optionalInt = { kind: 'Option', inner: { kind: 'Int64' } } as const
const raw: MetadataEvent = { kind: 'SetDataSchema', rawArrowSchema: '00' }
const polling: MetadataEvent = {
  kind: 'SetPollingSource',
  fetch: { kind: 'Url', url: 'x' },
  read: { kind: 'Json' },
  merge: { kind: 'Append' },
}
const setTransform: MetadataEvent = {
  kind: 'SetTransform',
  inputs: [],
  transform: { kind: 'Sql', engine: 'x', queries: [{ query: 'select 1' }] },
}
const execute: ExecuteTransform = {
  kind: 'ExecuteTransform',
  queryInputs: [{ datasetId: dataset, newBlockHash: hashOf('in') }],
}
const derived = chainOf(seed, setTransform, setSchema, execute)

const at = (systemTime: string): ChainState => next(withSchema, firstData, { systemTime })
const far = 2n ** 63n
const farData = next(withSchema, { ...firstData, newData: { ...slice(0, 0), offsetInterval: { start: 0, end: far } } })
const afterFar = (start: bigint): ChainState =>
  next(farData, { ...carried, prevOffset: far, newData: { ...slice(0, 0), offsetInterval: { start, end: start } } })

describe('a block is refused', () => {
  test.each<[string, RegExp, () => ChainState]>([
    ['at the beginning that is no Seed', /begins with a Seed/, () => chainOf(setSchema)],
    ['that is a second Seed', /at the beginning only/, () => chainOf(seed, seed)],
    ['at the beginning with a number', /sequence number 1/, () => next(emptyChain, seed, { sequenceNumber: 1 })],
    ['at the beginning with a link', /links to/, () => next(emptyChain, seed, { prevBlockHash: hashOf('x') })],
    ['whose number jumps', /sequence number 3/, () => next(withSchema, firstData, { sequenceNumber: 3 })],
    ['whose number repeats', /sequence number 1/, () => next(withSchema, firstData, { sequenceNumber: 1 })],
    ['that names another block', /links to/, () => next(withSchema, firstData, { prevBlockHash: hashOf('another') })],
    [
      'that names no block',
      /links to no block/,
      () =>
        checkNext(withSchema, { systemTime: '2025-06-01T00:00:00Z', sequenceNumber: 2, event: firstData }, hashOf(2)),
    ],
    ['a nanosecond early', /is before/, () => at('2025-05-31T23:59:59.999999999Z')],
    [
      'half a second early',
      /is before/,
      () => next(at('2025-06-01T00:00:00.5Z'), carried, { systemTime: '2025-06-01T00:00:00Z' }),
    ],
    ['with data before a schema', /before the first SetDataSchema/, () => chainOf(seed, firstData)],
    ['without any data', /is empty/, () => next(withSchema, { kind: 'AddData' })],
    [
      'without any data, though it names what was before',
      /is empty/,
      () => next(withData, { kind: 'AddData', prevOffset: 9, prevCheckpoint: checkpoint.physicalHash }),
    ],
    ['with nothing but foreign members', /is empty/, () => next(withSchema, { kind: 'AddData', extra: { a: 1 } })],
    ['that changes nothing', /changes nothing/, () => next(withData, carried)],
    ['with another checkpoint before', /prevCheckpoint is/, () => rows(10, 10, { prevCheckpoint: hashOf('old') })],
    [
      'that forgets the checkpoint before',
      /prevCheckpoint is absent/,
      () => next(withData, without({ ...carried, newData: slice(10, 10) }, 'prevCheckpoint')),
    ],
    [
      'with a checkpoint that was dropped',
      /the last checkpoint absent/,
      () =>
        next(next(withData, without({ ...carried, newData: slice(10, 10) }, 'newCheckpoint')), {
          ...carried,
          newData: slice(11, 11),
          prevOffset: 10,
        }),
    ],
    ['with another offset before', /prevOffset is 8, the last offset 9/, () => rows(9, 9, { prevOffset: 8 })],
    [
      'that forgets the offset before',
      /prevOffset is absent/,
      () => next(withData, without({ ...carried, newData: slice(0, 1) }, 'prevOffset')),
    ],
    [
      'with an offset before the first',
      /the last offset absent/,
      () => next(withSchema, { ...firstData, prevOffset: 0, newData: slice(1, 1) }),
    ],
    ['with a gap in its offsets', /begin at 11, expected 10/, () => rows(11, 12)],
    ['with offsets that overlap', /begin at 9, expected 10/, () => rows(9, 12)],
    [
      'whose first offset is not 0',
      /begin at 1, expected 0/,
      () => next(withSchema, { ...firstData, newData: slice(1, 2) }),
    ],
    ['whose offsets end before they begin', /before they begin/, () => rows(10, 9)],
    ['with a gap beyond 2^53', /expected 9223372036854775809/, () => afterFar(far + 2n)],
    [
      'that drops the watermark',
      /is not carried/,
      () => next(withData, without({ ...carried, newData: slice(10, 10) }, 'newWatermark')),
    ],
    ['that lowers the watermark', /goes back/, () => rows(10, 10, { newWatermark: '2025-01-01T00:00:00.25Z' })],
    ['that lowers it to a second', /goes back/, () => rows(10, 10, { newWatermark: '2025-01-01T00:00:00Z' })],
    ['with a source that is not new', /push source default is not new/, () => next(withSource, pushSource)],
    [
      'with a source that is not new but spelled out',
      /is not new/,
      () => {
        const type = { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' } as const
        return next(withSource, { ...pushSource, read: { kind: 'NdJson', schema: { fields: [{ name: 'at', type }] } } })
      },
    ],
    [
      'with a source of two schemas',
      /not both/,
      () => chainOf(seed, { ...pushSource, read: { ...pushSource.read, ddlSchema: ['at TIMESTAMP'] } }),
    ],
    ['with a push source beside a polling one', /polling source exists/, () => chainOf(seed, polling, pushSource)],
    ['with a polling source beside a push one', /push source exists/, () => chainOf(seed, pushSource, polling)],
    ['with a query outside of the list', /normalised/, () => queries({ query: 'select 1' })],
    ['with a transform without queries', /normalised/, () => queries({})],
    ['with an empty list of queries', /normalised/, () => queries({ queries: [] })],
    [
      'whose last query has an alias',
      /the last has none/,
      () => queries({ queries: [{ alias: 'a', query: 'select 1' }] }),
    ],
    [
      'with an inner query without alias',
      /have an alias/,
      () => queries({ queries: [{ query: 'select 1' }, { query: 'select 2' }] }),
    ],
    ['without a schema in its SetDataSchema', /exactly one schema/, () => chainOf(seed, { kind: 'SetDataSchema' })],
    ['with two forms of a schema', /exactly one schema/, () => chainOf(seed, { ...setSchema, rawArrowSchema: '00' })],
    ['with a schema that is not new', /not new/, () => next(withSchema, setSchema)],
    ['with a raw schema that is not new', /not new/, () => chainOf(seed, raw, raw)],
    [
      'with a new column that is not optional',
      /"n" is new and not optional/,
      () => next(withSchema, widened({ kind: 'Int64' })),
    ],
    [
      'without a column that was there',
      /not follow.*"n" is removed/,
      () => next(next(withSchema, widened(optionalInt)), setSchema),
    ],
    ['that executes no transform', /needs a SetTransform/, () => chainOf(seed, setSchema, execute)],
    [
      'that executes a transform to no end',
      /changes nothing/,
      () => next(derived, { kind: 'ExecuteTransform', queryInputs: [{ datasetId: dataset }] }),
    ],
    [
      'of a transform with a gap in its offsets',
      /begin at 5/,
      () => next(derived, { ...execute, newData: slice(5, 6) }),
    ],
  ])('%s', (_, reason, act) => {
    expect(act).toThrow(HaltError)
    expect(act).toThrow(reason)
    expect(act).toThrow(/^ChainBroken: block \d+ \(f1620/)
  })
})

describe('a chain goes on', () => {
  test('by one block at a time, in time that may stand still', () => {
    expect(next(withSchema, firstData, { sequenceNumber: 2n }).length).toBe(3)
    expect(at('2025-06-01T00:00:00Z').systemTime).toBe('2025-06-01T00:00:00Z')
    expect(at('2025-06-01T00:00:00.000000001Z').systemTime).toBe('2025-06-01T00:00:00.000000001Z')
  })

  test('with data from the block before, whatever lies between', () => {
    const state = rows(10, 12, { newWatermark: '2025-01-01T00:00:01Z' })
    expect(state).toMatchObject({ lastOffset: 12, watermark: '2025-01-01T00:00:01Z', checkpoint, schemaSequence: 1 })
    const between = next(withData, { kind: 'SetInfo', description: 'x' })
    expect(next(between, { ...carried, newData: slice(10, 10) }).lastOffset).toBe(10)
    expect(rows(10, 10, { prevOffset: 9n, newWatermark: '2025-01-01T00:00:00.50001Z' }).length).toBe(4)
    expect(afterFar(far + 1n).lastOffset).toBe(far + 1n)
  })

  test('with a checkpoint before any schema, and with nothing but a checkpoint, watermark or source state', () => {
    expect(chainOf(seed, without(firstData, 'newData')).checkpoint).toEqual(firstData.newCheckpoint)
    const state = { sourceName: 'default', kind: 'proofstream.dev/log-position', value: '{"next":11}' }
    expect(next(withData, { ...carried, newWatermark: '2025-01-01T00:00:00.6Z' }).length).toBe(4)
    expect(next(withData, { ...carried, newCheckpoint: { physicalHash: hashOf('c2'), size: 1 } }).length).toBe(4)
    expect(next(withData, { ...carried, newSourceState: state }).sourceState).toEqual(state)
    expect(next(withData, without(carried, 'newSourceState')).sourceState).toBeUndefined()
  })

  test('with sources that are new or different', () => {
    const merge = { kind: 'Ledger', primaryKey: ['a'] }
    expect(next(withSource, { ...pushSource, sourceName: 'other' }).pushSources.size).toBe(2)
    expect(next(withSource, { ...pushSource, merge }).pushSources.get('default')?.merge).toEqual(merge)
    expect(next(withSource, { ...pushSource, read: { kind: 'NdJson' } }).pushSources.size).toBe(1)
    expect(chainOf(seed, polling, { kind: 'DisablePollingSource' }, pushSource).pushSources.size).toBe(1)
    const disabled = chainOf(seed, pushSource, { kind: 'DisablePushSource', sourceName: 'default' }, polling)
    expect(disabled.hasPollingSource).toBe(true)
    expect(queries({ queries: [{ alias: 'a', query: 'select 1' }, { query: 'select 2' }] }).length).toBe(2)
  })

  test('with schemas that follow, freely after the raw Arrow form', () => {
    const grown = next(withSchema, widened(optionalInt))
    expect([grown.schemaSequence, grown.schema?.fields.length]).toEqual([2, 6])
    expect(next(chainOf(seed, raw), setSchema).schema).toEqual(schema)
    expect(next(chainOf(seed, raw), firstData).lastOffset).toBe(9)
  })

  test('with transforms that move an input or data', () => {
    expect(chainOf(seed, setTransform, setSchema, { ...execute, newData: slice(0, 3) }).lastOffset).toBe(3)
    expect(next(derived, execute).length).toBe(5)
  })
})

test('a chain says the latest of each kind of event', () => {
  const state = chainOf(
    seed,
    { kind: 'SetVocab', eventTimeColumn: 'at' },
    { kind: 'SetInfo', description: 'one' },
    { kind: 'SetInfo', keywords: ['two'] },
    { kind: 'SetLicense', shortName: 'MIT', name: 'MIT', websiteUrl: 'x' },
    { kind: 'SetAttachments', attachments: { kind: 'Embedded', items: [] } },
  )
  expect(state).toMatchObject({ datasetId: dataset, datasetKind: 'Root', length: 6, head: hashOf(5) })
  expect(state.vocabulary).toEqual({ ...defaultVocabulary, eventTimeColumn: 'at' })
  expect(state.info).toEqual({ kind: 'SetInfo', keywords: ['two'] })
  expect(state.license?.shortName).toBe('MIT')
  expect(state.attachments?.attachments.items).toEqual([])
})
