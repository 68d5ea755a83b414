// The link of a file to the query that proves the same rows: there where there is such a proof, and nowhere else.

import { describe, expect, it } from 'vitest'
import { must } from '../../../src/libraries/base/assert.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode({ 'anonymous-read': true })
await live.ingest(
  'acme/goods',
  [0.5, 1, 1.5, 2].map((share) => ({ share })),
  '?create=true',
)
const head = must(await live.head('acme/goods'), 'a head')
const query = (more: Record<string, string>, statement: string): string =>
  `/query?${new URLSearchParams({ query: statement, ...more }).toString()}`

describe('files', () => {
  it.each(['select *, random() as r from acme.goods', 'select sin(share) from acme.goods', 'show tables'])(
    'name none where there is no proof: %s',
    async (statement) => {
      const answer = await live.call(query({ format: 'Csv', limit: '4' }, statement))
      expect([answer.status, answer.headers['link']]).toEqual([200, undefined])
      expect((await live.call(query({ include: 'proof' }, statement))).status).toBe(422)
    },
  )

  it('of a tail name the query that proves the same rows', async () => {
    for (const [window, numbers] of [
      ['limit=2', [2, 3]],
      ['limit=2&skip=1', [1, 2]],
      ['limit=9', [0, 1, 2, 3]],
      ['limit=9&skip=9', []],
    ] as const) {
      const tail = await live.call(`/acme/goods/tail?dataFormat=NdJson&${window}`)
      const link = /^<([^>]+)>; rel="describedby"$/.exec(String(tail.headers['link']))?.[1]
      const proven = await live.call(must(link, 'a link'))
      expect(
        Array(proven.at('output.data'))
          .flat()
          .map((row) => (row as unknown[])[0]),
      ).toEqual(numbers)
      expect(proven.at('input.datasets.0.blockHash')).toBe(head)
      expect(
        tail.text
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line).offset),
      ).toEqual(numbers)
    }
  })

  it('of names that the request binds name them too', async () => {
    const id = must((await live.call('/acme/goods')).at('id'), 'an id')
    const bound = { alias: 'mine', id }
    const json = {
      query: 'select count(*) as c from mine join acme.goods using (offset)',
      dataFormat: 'NdJson',
      limit: 3,
    }
    for (const datasets of [[bound], [bound, { alias: 'acme/goods', id }]]) {
      const names = datasets.length === 1 ? json.query.replace('acme.goods', 'mine as other') : json.query
      const file = await live.call('/query', { method: 'POST', json: { ...json, query: names, datasets } })
      const link = /^<([^>]+)>/.exec(String(file.headers['link']))?.[1]
      const proven = await live.call(must(link, 'a link'))
      expect([proven.status, proven.at('output.data')]).toEqual([200, [[4]]])
      expect(proven.at('input.datasets.0.blockHash')).toBe(head)
    }
  })
})
