// A node in the memory of a small machine, which a cgroup of the kernel bounds: bodies of many columns, one and several at
// once, what is refused, and a start with a full log. The kernel ends it at no time, and a second caller is answered meanwhile.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { memoryCgroup } from '../helpers/memory-cgroup.ts'
import { programPath, tunedProgram } from '../helpers/run-node.ts'
import { SmallNode } from '../helpers/small-node.ts'
import { bodiesOf, manyColumns } from '../helpers/wide-bodies.ts'

const MiB = 1024 * 1024

let open: { node: SmallNode; dir: string } | undefined

async function smallNode(bytes: number, program: readonly string[] = [programPath]): Promise<SmallNode | undefined> {
  const group = memoryCgroup(bytes)
  if (group === undefined) return undefined
  const dir = await mkdtemp(join(tmpdir(), 'proofstream-small-'))
  const node = new SmallNode(group, dir)
  open = { node, dir }
  await node.start(program)
  return node
}

afterEach(async () => {
  await open?.node.end('SIGTERM')
  open?.node.group.remove()
  if (open !== undefined) await rm(open.dir, { recursive: true })
  open = undefined
})

const wide = { rows: 250, columns: manyColumns, some: manyColumns }
const sparse = { rows: 1000, columns: manyColumns, some: 20 }
const several = ['ndjson', 'csv', 'line protocol']

test('bodies of many columns, one and three at once', async () => {
  const node = await smallNode(512 * MiB)
  if (node === undefined) return
  expect(await node.environment()).toEqual(expect.arrayContaining(['MALLOC_ARENA_MAX=2']))
  for (const shape of [wide, sparse]) {
    for (const [name, body] of Object.entries(bodiesOf(shape))) {
      const dataset = `${name.replace(' ', '-')}-${shape.some}`
      const told = await node.ingest(dataset, body, true)
      expect([name, told].join(' ')).toMatch(several.includes(name) ? /taken$/ : /taken$|413 BodyTooLarge$/)
      if (!several.includes(name)) continue
      const three = Array.from({ length: 3 }, () => node.ingest(dataset, body))
      for (const told of await node.second()) expect(told).toMatch(/^taken$|^503 Saturated$|^429 QuotaExceeded$/)
      for (const told of await Promise.all(three)) expect([name, told].join(' ')).toMatch(/taken$|503 Saturated$/)
    }
  }
  expect(await node.second()).toEqual(['taken', 'taken'])
  expect(node.group.kills()).toBe(0)
})

test('what is refused costs little', async () => {
  const node = await smallNode(512 * MiB)
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

test('a start gets through a full log, none of whose rows are in a block', async () => {
  const never = { openAgeMs: 3_600_000, waitAgeMs: 3_600_000 }
  const node = await smallNode(512 * MiB, tunedProgram({ cut: never }))
  if (node === undefined) return
  const taken: string[] = []
  // Each as large as a block may be that is built beside others.
  for (const [name, body] of Object.entries(bodiesOf(sparse)).filter(([format]) => several.includes(format))) {
    for (let i = 0; i < 3; i++) {
      const dataset = `${name.replace(' ', '-')}-${i}`
      const told = await node.ingest(dataset, body)
      expect([name, told].join(' ')).toMatch(/taken$|503 Saturated$/)
      if (told === 'taken') taken.push(dataset)
    }
  }
  expect(taken.length).toBeGreaterThan(7)
  await node.end('SIGKILL')
  await node.start()
  for (const dataset of taken) await expect.poll(() => node.rows(dataset)).toBe(sparse.rows)
  expect(await node.second()).toEqual(['taken', 'taken'])
  expect(node.group.kills()).toBe(0)
})
