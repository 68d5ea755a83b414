// Parquet files that lie, over HTTP: each is refused in words, with what to do, and nothing of it is stored, in a new dataset
// or in one that is there. How each lie is found is a matter of test/libraries/columnar/parquet.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'
import { craft, oneColumn } from '../../libraries/columnar/parquet/craft.ts'

const live = await liveNode()

const int32 = Uint8Array.of(1, 0, 0, 0)
const sound = oneColumn({ entries: 1, body: int32 })

function footerLength(bytes: number): Uint8Array {
  const changed = Uint8Array.from(sound)
  new DataView(changed.buffer).setUint32(changed.length - 8, bytes, true)
  return changed
}

const columns = Array.from({ length: 10_000 }, (_, i) => ({ name: `c${i}`, type: 1, repetition: 0 }))
const structs = Array.from({ length: 300 }, (_, i) => ({ name: `s${i}`, repetition: 1, children: 1 }))
const encrypted = Uint8Array.from(sound)
encrypted.set(Buffer.from('PARE'))
encrypted.set(Buffer.from('PARE'), encrypted.length - 4)
const fixture = (name: string): Uint8Array => readFileSync(new URL(`../../fixtures/parquet/${name}`, import.meta.url))

const bodies: readonly (readonly [string, Uint8Array, string])[] = [
  ['a truncated footer', sound.subarray(0, -3), '400 MalformedBody'],
  ['a footer length that lies', footerLength(7), '400 MalformedBody'],
  ['a footer longer than the file', footerLength(2 ** 31), '400 MalformedBody'],
  ['a page header that lies', oneColumn({ entries: 1, body: int32, inflatedBytes: 999 }), '400 MalformedBody'],
  ['a page beyond its column', oneColumn({ entries: 1, body: int32, storedBytes: 999 }), '400 MalformedBody'],
  ['a wrong checksum', oneColumn({ entries: 1, body: int32, crc: 7 }), '400 MalformedBody'],
  ['a bomb in a page', oneColumn({ entries: 1, body: int32, inflatedBytes: 400_000_000 }), '413 BodyTooLarge'],
  ['10,000 columns', craft({ schema: columns, groups: [] }), '422 RecordsDoNotFit'],
  ['a schema without end', craft({ schema: structs, rootChildren: 1, groups: [] }), '415 UnsupportedEncoding'],
  ['an encrypted file', encrypted, '415 UnsupportedEncoding'],
  ['geometries of another system', fixture('geo-3857.parquet'), '422 UnsupportedCrs'],
]

await live.ingest('acme/held', [{ n: 1, geometry: '{"type":"Point","coordinates":[1,2]}' }], '?create=true')
const head = await live.head('acme/held')

test.each(bodies)('%s', async (_, body, refusal) => {
  const headers = { 'content-type': 'application/vnd.apache.parquet', prefer: 'wait=20' }
  for (const path of ['/acme/bad/ingest?create=true', '/acme/held/ingest']) {
    const answer = await live.call(path, { method: 'POST', headers, body })
    expect([path, answer.refusal]).toEqual([path, refusal])
    expect(answer.at('hint')).toBeTruthy()
  }
  expect((await live.call('/acme/bad/tail')).refusal).toBe('404 DatasetNotFound')
  expect(await live.head('acme/held')).toBe(head)
})
