// Saved queries: statements under names, whose parameters stand in their addresses; who may run, see, save and delete them.

import { describe, expect, it } from 'vitest'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const rows = [
  { device: 's1', celsius: 20.5 },
  { device: 's2', celsius: 21.5 },
  { device: 's1', celsius: 22.5 },
]
for (const alias of ['acme/readings', 'acme/other', 'acme/brief', 'acme/renamed'])
  await live.ingest(alias, rows, '?create=true')
await live.call('/acme/secret', { method: 'PUT', json: { visibility: 'private' } })
await live.ingest('acme/secret', [{ a: 1 }])

async function makeToken(scopes: readonly string[], datasets?: readonly string[]): Promise<string> {
  const json = { name: 'test', scopes, ...(datasets && { datasets }) }
  return String((await live.call('/tokens', { method: 'POST', json })).at('token'))
}

async function save(name: string, query: string, more: object = {}, token?: string): Promise<Answer> {
  const json = { query, ...more }
  return await live.call(`/q/${name}`, { method: 'PUT', json, ...(token !== undefined && { token }) })
}

/** The rows of an address, for anybody. */
async function rowsAt(address: string): Promise<unknown> {
  return (await live.call(address, { token: null })).at('output.data')
}

async function namesFor(token: string | null): Promise<unknown> {
  const { json } = await live.call('/q', { token })
  return (json as { queries: { name: string }[] }).queries.map(({ name }) => name)
}

const byDevice =
  'select device, celsius from acme.readings where device = $device and celsius > $above order by celsius'

describe('a saved query', () => {
  it('answers at its address, with values of the address over those that were saved', async () => {
    const parameters = { device: 's1', above: 0 }
    const saved = await save('by-device', byDevice, { about: 'One device', parameters })
    expect(saved.status).toBe(201)
    expect(saved.json).toMatchObject({ name: 'by-device', query: byDevice, about: 'One device', parameters })
    expect(await rowsAt('/q/by-device')).toEqual([
      ['s1', 20.5],
      ['s1', 22.5],
    ])
    expect(await rowsAt('/q/by-device?above=21')).toEqual([['s1', 22.5]])
    await save('without', byDevice)
    expect(await rowsAt('/q/without?above=21&device=s1')).toEqual([['s1', 22.5]])
    expect(await rowsAt('/q/by-device?param.device=s2')).toEqual([['s2', 21.5]])
    const csv = await live.call('/q/by-device?device=s2&format=Csv', { token: null })
    expect(csv.text.split('\r\n')).toEqual(['device,celsius', 's2,21.5', ''])
  })

  it('has as many rows as the value of its LIMIT says', async () => {
    await save('long', 'select range from range(500), (select count(*) from acme.readings) limit $n', {
      parameters: { n: 150 },
    })
    expect(await rowsAt('/q/long')).toHaveLength(150)
    expect(await rowsAt('/q/long?n=400')).toHaveLength(400)
    expect(await rowsAt('/q/long?n=400&limit=3')).toHaveLength(3)
  })

  it('has a proof that verifies, of the values in force', async () => {
    await save('proven', byDevice, { parameters: { device: 's1', above: 0 } })
    const proven = await live.call('/q/proven?above=21&include=proof')
    expect(proven.at('input.parameters')).toEqual({ device: 's1', above: 21 })
    const verdict = await live.call('/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: proven.text,
    })
    expect(verdict.at('ok')).toBe(true)
  })

  it.each([
    ['/q/typed?above=warm', "The value of $above is 'warm', which is no number."],
    ['/q/typed?above=1e999', 'The value of $above is larger than a double holds.'],
    ['/q/typed?abowe=1', 'A value is given for $abowe, and the statement has no such parameter.'],
    ['/q/typed?format=Html', "dataFormat is 'Html'."],
    ['/q/typed?limit=x', 'limit'],
    ['/q/typed?above=1&above=2', 'above'],
    ['/q/typed?above=1&param.above=2', 'The value of $above is given twice.'],
    ['/q/typed?Above=1&above=2', 'The value of $above is given twice.'],
    ['/q/untyped', 'The statement has the parameter $device, for which there is no value.'],
  ])('says what is wrong with %s', async (address, detail) => {
    await save('typed', byDevice, { parameters: { device: 's1', above: 0 } })
    await save('untyped', byDevice, { parameters: { above: 0 } })
    const answer = await live.call(address)
    expect(answer.refusal).toBe('400 InvalidParameter')
    expect(answer.at('message')).toContain(detail)
  })

  it('takes the place of the one that has its name, and is gone when it is deleted', async () => {
    expect((await save('brief', 'select count(*) as n from acme.readings')).status).toBe(201)
    expect((await save('brief', 'select max(celsius) as most from acme.readings')).status).toBe(200)
    expect(await rowsAt('/q/brief')).toEqual([[22.5]])
    expect(await namesFor(null)).toContain('brief')
    expect((await live.call('/q/brief', { method: 'DELETE' })).status).toBe(204)
    expect(await namesFor(null)).not.toContain('brief')
    expect((await live.call('/q/brief')).refusal).toBe('404 SavedQueryNotFound')
    expect((await live.call('/q/brief', { method: 'DELETE' })).refusal).toBe('404 SavedQueryNotFound')
  })

  it.each([
    ['select 1 as one', {}, '422 InvalidRequest'],
    ['show tables', {}, '422 InvalidRequest'],
    ['select * from acme.readings where celsius > $limit', {}, '422 InvalidRequest'],
    ['select * from acme.readings where device = $pin', {}, '422 InvalidRequest'],
    ['select * from acme.readings, information_schema.tables', {}, '422 InvalidRequest'],
    ['select * from acme.readings where device = $a', { parameters: { a: 'x'.repeat(40_000) } }, '422 InvalidRequest'],
    ['select * from acme.readings', { parameters: { device: 's1' } }, '422 InvalidRequest'],
    ['select * from acme.readings', { title: 'x' }, '422 InvalidRequest'],
    ['select * frm acme.readings', {}, '400 SqlSyntax'],
    ['drop table acme.readings', {}, '400 QueryNotAllowed'],
    ['select * from acme.none', {}, '404 DatasetNotFound'],
  ])('is not made of %s with %j', async (query, more, refusal) => {
    expect((await save('wrong', query, more)).refusal).toBe(refusal)
    expect((await live.call('/q/wrong')).refusal).toBe('404 SavedQueryNotFound')
  })

  it.each(['Upper', 'under_score', 'a--b', '-a', 'a.b', 'a'.repeat(101), '%2e%2e'])('is not named %s', async (name) => {
    expect((await save(name, 'select * from acme.readings')).refusal).toBe('400 InvalidName')
    expect((await live.call(`/q/${name}`)).refusal).toBe('404 SavedQueryNotFound')
  })

  it('never asks another dataset that takes the name of its own', async () => {
    await save('sure', 'select count(*) as n from acme.brief')
    expect(await rowsAt('/q/sure')).toEqual([[3]])
    expect((await live.call('/acme/brief?grace=0s', { method: 'DELETE', headers: { 'if-match': '*' } })).status).toBe(
      200,
    )
    await live.ingest('acme/brief', [{ device: 'other', celsius: 0 }], '?create=true')
    expect((await live.call('/q/sure', { token: null })).refusal).toBe('404 SavedQueryNotFound')
    expect(await namesFor(null)).not.toContain('sure')
    expect((await live.call('/q/sure')).refusal).toBe('404 DatasetNotFound')
    expect((await live.call('/q/sure', { method: 'DELETE' })).status).toBe(204)
  })

  it('is one of a name, however many save it at once', async () => {
    const maker = await makeToken(['read', 'create'], ['acme/other'])
    for (let round = 0; round < 8; round++) {
      const answers = await Promise.all([
        save(`race-${round}`, 'select count(*) as n from acme.readings'),
        save(`race-${round}`, 'select count(*) as n from acme.other', {}, maker),
      ])
      const [byAdmin, byMaker] = answers.map(({ status }) => status)
      // Who was second replaced what he may, or was refused.
      expect([
        [201, 403],
        [200, 201],
      ]).toContainEqual([byAdmin, byMaker])
    }
  })

  it('is listed in pages', async () => {
    const all = (await namesFor(null)) as string[]
    const found: string[] = []
    for (let next: string | undefined = ''; next !== undefined;) {
      const { json } = await live.call(`/q?limit=3&after=${next}`, { token: null })
      const page = json as { queries: { name: string }[]; next?: string }
      expect(page.queries.length).toBeLessThanOrEqual(3)
      found.push(...page.queries.map(({ name }) => name))
      next = page.next
    }
    expect(found).toEqual(all)
    expect((await live.call('/q?limit=0')).refusal).toBe('400 InvalidParameter')
  })

  it('says how a dataset is called that was renamed', async () => {
    await save('old-name', 'select count(*) as n from acme.renamed')
    await live.call('/acme/renamed', { method: 'PATCH', json: { alias: 'acme/moved' } })
    const answer = await live.call('/q/old-name')
    expect(answer.refusal).toBe('422 InvalidRequest')
    expect(answer.at('message')).toContain("'acme/moved'")
  })
})

describe('who', () => {
  it('may not read all that a query asks does not learn of it', async () => {
    await save('hidden', 'select * from acme.secret, acme.readings')
    const reader = await makeToken(['read'], ['acme/*'])
    const other = await makeToken(['read'], ['other/*'])
    expect((await live.call('/q/hidden', { token: reader })).status).toBe(200)
    expect(await namesFor(reader)).toContain('hidden')
    for (const token of [null, other]) {
      expect((await live.call('/q/hidden', { token })).refusal).toBe('404 SavedQueryNotFound')
      expect(await namesFor(token)).not.toContain('hidden')
    }
    expect((await live.call('/q/hidden', { method: 'DELETE', token: other })).refusal).toBe('404 SavedQueryNotFound')
    expect(await namesFor(await makeToken(['create'], ['acme/secret']))).not.toContain('hidden')
  })

  it('may make all of its datasets saves and deletes it, and nobody else', async () => {
    const maker = await makeToken(['read', 'create'], ['acme/other'])
    const reader = await makeToken(['read'])
    const query = 'select count(*) as n from acme.other'
    expect((await save('of-maker', query, {}, reader)).refusal).toBe('403 Forbidden')
    expect((await save('of-maker', query, {}, maker)).status).toBe(201)
    expect((await save('wider', 'select 1 as one from acme.other, acme.readings', {}, maker)).refusal).toBe(
      '403 Forbidden',
    )
    await save('of-admin', 'select count(*) as n from acme.readings')
    expect((await save('of-admin', query, {}, maker)).refusal).toBe('403 Forbidden')
    expect((await live.call('/q/of-admin', { method: 'DELETE', token: maker })).refusal).toBe('403 Forbidden')
    expect((await live.call('/q/of-maker', { method: 'DELETE', token: reader })).refusal).toBe('403 Forbidden')
    expect((await live.call('/q/of-maker', { method: 'DELETE', token: null })).refusal).toBe('401 Unauthenticated')
    expect((await live.call('/q/of-maker', { method: 'DELETE', token: maker })).status).toBe(204)
  })
})
