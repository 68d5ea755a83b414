// Query parameters of ingest: visibility of a dataset that is made, misspelt ones, foreign ones.

import { describe, expect, it } from 'vitest'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()

const send = (alias: string, query: string, body = '{"a":1}\n'): Promise<Answer> =>
  live.call(`/${alias}/ingest${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=20' },
    body,
  })

describe('visibility', () => {
  it('is that of a dataset that is made', async () => {
    for (const [name, query, expected] of [
      ['plain', '?create=true', 'public'],
      ['open', '?create=true&visibility=public', 'public'],
      ['hidden', '?create=true&visibility=private', 'private'],
    ] as const) {
      expect((await send(`vis/${name}`, query)).status).toBe(200)
      const list = await live.call('/datasets?account=vis')
      expect(list.at('datasets')).toContainEqual(
        expect.objectContaining({ alias: `vis/${name}`, visibility: expected }),
      )
      expect((await live.call(`/vis/${name}/tail`, { token: null })).status).toBe(expected === 'public' ? 200 : 404)
      expect((await send(`vis/${name}`, query)).status).toBe(200)
    }
  })

  it('that a dataset does not have stores nothing', async () => {
    await send('vis/known', '?create=true')
    const answer = await send('vis/known', '?create=true&visibility=private')
    expect(answer.refusal).toBe('409 DatasetExists')
    expect((await live.call('/vis/known/tail')).at('data.length')).toBe(1)
  })

  it('holds when two make it at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        send('vis/race', `?create=true&visibility=${i % 2 === 0 ? 'private' : 'public'}`),
      ),
    )
    const list = await live.call('/datasets?account=vis')
    const made = Object(list.at('datasets')).find((one: { alias: string }) => one.alias === 'vis/race')
    for (const [i, { status }] of answers.entries()) {
      expect(status).toBe((i % 2 === 0 ? 'private' : 'public') === made.visibility ? 200 : 409)
    }
  })

  it.each([
    '?visibility=private',
    '?create=false&visibility=private',
    '?create=true&visibility=secret',
    '?create=true&visibility=private&visibility=public',
  ])('is refused where it cannot be honoured: %s', async (query) => {
    const answer = await send('vis/none', query)
    // A dataset that is missing is told first.
    const expected = query.includes('create=true') ? [400, 'InvalidParameter'] : [404, 'DatasetNotFound']
    expect([answer.status, answer.at('error.kind')]).toEqual(expected)
    expect((await send('vis/plain', query)).status).toBe(400)
  })
})

describe('a parameter that is none of ours', () => {
  it.each([
    ['Visibility', 'visibility'],
    ['eventtimeunit', 'eventTimeUnit'],
    ['event_time_unit', 'eventTimeUnit'],
    ['unknownfields', 'unknownFields'],
    ['unknownField', 'unknownFields'],
    ['dryrun', 'dryRun'],
    ['creat', 'create'],
    ['CREATE', 'create'],
    ['timezone', 'timeZone'],
    ['integer', 'integers'],
  ])('but nearly one is refused: %s', async (name, meant) => {
    const answer = await send('par/goods', `?create=true&${name}=true`)
    expect(answer.refusal).toBe('400 InvalidParameter')
    expect(answer.at('candidates')).toEqual([meant])
    expect((await live.call('/par/goods/tail')).status).toBe(404)
  })

  it('is ignored, and told', async () => {
    const answer = await send('par/goods', '?create=true&event=up&source=lora&x=1')
    expect([answer.status, answer.at('ignoredParameters')]).toEqual([200, ['event', 'source', 'x']])
    const dry = await send('par/goods', '?dryRun=true&port=2')
    expect(dry.at('ignoredParameters')).toEqual(['port'])
    expect((await send('par/goods', '')).at('ignoredParameters')).toBeUndefined()
  })
})

describe('a name in SQL that lacks its quotes', () => {
  it('is told with them', async () => {
    await send('lab/readings-v1', '?create=true')
    const answer = await live.query('select * from lab/readings-v1')
    expect(answer.refusal).toBe('400 SqlSyntax')
    expect(answer.at('hint')).toContain('"lab/readings-v1"')
    expect((await live.query('select * from "lab/readings-v1"')).status).toBe(200)
    expect((await live.query('select * frm x')).at('hint')).toBeUndefined()
  })
})
