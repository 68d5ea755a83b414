// `geometry=lon,lat`: two fields of the records are the point of a column of geometries, made with the dataset and kept.

import { tableFromArrays, tableToIPC } from 'apache-arrow'
import { describe, expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()

const csv = 'text/csv'
const ndjson = 'application/x-ndjson'
const rows = 'name,lat,lon\noslo,59.91,10.75\nsuva,-18.14,178.44\nnone,,1.5\n'

const post = (alias: string, type: string, body: string | Uint8Array, query = '?create=true&geometry=lon,lat') =>
  live.call(`/${alias}/ingest${query}`, { method: 'POST', body, headers: { 'content-type': type, prefer: 'wait=20' } })

async function geometries(alias: string): Promise<unknown[]> {
  const { json } = await live.query(`SELECT geometry FROM "${alias}" ORDER BY "offset"`)
  const data = (json as { output: { data: (string | null)[][] } }).output.data
  return data.map(([text]) => (typeof text === 'string' ? (JSON.parse(text).coordinates as unknown) : null))
}

describe('a batch that makes a dataset', () => {
  test('makes a column of geometries, and both numbers stay', async () => {
    const answer = await post('acme/made', csv, rows)
    expect([answer.status, answer.at('status')]).toEqual([200, 'committed'])
    expect(await geometries('acme/made')).toEqual([[10.75, 59.91], [178.44, -18.14], null])
    const features = await live.call('/ogc/collections/acme:made/items?bbox=10,59,11,60')
    expect(features.at('features.0.properties')).toMatchObject({ name: 'oslo', lat: 59.91, lon: 10.75 })
    expect((await live.call('/ogc/collections/acme:made/queryables')).at('properties.geometry.format')).toBe(
      'geometry-any',
    )
  })

  test('is remembered: later batches have points without saying it', async () => {
    expect((await post('acme/made', csv, 'name,lat,lon\napia,-13.83,-171.76\n', '')).status).toBe(200)
    expect((await post('acme/made', ndjson, '{"LAT":1.5,"LON":2.5}\n{"name":"x"}\n', '')).status).toBe(200)
    expect((await geometries('acme/made')).slice(3)).toEqual([[-171.76, -13.83], [2.5, 1.5], null])
    const far = await post('acme/made', csv, 'name,lat,lon\nfar,91,0\n', '')
    expect([far.status, far.at('errors.0.kind')]).toEqual([422, 'InvalidGeometry'])
  })

  test('a dry run shows the column, and stores nothing', async () => {
    const answer = await post('acme/dry', csv, rows, '?create=true&dryRun=true&geometry=lon,lat')
    const { fields } = (answer.json as { schema: { fields: { name: string; type: unknown; extra?: unknown }[] } })
      .schema
    expect(fields.find(({ name }) => name === 'geometry')?.extra).toEqual({ 'proofstream.dev/point': ['lon', 'lat'] })
    expect((await live.call('/acme/dry')).status).toBe(404)
  })

  test.each([
    [
      'json',
      'application/json',
      JSON.stringify([
        { lat: 59.91, lon: 10.75 },
        { lat: null, lon: 1 },
      ]),
      '',
    ],
    ['flat', ndjson, '{"p":{"lat":59.91,"lon":10.75}}\n{"p":{"lon":1}}\n', '&flatten=true'],
    ['texts', ndjson, '{"lat":"59.91","lon":"10.75"}\n{"lat":"1"}\n', ''],
    ['tsv', 'text/tab-separated-values', 'lat\tlon\n59.91\t10.75\n\t1.5\n', ''],
    [
      'arrow',
      'application/vnd.apache.arrow.stream',
      tableToIPC(tableFromArrays({ lat: [59.91, null], lon: [10.75, 1.5] }), 'stream'),
      '',
    ],
  ])('of %s has points', async (name, type, body, more) => {
    const names = name === 'flat' ? 'p_lon,p_lat' : 'lon,lat'
    const answer = await post(`formats/${name}`, type, body, `?create=true&geometry=${names}${more}`)
    expect(answer.status).toBe(200)
    expect(await geometries(`formats/${name}`)).toEqual([[10.75, 59.91], null])
  })

  test('of many rows has them all, in threads too', async () => {
    const many = Array.from({ length: 60_000 }, (_, i) => `s${i},${(i % 180) - 89.5},${(i % 360) - 179.5}`)
    const body = `name,lat,lon\n${many.join('\n')}\n`
    expect((await post('acme/many', csv, body)).status).toBe(200)
    expect((await post('acme/many', csv, body, '')).status).toBe(200)
    const sql = `SELECT count(*), count(*) FILTER (st_x(geometry) = lon AND st_y(geometry) = lat) FROM "acme/many"`
    expect((await live.query(sql)).at('output.data')).toEqual([[120_000, 120_000]])
  })

  test('keeps a geometry that a record brings', async () => {
    const own = '{"lat":1,"lon":2,"geometry":"{\\"type\\":\\"Point\\",\\"coordinates\\":[5,6]}"}\n{"lat":3,"lon":4}\n'
    expect((await post('acme/own', ndjson, own)).status).toBe(200)
    expect(await geometries('acme/own')).toEqual([
      [5, 6],
      [4, 3],
    ])
  })
})

describe('what is no place', () => {
  test('is refused by record, with its field', async () => {
    const body = 'lat,lon\n1,2\n90.5,1\n3,361\nNaN,1\n'
    const answer = await post('bad/range', csv, body)
    expect([answer.status, answer.at('error.kind'), answer.at('errorsTotal')]).toEqual([422, 'RecordsDoNotFit', 3])
    const errors = answer.at('errors') as { record: number; column: string; kind: string }[]
    expect(errors.map(({ record, column, kind }) => [record, column, kind])).toEqual([
      [1, 'lat', 'InvalidGeometry'],
      [2, 'lon', 'InvalidGeometry'],
      [3, 'lat', 'WrongType'],
    ])
    expect((await live.call('/bad/range')).status).toBe(404)
  })

  test('is refused where it is a text', async () => {
    const answer = await post('bad/text', ndjson, '{"lat":"north","lon":1}\n{"lat":"1","lon":1}\n')
    expect([answer.at('errors.0.record'), answer.at('errors.0.kind'), answer.at('errors.0.column')]).toEqual([
      0,
      'WrongType',
      'lat',
    ])
  })

  test.each([
    ['?create=true&geometry=lon', 'Name two fields'],
    ['?create=true&geometry=lon,lat,z', 'Name two fields'],
    ['?create=true&geometry=lon,LON', 'Name two fields'],
    ['?create=true&geometry=', 'one value'],
    ['?create=true&geometry=lon,altitude', 'geometry=<longitude>,<latitude>'],
    ['?create=true&Geometry=lon,lat', 'Write geometry'],
  ])('%s is 400', async (query, hint) => {
    const answer = await post('bad/query', csv, rows, query)
    expect([answer.refusal, answer.at('hint')]).toEqual(['400 InvalidParameter', expect.stringContaining(hint)])
  })

  test('a field of truth values is none', async () => {
    const answer = await post('bad/bool', ndjson, '{"lat":true,"lon":1}\n')
    expect([answer.refusal, answer.at('message')]).toEqual([
      '400 InvalidParameter',
      expect.stringContaining("'lat', which holds Bool"),
    ])
  })
})

test('a stream stores what comes before a record without a place, and names it', async () => {
  await post('acme/stream', csv, rows)
  const body = '{"lat":1,"lon":2}\n{"lat":3,"lon":4}\n\n{"lat":95,"lon":4}\n{"lat":5,"lon":6}\n'
  const answer = await live.call('/acme/stream/stream', { method: 'POST', body, headers: { 'content-type': ndjson } })
  expect(answer.text).toContain('InvalidGeometry')
  expect(answer.text).toContain('Record 3 does not fit')
  const stored = async (): Promise<unknown> => (await geometries('acme/stream')).slice(3)
  await expect.poll(stored).toEqual([
    [2, 1],
    [4, 3],
  ])
})

describe('addresses of other protocols', () => {
  test('have no points: the parameter is refused, and rows have no geometry', async () => {
    const body = 'm lat=1.5,lon=2.5 1760000000000000000\n'
    const write = (query: string) => live.call(`/api/v2/write?bucket=acme/lines${query}`, { method: 'POST', body })
    expect((await write('&geometry=lon,lat')).status).toBe(400)
    expect((await post('acme/lines', 'text/x-line-protocol', body)).status).toBe(200)
    expect((await write('')).status).toBe(204)
    await expect.poll(() => geometries('acme/lines')).toEqual([[2.5, 1.5], null])
  })
})

describe('a dataset that exists', () => {
  test('without a column of geometries gets none, and the refusal says what to do', async () => {
    await post('acme/plain', csv, rows, '?create=true')
    for (const query of ['?geometry=lon,lat', '?create=true&geometry=lon,lat', '?unknownFields=add&geometry=lon,lat']) {
      const answer = await post('acme/plain', csv, rows, query)
      expect([answer.refusal, answer.at('hint')]).toEqual([
        '400 InvalidParameter',
        expect.stringContaining('Leave it out'),
      ])
    }
  })

  test('with one takes points of the fields that a request names', async () => {
    const fields = ['geometry', 'x', 'y'].map((name) => ({ name, type: name === 'geometry' ? 'String?' : 'Float64?' }))
    await live.call('/acme/declared', { method: 'PUT', json: { schema: { fields } } })
    expect((await post('acme/declared', ndjson, '{"x":1.5,"y":2.5}\n', '?geometry=x,y')).status).toBe(200)
    expect((await post('acme/declared', ndjson, '{"x":1.5,"y":2.5}\n', '')).status).toBe(200)
    expect(await geometries('acme/declared')).toEqual([[1.5, 2.5], null])
    expect((await post('acme/made', csv, rows, '?geometry=lat,lon')).status).toBe(400)
  })

  test('can be declared with the attribute', async () => {
    const geometry = { name: 'geometry', type: 'String?', extra: { 'proofstream.dev/point': ['x', 'y'] } }
    const fields = [geometry, { name: 'x', type: 'Float64?' }, { name: 'y', type: 'Float64?' }]
    const made = await live.call('/acme/attribute', { method: 'PUT', json: { schema: { fields } } })
    expect(made.status).toBe(201)
    expect((await post('acme/attribute', ndjson, '{"x":1.5,"y":2.5}\n', '')).status).toBe(200)
    expect(await geometries('acme/attribute')).toEqual([[1.5, 2.5]])
  })
})
