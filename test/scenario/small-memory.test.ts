// A node in the memory of small machines, which a cgroup of the kernel bounds: bodies of many columns and of many rows, one and
// several at once, what is refused, and a start with a full log. The kernel ends it at no time, and a second caller is answered
// meanwhile. SMALL_MEMORY=all, as in `npm run explore`, tries each shape in each size, and sizes between.

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
const long = { rows: 100_000, columns: 8, some: 8 }
/** Their values take little memory beside the columns: they fit in any size. */
const easy = ['ndjson', 'csv', 'line protocol']
const isAll = process.env['SMALL_MEMORY'] === 'all'
/** The smallest, and the first in which a node has what it has in more. */
const everyMiB = isAll ? [512, 1024, 1536, 2048] : [512, 2048]

test.each(everyMiB)('in %i MiB bodies of many columns or rows, one and several at once', async (mebibytes) => {
  const node = await smallNode(mebibytes * MiB)
  if (node === undefined) return
  const arenas = (await node.environment()).filter((one) => one.startsWith('MALLOC_ARENA_MAX='))
  expect(arenas).toEqual(mebibytes < 2048 ? ['MALLOC_ARENA_MAX=2'] : [])
  const isSmallest = mebibytes === 512
  for (const shape of isAll ? [wide, sparse, long] : isSmallest ? [wide, sparse] : [wide, long]) {
    for (const [name, body] of Object.entries(bodiesOf(shape))) {
      const dataset = `${name.replace(' ', '-')}-${shape.rows}`
      const isEasy = easy.includes(name)
      const told = await node.ingest(dataset, body, true)
      expect([name, told].join(' ')).toMatch(isEasy ? /taken$/ : /taken$|413 BodyTooLarge$/)
      if (told !== 'taken' || (isSmallest && !isEasy)) continue
      const more = Array.from({ length: isSmallest ? 3 : 6 }, () => node.ingest(dataset, body))
      for (const told of await node.second()) expect(told).toMatch(/^taken$|^503 Saturated$|^429 QuotaExceeded$/)
      for (const told of await Promise.all(more)) expect([name, told].join(' ')).toMatch(/taken$|503 Saturated$/)
    }
  }
  // What GET /limits says is what holds.
  const { verifyBytes = 0 } = await node.limits()
  const digits = Array.from({ length: verifyBytes / 8 }, (_, i) => 10_000_000 + i).join('')
  const proof = (bytes: number) => ({ type: 'application/json', bytes: utf8(`{"a":"${digits.slice(0, bytes - 8)}"}`) })
  expect(await node.post('/verify', proof(verifyBytes), { repeats: true })).toBe('422 InvalidRequest')
  expect(await node.post('/verify', proof(verifyBytes + 1), { repeats: true })).toBe('413 BodyTooLarge')
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

test.each(everyMiB)(
  'in %i MiB a start gets through a full log, none of whose rows are in a block',
  async (mebibytes) => {
    const never = { openAgeMs: 3_600_000, waitAgeMs: 3_600_000 }
    const node = await smallNode(mebibytes * MiB, tunedProgram({ cut: never }))
    if (node === undefined) return
    const taken: string[] = []
    // Each as large as a block may be that is built beside others.
    for (const [name, body] of Object.entries(bodiesOf(sparse)).filter(([format]) => easy.includes(format))) {
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
  },
)
