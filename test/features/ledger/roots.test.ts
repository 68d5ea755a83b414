// The roots in entries, recomputed from the outside: that of batches from receipts and the bodies that were sent, that of rows
// from what /tail prints. A block of an older release has none.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { concatBytes, toHex, u64Bytes, utf8 } from '../../../src/libraries/base/bytes.ts'
import { sha256 } from '../../../src/libraries/base/ids/native-crypto.ts'
import { canonicalBytes } from '../../../src/libraries/base/json/canonical.ts'
import { fromPlain, parseJson } from '../../../src/libraries/base/json/json.ts'
import type { JsonValue } from '../../../src/libraries/base/json/value.ts'
import { datasetTag, noRoot, parseEntry } from '../../../src/libraries/ledger/entry.ts'
import { batchSalt, rowSalt } from '../../../src/libraries/ledger/roots.ts'
import { allSecrets, datasetSaltOf, secretOf } from '../../../src/libraries/ledger/secrets.ts'
import { entriesOfBundle, tileIn, tileName } from '../../../src/libraries/ledger/tiles.ts'
import { leafHash, treeRoot } from '../../../src/libraries/ledger/tree.ts'
import { decodeCheckpoint } from '../../../src/libraries/odf/chain/checkpoint.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode({ 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s' })

interface Entered {
  readonly secret: Uint8Array
  readonly batchRoot: string
  readonly rowRoot: string
}

/** Secret and roots of all blocks of a dataset, once all are entered. */
async function enteredOf(alias: string): Promise<Entered[]> {
  const about = await live.call(`/${alias}`)
  const id = String(about.at('id'))
  const blocks = Number(about.at('blocks'))
  for (;;) {
    const key = await readFile(join(live.dataDir, 'store/ledger-keys', id.slice('did:odf:'.length))).catch(
      () => undefined,
    )
    const found = key === undefined ? [] : await entriesOf(toHex(datasetTag(datasetSaltOf(key), id)))
    if (key !== undefined && found.length === blocks) {
      return found.map((entry) => ({ ...entry, secret: secretOf(allSecrets(key), entry.sequence) ?? new Uint8Array() }))
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function entriesOf(tag: string) {
  const size = Number((await live.call('/ledger', { token: null })).at('size'))
  const entries = []
  for (let index = 0; index * 256 < size; index++) {
    const tile = tileIn(size, 'entries', index)
    if (tile === undefined) break
    const bundle = await live.call(`/ledger/${tileName(tile)}`, { token: null })
    if (bundle.status === 200) entries.push(...entriesOfBundle(bundle.bytes, tile.width).map(parseEntry))
  }
  return entries.flatMap((entry) => {
    if (entry.kind !== 'block' || toHex(entry.datasetTag) !== tag) return []
    return [{ sequence: entry.sequence, batchRoot: toHex(entry.batchRoot), rowRoot: toHex(entry.rowRoot) }]
  })
}

/** By the words of the specification: SHA-256(u64 count ‖ RFC 6962 over salt ‖ canonical JSON). */
function rootOver(leaves: readonly (readonly [salt: Uint8Array, record: JsonValue])[]): string {
  const tree = treeRoot(leaves.map(([salt, record]) => leafHash(concatBytes([salt, canonicalBytes(record)]))))
  return toHex(sha256(concatBytes([u64Bytes(leaves.length), tree])))
}

test('the batch root is over the outcomes of the block and the bodies as they were sent', async () => {
  const bodies = ['{"city":"Oslo","size":7}\n', '{"city":"Rome","size":8}\n{"city":"Kyiv","size":9}\n']
  for (const body of bodies) {
    const headers = { 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
    const sent = await live.call('/acme/batches/ingest?create=true', { method: 'POST', headers, body: utf8(body) })
    expect(sent.status).toBe(200)
  }
  const entered = await enteredOf('acme/batches')
  const ids = await batchIds(String((await live.call('/acme/batches')).at('id')))
  const withBatches = entered.filter(({ batchRoot }) => batchRoot !== toHex(noRoot))
  expect(withBatches).toHaveLength(2)
  for (const [at, { secret, batchRoot }] of withBatches.entries()) {
    const bodyHash = `f1220${toHex(sha256(utf8(bodies[at] ?? '')))}`
    const offsets = at === 0 ? { start: 0, end: 0 } : { start: 1, end: 2 }
    const record = fromPlain({ id: ids[at], bodyHash, status: 'committed', offsets })
    expect(batchRoot).toBe(rootOver([[batchSalt(secret, 0), record]]))
  }
  expect(new Set(entered.map(({ rowRoot }) => rowRoot))).toEqual(new Set([toHex(noRoot)]))
})

/** Ids of the batches of a dataset, out of its checkpoints. */
async function batchIds(dataset: string): Promise<string[]> {
  const folder = join(live.dataDir, 'store/datasets', dataset.slice('did:odf:'.length), 'checkpoints')
  const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))))
  const checkpoints = files.map((bytes) => decodeCheckpoint(bytes)).sort((a, b) => a.number - b.number)
  return checkpoints.flatMap(({ outcomes }) => outcomes.map(({ id }) => id))
}

test('the row root is over what /tail prints, of all kinds of columns, from when the dataset asks for it', async () => {
  const types = ['Bool', 'Int8', 'Int16', 'Int32', 'Int64', 'UInt8', 'UInt16', 'UInt32', 'UInt64', 'Float32', 'Float64']
  const more = ['String', 'Binary', 'Date', 'Decimal(18,4)', 'Timestamp(Microsecond)', 'List(Int32?)', 'List(String)']
  const fields = [...types, ...more].map((type, at) => ({ name: `c${at}`, type: `${type}?` }))
  expect((await live.call('/acme/rows', { method: 'PUT', json: { schema: { fields } } })).status).toBe(201)
  const numbers = '-128 -32768 -2147483648 -9223372036854775808 255 65535 4294967295 18446744073709551615 0.1 1e-7'
  const values = ['true', ...numbers.split(' '), '"Zoë \\"q\\" \\\\ \u2028"', '"00ff"', '"1969-12-31"', '"-12345.6789"']
  values.push('"1969-12-31T23:59:59.999001Z"', '[1,null,-3]', '["a","\\"",""]')
  const row = `{${values.map((value, at) => `"c${at}":${value}`).join()}}\n`
  const post = async (body: string): Promise<void> => {
    const headers = { 'content-type': 'application/x-ndjson', prefer: 'wait=20' }
    expect((await live.call('/acme/rows/ingest', { method: 'POST', headers, body: utf8(body) })).status).toBe(200)
  }
  await post(row)
  await live.call('/acme/rows', { method: 'PATCH', json: { proofs: 'rows' } })
  await post(`${row}{}\n{"c9":-0,"c10":1e300,"c11":"","c16":[]}\n`)
  const entered = (await enteredOf('acme/rows')).filter(({ rowRoot }) => rowRoot !== toHex(noRoot))
  expect(entered.length).toBeGreaterThanOrEqual(1)
  const tail = parseJson((await live.call('/acme/rows/tail?limit=3')).bytes)
  const rows = tail instanceof Map ? tail.get('data') : undefined
  const data = Array.isArray(rows) ? rows : []
  expect(data).toHaveLength(3)
  const { secret, rowRoot } = entered.at(-1) ?? { secret: new Uint8Array(), rowRoot: '' }
  expect(rowRoot).toBe(rootOver(data.map((record, at) => [rowSalt(secret, 1 + at), record])))
})
