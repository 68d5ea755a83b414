// What PUT sets of a dataset beside its columns: freshness, as told, as refused, as compared by a repeat.

import { describe, expect, it } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const put = (path: string, json: object) => live.call(path, { method: 'PUT', json })
const schema = {
  fields: ['city:String', 'day:Date'].map((text) => ({ name: text.split(':')[0], type: text.split(':')[1] })),
}

describe('PUT with freshness', () => {
  it('makes a dataset that tells it wherever it is told of', async () => {
    const set = { freshness: '90000ms' }
    const made = await put('/acme/set', { schema, ...set })
    expect(made.status).toBe(201)
    const told = { freshness: '90s' }
    expect((await live.call('/acme/set')).json).toMatchObject(told)
    expect((await live.call(`/datasets/${String(made.at('id'))}`)).json).toMatchObject(told)
    expect((await live.call('/datasets?account=acme')).at('datasets.0')).toMatchObject(told)
  })

  it('is repeated by the same values however they are written, and by no others', async () => {
    const repeats = [
      [200, { schema, freshness: '90s' }],
      [409, { schema, freshness: '91s' }],
      [409, { schema }],
    ] as const
    for (const [status, body] of repeats) expect((await put('/acme/set', body)).status).toBe(status)
  })

  it('leaves a dataset without them as it was: nothing is told', async () => {
    await put('/acme/plain', { schema })
    const told = Object.keys(Object((await live.call('/acme/plain')).json))
    expect(told).not.toContain('freshness')
    expect((await put('/acme/plain', { schema, freshness: '60s' })).refusal).toBe('409 DatasetExists')
  })

  it.each([['100ms'], ['24h'], ['1440m'], ['7s']])('takes %s', async (freshness) => {
    expect((await put(`/acme/takes-${freshness}`, { freshness })).status).toBe(201)
  })

  it.each([
    ['99ms'],
    ['86401s'],
    ['25h'],
    ['0s'],
    ['1d'],
    ['5'],
    ['5 s'],
    ['-5s'],
    ['1.5s'],
    [''],
    [5],
    [null],
    [['5s']],
  ])('refuses the freshness %j with the bounds', async (freshness) => {
    const answer = await put('/acme/refused', { freshness })
    expect(answer.refusal).toBe('422 InvalidRequest')
    expect(answer.text).toContain('from 100ms to 24h')
    expect((await live.call('/acme/refused')).status).toBe(404)
  })
})
