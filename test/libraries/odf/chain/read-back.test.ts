// The rule for column names against the readers: what it lets through, slices, blocks, messages and the engine give
// back; and what a reader would not give back is refused before it is stored, whatever the rule says.

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeArrowStream } from '../../../../src/libraries/columnar/arrow/ipc.ts'
import { demandReadBack } from '../../../../src/libraries/odf/chain/read-back.ts'
import { newDatasetOf } from '../../../../src/node/gateway/new-dataset.ts'
import { NodeError } from '../../../../src/libraries/base/errors.ts'
import { parseAliasText } from '../../../../src/libraries/model/names.ts'
import {
  badName,
  columnNameFault,
  type DataType,
  defaultVocabulary,
  optional,
  systemFields,
} from '../../../../src/libraries/model/schema.ts'
import { failure, infer } from '../../formats/reading.ts'
import { type LiveNode, startLiveNode } from '../../../helpers/live-node.ts'

const string: DataType = { kind: 'String' }
const schemaOf = (...names: readonly string[]) => ({
  fields: [...systemFields(defaultVocabulary), ...names.map((name) => ({ name, type: optional(string) }))],
})
const odd = [
  '__proto__',
  'constructor',
  'a.b',
  '"',
  "'",
  '\\',
  ' ',
  ' a ',
  '%',
  'list',
  'element',
  'select',
  '😀',
  'a\ufeff',
  '\u200d',
  '\u2028',
  '\u00a0',
  'é',
  'e\u0301',
  '0',
  '-',
  '/',
]
const accepted = fc
  .oneof(fc.constantFrom(...odd), fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }))
  .filter((name) => columnNameFault(name) === undefined)

describe('a column name', () => {
  test('that the rule allows comes back from slices, blocks and messages', () => {
    const names = fc.uniqueArray(accepted, { maxLength: 5, selector: (name) => name.toLowerCase() })
    fc.assert(
      fc.property(names, (all) => {
        const schema = schemaOf(...all)
        demandReadBack(schema)
        expect(encodeArrowStream(schema.fields, []).length).toBeGreaterThan(0)
      }),
      { numRuns: 300 },
    )
  })

  test('that readers do not give back is refused, also where no rule names it', () => {
    expect(failure(() => demandReadBack(schemaOf('a', '\ud800b')))).toMatchObject({ kind: 'InvalidColumnName' })
    for (const type of ['Int64', 'Binary', 'Date', 'Bool', 'Float32', 'UInt8'] as const) {
      demandReadBack({ fields: [...schemaOf().fields, { name: 'x', type: { kind: type } }] })
    }
  })

  const bad = ['', '\ufeff', '\ufeffname', 'a\nb', '\u0000', 'a\u007f', '\u0085', 'x'.repeat(256), 'é'.repeat(128)]
  test.each(bad)('%j is refused on every way in', (name) => {
    const kinds = [
      () => newDatasetOf(parseAliasText('a/b'), putBody(name), 10),
      () => newDatasetOf(parseAliasText('a/b'), new Map([['vocab', new Map([['eventTimeColumn', name]])]]), 10),
      () => infer('json', JSON.stringify([{ a: 1, [name]: 1 }])),
      () => infer('ndjson', JSON.stringify({ a: 1, [name]: 1 })),
      () => infer('geojson', JSON.stringify({ type: 'Feature', geometry: null, properties: { [name]: 1 } })),
      // A cell of a header that says nothing is named by its place.
      ...(/^\ufeff?$/.test(name) ? [] : [() => infer('csv', `a,"${name}"\n1,2\n`, { csvHeader: 'present' })]),
    ].map((way) => failure(way).kind)
    expect(new Set(kinds)).toEqual(new Set(['InvalidColumnName']))
  })

  test('that cannot be seen is shown as an escape', () => {
    expect(badName('\ufeffa', 'is bad').message).toContain('"\\ufeffa"')
    expect(badName('a\u0085', 'is bad')).toBeInstanceOf(NodeError)
  })
})

function putBody(name: string) {
  const field = new Map([
    ['name', name],
    ['type', 'String?'],
  ])
  return new Map([['schema', new Map([['fields', [field]]])]])
}

describe('through a node', () => {
  let live: LiveNode
  beforeAll(async () => {
    live = await startLiveNode()
  })
  afterAll(() => live.stop())

  test('odd names hold values that queries and tails give back', async () => {
    const row = Object.fromEntries(odd.map((name, i) => [name, `v${i}`]))
    Object.defineProperty(row, '__proto__', { value: 'proto', enumerable: true })
    const posted = await live.ingest('odd/names', [row], '?create=true')
    expect(posted.status).toBe(200)
    const tail = await live.call('/odd/names/tail')
    const [first] = tail.at('data') as Record<string, unknown>[]
    for (const name of odd) expect(Object.getOwnPropertyDescriptor(first, name)?.value).toBe(row[name])
    const list = odd.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ')
    const answer = await live.query(`select ${list} from odd.names`, { include: ['proof'] })
    expect(answer.at('output.data.0')).toEqual(odd.map((name) => row[name]))
  })

  test('a byte order mark is refused, and the dataset is not made', async () => {
    const posted = await live.ingest('odd/mark', [{ '\ufeffa': 1 }], '?create=true')
    expect([posted.status, posted.at('error.kind')]).toEqual([422, 'InvalidColumnName'])
    expect((await live.call('/odd/mark/tail')).status).toBe(404)
  })
})
