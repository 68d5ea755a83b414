// Damage of stored objects: the answer names the object and the way to find more, other datasets go on, and no wrong
// byte is served. Who may not read the dataset does not learn of it.

import { chmod, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sha3Hash } from '../../src/libraries/base/ids/identifiers.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { type Answer, type LiveNode, startLiveNode } from '../helpers/live-node.ts'

/** Datasets, each of two blocks with rows, and what is done to the files of each while no node runs. */
const damages = {
  'acme/block-gone': (store: Stored) => rm(store.object('blocks', 4)),
  'acme/blocks-gone': async (store: Stored) => {
    for (const name of await readdir(join(store.dir, 'blocks'))) await rm(join(store.dir, 'blocks', name))
  },
  'acme/private': (store: Stored) => rm(store.object('blocks', 4)),
  'acme/block-flipped': (store: Stored) => flip(store.object('blocks', 4)),
  'acme/commit-gone': (store: Stored) => rm(join(store.dir, 'commits', '3')),
  'acme/commit-torn': (store: Stored) => writeFile(join(store.dir, 'commits', '3'), '{'),
  'acme/name-torn': (store: Stored) => writeFile(store.name, '{'),
  'acme/slice-gone': (store: Stored) => rm(store.slice(1)),
  'acme/slice-flipped': (store: Stored) => flip(store.slice(1)),
  'acme/slice-cut': (store: Stored) => writeFile(store.slice(1), 'PAR1'),
  'acme/checkpoint-flipped': (store: Stored) => flip(store.checkpoint(1)),
} as const

interface Stored {
  readonly id: string
  /** The folder of the dataset. */
  readonly dir: string
  /** The file of its name. */
  readonly name: string
  readonly object: (kind: 'blocks', sequence: number) => string
  /** Of the first or second batch. */
  readonly slice: (batch: number) => string
  readonly checkpoint: (batch: number) => string
  readonly hashes: { readonly block: string; readonly slice: string; readonly checkpoint: string }
  readonly receiptId: string
}

let live: LiveNode
let whole: string
const stored = new Map<string, Stored>()

beforeAll(async () => {
  const before = await startLiveNode()
  const { dataDir } = before
  whole = `${dataDir}-kept`
  for (const alias of [...Object.keys(damages), 'acme/whole']) stored.set(alias, await fill(before, alias, whole))
  await before.node.stop()
  await rename(dataDir, whole)
  for (const [alias, damage] of Object.entries(damages)) await damage(of(alias))
  live = await startLiveNode({ data: whole })
})
afterAll(async () => {
  await live.stop()
  await rm(whole, { recursive: true, force: true })
})

function of(alias: string): Stored {
  return must(stored.get(alias), alias)
}

async function fill(node: LiveNode, alias: string, data: string): Promise<Stored> {
  const visibility = alias === 'acme/private' ? 'private' : 'public'
  await node.call(`/${alias}`, {
    method: 'PUT',
    json: {
      schema: {
        fields: [
          { name: 'n', type: 'Int64' },
          { name: 'geometry', type: 'String?' },
        ],
      },
      visibility,
    },
  })
  const geometry = '{"type":"Point","coordinates":[10,60]}'
  await node.ingest(alias, [{ n: 1, geometry }])
  const second = await node.ingest(alias, [{ n: 2, geometry }])
  const listed = await node.call(`/${alias}/blocks`)
  const blocks = listed.at('blocks') as { hash: string; event: Record<string, { physicalHash: string }> }[]
  const batches = blocks.slice(0, 2).reverse()
  const id = String((await node.call(`/${alias}/metadata`)).at('output.seed.datasetId'))
  const dir = join(data, 'store', 'datasets', id.replace('did:odf:', ''))
  const hash = (batch: number, member: string): string => batches[batch]?.event[member]?.physicalHash ?? ''
  return {
    id,
    dir,
    name: join(data, 'store', 'names', alias),
    object: (kind, sequence) => join(dir, kind, blocks[blocks.length - 1 - sequence]?.hash ?? ''),
    slice: (batch) => join(dir, 'data', hash(batch, 'newData')),
    checkpoint: (batch) => join(dir, 'checkpoints', hash(batch, 'newCheckpoint')),
    hashes: { block: blocks[0]?.hash ?? '', slice: hash(1, 'newData'), checkpoint: hash(1, 'newCheckpoint') },
    receiptId: String(second.at('receiptId')),
  }
}

async function flip(path: string): Promise<void> {
  const bytes = await readFile(path)
  const at = bytes.length >> 1
  bytes[at] = (bytes[at] ?? 0) ^ 1
  await chmod(path, 0o600)
  await writeFile(path, bytes)
}

/** The answer of a read of what is damaged. */
function expectDamage(answer: Answer, words: string): void {
  expect([answer.status, answer.at('error.kind'), answer.at('error.reason')]).toEqual([500, 'Internal', 'ChainBroken'])
  expect(answer.at('message')).toContain(words)
  expect(answer.at('hint')).toContain('proofstream fsck')
  expect(answer.at('retryable')).toBe(false)
  expect(answer.text).not.toContain(whole)
  expect(String(answer.at('message')).split('ChainBroken').length).toBeLessThanOrEqual(2)
}

const reads = ['/metadata', '/tail', '/refs/head', '/blocks']

test.each(['acme/slice-gone', 'acme/slice-flipped', 'acme/slice-cut'])(
  'no map is drawn of a slice that is damaged: %s',
  async (alias) => {
    const collection = `/ogc/collections/${alias.replace('/', ':')}`
    for (const path of ['', '/items?bbox=9,59,11,61', '/tiles/0/0/0.mvt']) {
      expectDamage(await live.call(collection + path), 'slice')
    }
    expect((await live.call('/ogc/collections/acme:whole/items?bbox=9,59,11,61')).at('numberReturned')).toBe(2)
  },
)

describe('a chain that is damaged', () => {
  test.each([
    [
      'acme/block-gone',
      (store: Stored) => `block ${store.object('blocks', 4).split('/').at(-1)} of acme/block-gone is missing`,
    ],
    [
      'acme/block-flipped',
      (store: Stored) => `block ${store.object('blocks', 4).split('/').at(-1)} of acme/block-flipped is damaged`,
    ],
    ['acme/blocks-gone', () => 'of acme/blocks-gone is missing'],
    ['acme/commit-gone', () => 'commit 3 of acme/commit-gone is missing'],
    ['acme/commit-torn', () => 'commit 3 of acme/commit-torn is damaged'],
    ['acme/name-torn', () => 'the name record of acme/name-torn is damaged'],
  ] as const)('is named, with the object, by every read of it: %s', async (alias, words) => {
    const said = words(of(alias))
    for (const path of reads) expectDamage(await live.call(`/${alias}${path}`), said)
    expectDamage(await live.query(`select count(*) from "${alias}"`), said)
    const refused = await live.ingest(alias, [{ n: 3 }])
    expect([refused.status, refused.at('error.kind')]).toEqual([503, 'LogUnavailable'])
    expect(refused.headers['retry-after']).toBe('30')
    expect(refused.at('message')).toMatch(/ChainBroken: /)
    expect(refused.at('message')).toContain(said)
  })

  test('is a missing one for who may not read it; a damaged name does not say that it was public', async () => {
    const other = { name: 'other', scopes: ['read', 'ingest'], datasets: ['other/*'] }
    const token = String((await live.call('/tokens', { method: 'POST', json: other })).at('token'))
    for (const [alias, caller] of [
      ['acme/private', token],
      ['acme/private', null],
      ['acme/name-torn', token],
      ['acme/name-torn', null],
    ] as const) {
      for (const path of reads) {
        const answer = await live.call(`/${alias}${path}`, { token: caller })
        expect([path, answer.status, answer.at('error.kind')]).toEqual([path, 404, 'DatasetNotFound'])
      }
      const answer = await live.query(`select 1 from "${alias}"`, {}, { token: caller })
      expect([answer.status, answer.at('error.kind')]).toEqual([404, 'DatasetNotFound'])
    }
    const headers = { 'content-type': 'application/json' }
    for (const alias of ['acme/block-gone', 'acme/private', 'acme/name-torn']) {
      const post = { method: 'POST', headers, body: '{"n":1}', token }
      const answer = await live.call(`/${alias}/ingest`, post)
      expect([alias, answer.status, answer.at('error.kind')]).toEqual([alias, 404, 'DatasetNotFound'])
    }
  })

  test('leaves slices and checkpoints that are whole to be fetched', async () => {
    for (const alias of ['acme/block-gone', 'acme/commit-torn']) {
      const { hashes } = of(alias)
      for (const path of [`data/${hashes.slice}`, `checkpoints/${hashes.checkpoint}`]) {
        const answer = await live.call(`/${alias}/${path}`)
        expect([answer.status, sha3Hash(answer.bytes)]).toEqual([200, path.split('/')[1]])
      }
      expectDamage(await live.call(`/${alias}/blocks/${hashes.block}`), alias)
      expectDamage(await live.call(`/${alias}/data/${hashes.block}`), alias)
    }
  })

  test('hides no other: they are listed, answer, and take rows', async () => {
    const listed = (await live.call('/datasets')).at('datasets') as { alias: string }[]
    expect(listed.map(({ alias }) => alias)).toEqual([
      'acme/checkpoint-flipped',
      'acme/slice-cut',
      'acme/slice-flipped',
      'acme/slice-gone',
      'acme/whole',
    ])
    const collections = (await live.call('/ogc/collections')).at('collections') as { title: string }[]
    expect(collections.map(({ title }) => title)).toEqual(listed.map(({ alias }) => alias))
    expect((await live.call(`/datasets/${of('acme/whole').id}`)).status).toBe(200)
    expectDamage(await live.call(`/datasets/${of('acme/block-gone').id}`), 'is missing')
    expect((await live.ingest('acme/whole', [{ n: 3 }])).at('status')).toBe('committed')
    expect((await live.query('select sum(n) from "acme/whole"')).at('output.data')).toEqual([[6]])
  })
})

describe('a slice that is damaged', () => {
  test.each([
    ['acme/slice-gone', 'is missing'],
    ['acme/slice-flipped', 'is damaged: its bytes have another hash'],
    ['acme/slice-cut', 'is damaged: 4 bytes, not'],
  ] as const)('is never read: %s', async (alias, how) => {
    const { hashes } = of(alias)
    const words = `slice ${hashes.slice} of ${alias} ${how}`
    expectDamage(await live.query(`select sum(n) from "${alias}"`), words)
    expectDamage(await live.call(`/${alias}/tail?limit=1`), words)
    expectDamage(await live.call(`/${alias}/data/${hashes.slice}`), `slice ${hashes.slice} of ${alias} is`)
  })

  test('leaves what does not need it: other rows, earlier blocks, metadata, blocks', async () => {
    const { hashes } = of('acme/slice-flipped')
    const tail = await live.call('/acme/slice-flipped/tail?skip=1&dataFormat=JsonAoa')
    expect([tail.status, tail.at('data.0.4')]).toEqual([200, 1])
    const blocks = (await live.call('/acme/slice-flipped/blocks')).at('blocks') as { hash: string }[]
    const datasets = [{ id: of('acme/slice-flipped').id, alias: 'd', blockHash: blocks[1]?.hash }]
    expect((await live.query('select sum(n) from d', { datasets })).at('output.data')).toEqual([[1]])
    expect((await live.call('/acme/slice-flipped/metadata?include=schema')).status).toBe(200)
    expect((await live.call(`/acme/slice-flipped/blocks/${hashes.block}`)).status).toBe(200)
    expect((await live.call(`/acme/slice-flipped/checkpoints/${hashes.checkpoint}`)).status).toBe(200)
  })
})

test('a checkpoint that is damaged is not served, no receipt is made of it, and no key is looked up in it', async () => {
  const { hashes, receiptId } = of('acme/checkpoint-flipped')
  const words = `checkpoint ${hashes.checkpoint} of acme/checkpoint-flipped is damaged`
  expectDamage(await live.call(`/acme/checkpoint-flipped/checkpoints/${hashes.checkpoint}`), words)
  expectDamage(await live.call(`/receipts/${receiptId}`), words)
  expect((await live.query('select sum(n) from "acme/checkpoint-flipped"')).at('output.data')).toEqual([[3]])
  const refused = await live.call('/acme/checkpoint-flipped/ingest', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': 'one' },
    body: '{"n":3}',
  })
  expect([refused.status, refused.at('error.kind')]).toEqual([503, 'LogUnavailable'])
  expect(refused.at('message')).toContain(`ChainBroken: ${words}`)
})

test('a slice that goes while the node runs is named as well', async () => {
  expect((await live.ingest('acme/going', [{ n: 1 }], '?create=true')).status).toBe(200)
  expect((await live.query('select sum(n) from "acme/going"')).at('output.data')).toEqual([[1]])
  const id = String((await live.call('/acme/going/metadata')).at('output.seed.datasetId'))
  const data = join(whole, 'store', 'datasets', id.replace('did:odf:', ''), 'data')
  for (const name of await readdir(data)) await rm(join(data, name))
  expectDamage(await live.query('select max(n) from "acme/going"'), 'of acme/going is missing')
  expectDamage(await live.call('/acme/going/tail'), 'of acme/going is missing')
})
