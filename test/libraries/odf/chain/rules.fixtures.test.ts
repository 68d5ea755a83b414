// Chains that deployed ODF software wrote or accepted, folded block by block.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkNext, emptyChain } from '../../../../src/libraries/odf/chain/rules.ts'
import { sha3Hash } from '../../../../src/libraries/base/ids/identifiers.ts'
import { toPlain } from '../../../../src/libraries/base/json/json.ts'
import { toHex } from '../../../../src/libraries/base/bytes.ts'
import { encodeBlock } from '../../../../src/libraries/odf/block.ts'
import { schemaToJson } from '../../../../src/libraries/odf/odf-json.ts'
import { readFixtureDatasets } from '../../../helpers/odf-fixtures.ts'

const datasets = readFixtureDatasets()

it('reads eleven datasets', () => {
  expect(datasets.length).toBe(11)
})

describe.each(datasets)('$name', ({ directory, head, blocks }) => {
  it('follows the rules of a chain from its Seed to its head', () => {
    const state = blocks.reduce((chain, { block, hash }) => checkNext(chain, block, hash), emptyChain)
    expect(state.head).toBe(head)
    expect(state.length).toBe(blocks.length)
    expect(state.length).toBe(readdirSync(join(directory, 'blocks')).length)
  })

  it('encodes to the bytes that are stored', () => {
    for (const { block, version, bytes } of blocks) expect(toHex(encodeBlock(block, version))).toBe(toHex(bytes))
  })

  it('names data files by their hash and size', () => {
    const slices = blocks.flatMap(({ block }) =>
      'newData' in block.event && block.event.newData ? [block.event.newData] : [],
    )
    for (const slice of slices as { physicalHash: string; size: number }[]) {
      const bytes = readFileSync(join(directory, 'data', slice.physicalHash))
      expect(sha3Hash(bytes)).toBe(slice.physicalHash)
      expect(bytes.length).toBe(slice.size)
    }
  })
})

/** That software prints fractions in groups of three digits. */
function shortest(time: string): string {
  return time.replace(/(\.\d*[1-9])0+Z$/, '$1Z')
}

describe('what the other software said of its own datasets', () => {
  const own = datasets.filter(({ name }) => name.startsWith('odf-datasets'))

  it.each(own)('$name: blocks, identity, vocabulary and schema agree', ({ directory, blocks }) => {
    const expected = JSON.parse(readFileSync(join(directory, 'expected.json'), 'utf8'))
    const state = blocks.reduce((chain, { block, hash }) => checkNext(chain, block, hash), emptyChain)
    expect(blocks.map(({ hash }) => hash)).toEqual(expected.blocks.map((block: { hash: string }) => block.hash))
    expect(blocks.map(({ block }) => block.event)).toEqual(
      expected.blocks.map((block: { event: object }) => block.event),
    )
    expect(blocks.map(({ block }) => block.systemTime)).toEqual(
      expected.blocks.map((b: { systemTime: string }) => shortest(b.systemTime)),
    )
    expect(blocks.map(({ version }) => version)).toEqual(
      expected.blocks.map((b: { manifestVersion: number }) => b.manifestVersion),
    )
    expect(state.datasetId).toBe(expected.datasetId)
    expect(state.datasetKind).toBe(expected.datasetKind)
    expect(state.vocabulary).toEqual(expected.vocab)
    expect(state.schema === undefined ? null : toPlain(schemaToJson(state.schema))).toEqual(
      expected.schemaOdfJson ?? null,
    )
    expect(state.lastOffset === undefined ? 0 : Number(state.lastOffset) + 1).toBe(expected.numRecords)
  })
})
