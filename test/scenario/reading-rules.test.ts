// What is told of the header of a CSV body, on a real node. What its cells, times and numbers mean: test/libraries/formats.

import { describe, expect, test } from 'vitest'
import { datasetCalls } from '../helpers/dataset-calls.ts'
import { liveNode } from '../helpers/live-node.ts'

const live = await liveNode()

const { put, post, rowsOf, columnsOf } = datasetCalls(() => live)
const csv = { 'content-type': 'text/csv' }

describe('CSV', () => {
  test('finds its header by the names of the columns, in any case and order', async () => {
    await put('acme/csv', {
      schema: {
        fields: [
          { name: 'city', type: 'String' },
          { name: 'n', type: 'Int64?' },
        ],
      },
    })
    expect((await post('acme/csv', 'Pisa,\n', csv)).at('hint')).toContain('header=absent')
    const answers = [
      await post('acme/csv', 'N,City\n1,Oslo\n', csv),
      await post('acme/csv', 'Rome,2\n', csv),
      await post('acme/csv', 'Pisa,\n', { 'content-type': 'text/csv; header=absent' }),
      await post('acme/csv', 'city,3\n', { 'content-type': 'text/csv; header=absent' }),
    ]
    expect(answers.map((answer) => answer.at('csvHeader'))).toEqual(['present', 'absent', 'absent', 'absent'])
    expect(await rowsOf('acme/csv', 'city, n')).toEqual([
      ['Oslo', 1],
      ['Rome', 2],
      ['Pisa', null],
      ['city', 3],
    ])
    const unknown = await post('acme/csv', 'city,x\nOslo,1\n', { 'content-type': 'text/csv; header=present' })
    expect([unknown.status, unknown.at('errors.0.kind')]).toEqual([422, 'UnknownField'])
    expect(unknown.at('errors.0.record')).toBeUndefined()
  })

  test('with other separators is refused, and with an unnamed index taken, when it makes a dataset', async () => {
    for (const body of ['name;city\nBob;Oslo\nEve;Rome\n', 'a\tb\n1\t2\n', 'a|b|c\r\nx|y|z\r\n']) {
      const answer = await post('acme/semicolons', body, csv, '?create=true')
      expect([answer.status, answer.at('error.kind'), answer.at('hint')]).toEqual([
        422,
        expect.stringMatching(/^(RecordsDoNotFit|InvalidColumnName)$/),
        expect.stringMatching(/delimiter=/),
      ])
    }
    const titled = await post('acme/texts', 'note\na;b\nc;d\n', csv, '?create=true')
    expect([titled.refusal, titled.at('offers.0.query')]).toEqual([
      '422 RecordsDoNotFit',
      expect.stringContaining('delimiter=%3B'),
    ])
    const texts = await post('acme/texts', 'note\na;b\nc\n', csv, '?create=true')
    expect(texts.at('status')).toBe('committed')
    const frame = await post('acme/frame', ',a,b\n0,1,x\n1,2,y\n', csv, '?create=true')
    expect(frame.at('warnings')).toEqual(["The header has no name for a column: it is called 'column_1'."])
    expect((await post('acme/frame', ',a,b\n2,3,z\n', csv)).at('status')).toBe('committed')
    expect(await rowsOf('acme/frame', 'column_1, a, b')).toEqual([
      [0, 1, 'x'],
      [1, 2, 'y'],
      [2, 3, 'z'],
    ])
  })

  test('that begins a dataset must show whether it has a header', async () => {
    const doubtful = await post('acme/doubt', 'Oslo,1\n', csv, '?create=true')
    expect([doubtful.status, doubtful.at('error.kind'), doubtful.at('hint')]).toEqual([
      422,
      'RecordsDoNotFit',
      expect.stringContaining('header='),
    ])
    const absent = await post('acme/doubt', 'Oslo,1\n', { 'content-type': 'text/csv; header=absent' }, '?create=true')
    expect(absent.at('csvHeader')).toBe('absent')
    expect(await columnsOf('acme/doubt')).toEqual(['column_1: String?', 'column_2: Int64?'])
  })
})
