// GET /datasets: words that find datasets among all that a caller may read, and the orders of the list, page by page.

import { describe, expect, it } from 'vitest'
import { type Call, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const about = (description: string, keywords: readonly string[] = []): object => ({
  info: { kind: 'SetInfo', description, keywords },
})
const made: readonly (readonly [name: string, rows: number, body: object])[] = [
  ['find/air', 3, about('Temperature of the air, Überlingen')],
  ['find/noise', 1, about('Noise at night', ['temperature'])],
  ['find/rain', 5, about('Rain by the hour')],
  ['find/river-level', 0, about('Nothing yet')],
  ['find/secret-air', 9, { ...about('Temperature of a secret'), visibility: 'private' }],
]
for (const [name, rows, body] of made) {
  await live.call(`/${name}`, { method: 'PUT', json: body })
  if (rows > 0)
    await live.ingest(
      name,
      Array.from({ length: rows }, (_, n) => ({ n })),
      '?create=true',
    )
}

const names = (aliases: string): string[] => aliases.split(' ').map((name) => `find/${name}`)
const found = async (query: string, call: Call = {}): Promise<string[]> => {
  const { json } = await live.call(`/datasets?account=find&${query}`, call)
  return (json as { datasets: { alias: string }[] }).datasets.map(({ alias }) => alias)
}

describe('a search', () => {
  it.each([
    ['q=AIR', 'air secret-air'],
    ['q=temperature', 'air noise secret-air'],
    ['q=find/r', 'rain river-level'],
    ['q=temperature+secret', 'secret-air'],
    ['q=%C3%BCberlingen', 'air'],
    ['q=+', 'air noise rain river-level secret-air'],
    ['q=temperature&sort=rows', 'secret-air air noise'],
    ['q=r&limit=1&after=find/noise', 'rain'],
  ])('%s finds names, descriptions and keywords with all of its words', async (query, expected) => {
    expect(await found(query)).toEqual(names(expected))
  })

  it('finds what lies behind the first page, and nothing for a word that is nowhere', async () => {
    expect(await found('q=hour&limit=1')).toEqual(names('rain'))
    expect(await found('q=%25')).toEqual([])
  })

  it('finds nothing that the caller may not read', async () => {
    expect(await found('q=temperature', { token: null })).toEqual(names('air noise'))
    expect(await found('q=secret', { token: null })).toEqual([])
  })
})

describe('an order', () => {
  it.each([
    ['name', 'air noise rain river-level secret-air'],
    ['rows', 'secret-air rain air noise river-level'],
    ['newest', 'secret-air river-level rain noise air'],
  ])('by %s goes on page by page with each dataset once', async (sort, expected) => {
    const seen: string[] = []
    let path: string | undefined = `/datasets?account=find&limit=2&sort=${sort}`
    while (path !== undefined) {
      const page = await live.call(path)
      seen.push(...(page.json as { datasets: { alias: string }[] }).datasets.map(({ alias }) => alias))
      path = /^<([^>]*)>/.exec(String(page.headers['link'] ?? ''))?.[1]
    }
    expect(seen).toEqual(names(expected))
  })

  it('has no place after a dataset that is not in the list, hidden ones included', async () => {
    const after = async (name: string): Promise<unknown> => {
      const answer = await live.call(`/datasets?sort=rows&after=find/${name}`, { token: null })
      return [answer.refusal, String(answer.at('detail')).replace(name, '…')]
    }
    expect(await after('secret-air')).toEqual(['400 InvalidParameter', expect.stringContaining('find/…')])
    expect(await after('secret-air')).toEqual(await after('nowhere'))
  })

  it('is one of three', async () => {
    expect((await live.call('/datasets?sort=size')).refusal).toBe('400 InvalidParameter')
  })
})
