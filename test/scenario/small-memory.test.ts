// A node in the memory of a small machine, which a cgroup of the kernel bounds: bodies of many columns and long ones in every
// format, one and several at once, what is refused, and a start with a full log. The kernel ends it at no time, and a second
// caller is answered meanwhile.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { memoryCgroup } from '../helpers/memory-cgroup.ts'
import { SmallNode } from '../helpers/small-node.ts'
import { bodiesOf, manyColumns } from '../helpers/wide-bodies.ts'

const MiB = 1024 * 1024

let open: { node: SmallNode; dir: string } | undefined

async function nodeWith(bytes: number): Promise<SmallNode | undefined> {
  const group = memoryCgroup(bytes)
  if (group === undefined) return undefined
  const dir = await mkdtemp(join(tmpdir(), 'proofstream-small-'))
  const node = new SmallNode(group, dir)
  open = { node, dir }
  await node.start()
  return node
}

afterEach(async () => {
  await open?.node.end('SIGTERM')
  open?.node.group.remove()
  if (open !== undefined) await rm(open.dir, { recursive: true })
  open = undefined
})

const wide = { rows: 250, columns: manyColumns, some: manyColumns }
const sparse = { rows: 250, columns: manyColumns, some: 40 }
const long = { rows: 20_000, columns: 8, some: 8 }

test.each([
  ['512 MiB', 512 * MiB, [wide, sparse, long]],
  ['1 GiB', 1024 * MiB, [sparse]],
])('every format, one body and six at once, in %s', async (_, bytes, shapes) => {
  const node = await nodeWith(bytes)
  if (node === undefined) return
  for (const [number, shape] of shapes.entries()) {
    for (const [name, body] of Object.entries(bodiesOf(shape))) {
      const dataset = `${name.replace(' ', '-')}-${number}`
      expect([name, await node.ingest(dataset, body, true)]).toEqual([name, 'taken'])
      if (shape === long) continue
      const six = Array.from({ length: 6 }, () => node.ingest(dataset, body))
      await node.second()
      for (const told of await Promise.all(six))
        expect([name, told].join(' ')).toMatch(/taken$|503 Saturated$|429 QuotaExceeded$/)
    }
  }
  expect(node.group.kills()).toBe(0)
})

test('what is refused costs little, in 512 MiB', async () => {
  const node = await nodeWith(512 * MiB)
  if (node === undefined) return
  const diagonal = utf8(Array.from({ length: 9000 }, (_, i) => `{"c${i % manyColumns}":1}\n`).join(''))
  const proofs = [64 * MiB, 4 * MiB].map((bytes) => utf8(`{"output":[${'{},'.repeat(bytes / 3)}{}]}`))
  for (let round = 0; round < 2; round++) {
    const refused = Array.from({ length: 8 }, (_, i) =>
      node.ingest(`refused-${i}`, { type: 'application/x-ndjson', bytes: diagonal }),
    )
    for (const told of await node.second()) expect(told).toMatch(/^taken$|^503 Saturated$/)
    for (const told of await Promise.all(refused)) expect(told).toMatch(/^413 BodyTooLarge$|^503 Saturated$/)
    for (const bytes of proofs) {
      const asked = Array.from({ length: 6 }, () =>
        node.post('/verify', { type: 'application/json', bytes }, { anonymous: true }),
      )
      for (const told of await node.second()) expect(told).toMatch(/^taken$|^503 Saturated$/)
      for (const told of await Promise.all(asked)) expect(told).toMatch(/^413 BodyTooLarge$|^4\d\d |^503 Saturated$/)
    }
  }
  expect(node.group.kills()).toBe(0)
})

test.each([
  ['512 MiB', 512 * MiB],
  ['1 GiB', 1024 * MiB],
])('a start gets through a full log, in %s', async (_, bytes) => {
  const node = await nodeWith(bytes)
  if (node === undefined) return
  const body = bodiesOf({ ...sparse, rows: 1000 })['line protocol']
  if (body === undefined) throw new Error('there is line protocol')
  for (let i = 0; i < 6; i++)
    expect(await node.post(`/a/full-${i % 2}/ingest?create=true`, body, { repeats: true })).toBe('taken')
  for (let i = 0; i < 3; i++) {
    await node.end('SIGKILL')
    await node.start()
  }
  for (const dataset of ['full-0', 'full-1']) await expect.poll(() => node.rows(dataset)).toBe(3000)
  expect(await node.second()).toEqual(['taken', 'taken'])
  expect(node.group.kills()).toBe(0)
})
