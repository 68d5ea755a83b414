// Every rule of a chain, kept and broken. A chain that keeps them all is built first; each case changes one thing.

import { describe, expect, it } from 'vitest'
import { type ChainState, checkNext, emptyChain } from '../../src/chain/rules.ts'
import { HaltError } from '../../src/model/errors.ts'
import type { AddData, AddPushSource, ExecuteTransform, MetadataBlock, MetadataEvent } from '../../src/model/events.ts'
import { type DataSchema, defaultVocabulary, systemFields } from '../../src/model/schema.ts'

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

function expectBroken(act: () => unknown, reason: RegExp): void {
  expect(act).toThrow(HaltError)
  expect(act).toThrow(reason)
  expect(act).toThrow(/^ChainBroken: block \d+ \(f1620/)
}

const withSchema = chainOf(seed, setSchema)
const withData = chainOf(seed, setSchema, firstData)

describe('links between blocks', () => {
  it('a chain begins with a Seed and has no other', () => {
    expectBroken(() => chainOf(setSchema), /begins with a Seed/)
    expectBroken(() => chainOf(seed, seed), /at the beginning only/)
  })

  it('the first block has sequence number 0 and no predecessor', () => {
    expectBroken(() => next(emptyChain, seed, { sequenceNumber: 1 }), /sequence number 1/)
    expectBroken(() => next(emptyChain, seed, { prevBlockHash: hashOf('x') }), /links to/)
  })

  it('sequence numbers neither jump nor repeat', () => {
    expectBroken(() => next(withSchema, firstData, { sequenceNumber: 3 }), /sequence number 3/)
    expectBroken(() => next(withSchema, firstData, { sequenceNumber: 1 }), /sequence number 1/)
    expect(next(withSchema, firstData, { sequenceNumber: 2n }).length).toBe(3)
  })

  it('a block names the block before it', () => {
    expectBroken(() => next(withSchema, firstData, { prevBlockHash: hashOf('another') }), /links to/)
    const { prevBlockHash: _, ...unlinked } = {
      systemTime: '2025-06-01T00:00:00Z',
      sequenceNumber: 2,
      event: firstData,
      prevBlockHash: '',
    }
    expectBroken(() => checkNext(withSchema, unlinked, hashOf(2)), /links to no block/)
  })

  it('time stands still or goes on, to the nanosecond', () => {
    const at = (systemTime: string): ChainState => next(withSchema, firstData, { systemTime })
    expect(at('2025-06-01T00:00:00Z').systemTime).toBe('2025-06-01T00:00:00Z')
    expect(at('2025-06-01T00:00:00.000000001Z').systemTime).toBe('2025-06-01T00:00:00.000000001Z')
    expectBroken(() => at('2025-05-31T23:59:59.999999999Z'), /is before/)
    expectBroken(() => next(at('2025-06-01T00:00:00.5Z'), carried, { systemTime: '2025-06-01T00:00:00Z' }), /is before/)
  })
})

describe('data blocks', () => {
  it('go on from the block before', () => {
    const state = next(withData, { ...carried, newData: slice(10, 12), newWatermark: '2025-01-01T00:00:01Z' })
    expect(state.lastOffset).toBe(12)
    expect(state.watermark).toBe('2025-01-01T00:00:01Z')
    expect(state.checkpoint?.physicalHash).toBe(hashOf('checkpoint'))
    expect(state.schemaSequence).toBe(1)
  })

  it('need a schema before their data, though not before a checkpoint', () => {
    expectBroken(() => chainOf(seed, firstData), /before the first SetDataSchema/)
    const { newData: _, ...dataless } = firstData
    expect(chainOf(seed, dataless).checkpoint).toEqual(firstData.newCheckpoint)
  })

  it('are not empty', () => {
    expectBroken(() => next(withSchema, { kind: 'AddData' }), /is empty/)
    expectBroken(
      () => next(withData, { kind: 'AddData', prevOffset: 9, prevCheckpoint: hashOf('checkpoint') }),
      /is empty/,
    )
    expectBroken(() => next(withSchema, { kind: 'AddData', extra: { a: 1 } }), /is empty/)
  })

  it('change something', () => {
    expectBroken(() => next(withData, carried), /changes nothing/)
    expect(next(withData, { ...carried, newWatermark: '2025-01-01T00:00:00.6Z' }).length).toBe(4)
    expect(next(withData, { ...carried, newCheckpoint: { physicalHash: hashOf('c2'), size: 1 } }).length).toBe(4)
    expect(
      next(withData, { ...carried, newSourceState: { ...carried.newSourceState!, value: '{"next":11}' } }).length,
    ).toBe(4)
  })

  it('name the checkpoint of the data block before, whatever lies between', () => {
    const between = next(withData, { kind: 'SetInfo', description: 'x' })
    const event = { ...carried, newData: slice(10, 10) }
    expect(next(between, event).lastOffset).toBe(10)
    expectBroken(() => next(between, { ...event, prevCheckpoint: hashOf('old') }), /prevCheckpoint is/)
    const { prevCheckpoint: _, ...forgetful } = event
    expectBroken(() => next(between, forgetful), /prevCheckpoint is absent/)
    const { newCheckpoint: __, ...dropped } = event
    expectBroken(
      () => next(next(between, dropped), { ...event, newData: slice(11, 11), prevOffset: 10 }),
      /the last checkpoint absent/,
    )
  })

  it('name the last offset', () => {
    expectBroken(
      () => next(withData, { ...carried, prevOffset: 8, newData: slice(9, 9) }),
      /prevOffset is 8, the last offset 9/,
    )
    const { prevOffset: _, ...without } = carried
    expectBroken(() => next(withData, { ...without, newData: slice(0, 1) }), /prevOffset is absent/)
    expectBroken(
      () => next(withSchema, { ...firstData, prevOffset: 0, newData: slice(1, 1) }),
      /the last offset absent/,
    )
    expect(next(withData, { ...carried, prevOffset: 9n, newData: slice(10, 10) }).length).toBe(4)
  })

  it('have offsets without gap or overlap', () => {
    expectBroken(() => next(withData, { ...carried, newData: slice(11, 12) }), /begin at 11, expected 10/)
    expectBroken(() => next(withData, { ...carried, newData: slice(9, 12) }), /begin at 9, expected 10/)
    expectBroken(() => next(withSchema, { ...firstData, newData: slice(1, 2) }), /begin at 1, expected 0/)
    expectBroken(() => next(withData, { ...carried, newData: slice(10, 9) }), /before they begin/)
  })

  it('count offsets beyond 2^53', () => {
    const interval = { start: 0, end: 2n ** 63n }
    const wide = next(withSchema, { ...firstData, newData: { ...slice(0, 0), offsetInterval: interval } })
    const event = { ...carried, prevOffset: 2n ** 63n, newData: slice(0, 0) }
    const go = (start: bigint): ChainState =>
      next(wide, { ...event, newData: { ...slice(0, 0), offsetInterval: { start, end: start } } })
    expect(go(2n ** 63n + 1n).lastOffset).toBe(2n ** 63n + 1n)
    expectBroken(() => go(2n ** 63n + 2n), /expected 9223372036854775809/)
  })

  it('carry the watermark once it is set, and never lower it', () => {
    const event = { ...carried, newData: slice(10, 10) }
    const { newWatermark: _, ...without } = event
    expectBroken(() => next(withData, without), /is not carried/)
    expectBroken(() => next(withData, { ...event, newWatermark: '2025-01-01T00:00:00.25Z' }), /goes back/)
    expectBroken(() => next(withData, { ...event, newWatermark: '2025-01-01T00:00:00Z' }), /goes back/)
    expect(next(withData, { ...event, newWatermark: '2025-01-01T00:00:00.50001Z' }).length).toBe(4)
  })

  it('may drop the state of their source', () => {
    const { newSourceState: _, ...without } = carried
    expect(next(withData, without).sourceState).toBeUndefined()
  })
})

describe('push sources', () => {
  const withSource = chainOf(seed, pushSource)

  it('are new or different', () => {
    expectBroken(() => next(withSource, pushSource), /push source default is not new/)
    const spelled = {
      fields: [{ name: 'at', type: { kind: 'Timestamp', unit: 'Millisecond', timezone: 'UTC' } as const }],
    }
    expectBroken(() => next(withSource, { ...pushSource, read: { kind: 'NdJson', schema: spelled } }), /is not new/)
    expect(next(withSource, { ...pushSource, sourceName: 'other' }).pushSources.size).toBe(2)
    const merge = { kind: 'Ledger', primaryKey: ['a'] }
    expect(next(withSource, { ...pushSource, merge }).pushSources.get('default')?.merge).toEqual(merge)
    expect(next(withSource, { ...pushSource, read: { kind: 'NdJson' } }).pushSources.size).toBe(1)
  })

  it('have one schema, not two', () => {
    const read = { ...pushSource.read, ddlSchema: ['at TIMESTAMP'] }
    expectBroken(() => chainOf(seed, { ...pushSource, read }), /not both/)
  })

  it('do not stand beside a polling source', () => {
    const polling: MetadataEvent = {
      kind: 'SetPollingSource',
      fetch: { kind: 'Url', url: 'x' },
      read: { kind: 'Json' },
      merge: { kind: 'Append' },
    }
    expectBroken(() => chainOf(seed, polling, pushSource), /polling source exists/)
    expectBroken(() => chainOf(seed, pushSource, polling), /push source exists/)
    expect(chainOf(seed, polling, { kind: 'DisablePollingSource' }, pushSource).pushSources.size).toBe(1)
    expect(
      chainOf(seed, pushSource, { kind: 'DisablePushSource', sourceName: 'default' }, polling).hasPollingSource,
    ).toBe(true)
  })

  it('have queries in the normalised form', () => {
    const withQuery =
      (preprocess: object): (() => ChainState) =>
      () =>
        chainOf(seed, { ...pushSource, preprocess: { kind: 'Sql', engine: 'datafusion', ...preprocess } })
    expectBroken(withQuery({ query: 'select 1' }), /normalised/)
    expectBroken(withQuery({}), /normalised/)
    expectBroken(withQuery({ queries: [] }), /normalised/)
    expectBroken(withQuery({ queries: [{ alias: 'a', query: 'select 1' }] }), /the last has none/)
    expectBroken(withQuery({ queries: [{ query: 'select 1' }, { query: 'select 2' }] }), /have an alias/)
    expect(withQuery({ queries: [{ alias: 'a', query: 'select 1' }, { query: 'select 2' }] })().length).toBe(2)
  })
})

describe('schemas', () => {
  const with_ = (...fields: DataSchema['fields']): MetadataEvent => ({
    kind: 'SetDataSchema',
    schema: { fields: [...schema.fields, ...fields] },
  })

  it('are one, in one of two forms', () => {
    expectBroken(() => chainOf(seed, { kind: 'SetDataSchema' }), /exactly one schema/)
    expectBroken(() => chainOf(seed, { kind: 'SetDataSchema', schema, rawArrowSchema: '00' }), /exactly one schema/)
  })

  it('are new', () => {
    expectBroken(() => next(withSchema, setSchema), /not new/)
    expectBroken(
      () =>
        chainOf(seed, { kind: 'SetDataSchema', rawArrowSchema: '00' }, { kind: 'SetDataSchema', rawArrowSchema: '00' }),
      /not new/,
    )
  })

  it('follow from the one before', () => {
    const grown = next(withSchema, with_({ name: 'n', type: { kind: 'Option', inner: { kind: 'Int64' } } }))
    expect(grown.schemaSequence).toBe(2)
    expect(grown.schema?.fields.length).toBe(6)
    expectBroken(() => next(withSchema, with_({ name: 'n', type: { kind: 'Int64' } })), /"n" is new and not optional/)
    expectBroken(() => next(grown, setSchema), /not follow.*"n" is removed/)
  })

  it('are free after the raw Arrow form', () => {
    const raw = chainOf(seed, { kind: 'SetDataSchema', rawArrowSchema: '00' })
    expect(next(raw, setSchema).schema).toEqual(schema)
    expect(next(raw, firstData).lastOffset).toBe(9)
  })
})

describe('what a chain says', () => {
  it('is the latest of each kind of event', () => {
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
})

describe('transforms', () => {
  const setTransform: MetadataEvent = {
    kind: 'SetTransform',
    inputs: [],
    transform: { kind: 'Sql', engine: 'x', queries: [{ query: 'select 1' }] },
  }
  const execute: ExecuteTransform = {
    kind: 'ExecuteTransform',
    queryInputs: [{ datasetId: dataset, newBlockHash: hashOf('in') }],
  }

  it('are set before they are executed', () => {
    expectBroken(() => chainOf(seed, setSchema, execute), /needs a SetTransform/)
    expect(chainOf(seed, setTransform, setSchema, { ...execute, newData: slice(0, 3) }).lastOffset).toBe(3)
  })

  it('move an input, data, checkpoint or watermark', () => {
    const state = chainOf(seed, setTransform, setSchema, execute)
    expect(next(state, execute).length).toBe(5)
    expectBroken(
      () => next(state, { kind: 'ExecuteTransform', queryInputs: [{ datasetId: dataset }] }),
      /changes nothing/,
    )
    expectBroken(() => next(state, { ...execute, newData: slice(5, 6) }), /begin at 5/)
  })
})
