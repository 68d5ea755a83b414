// The door under load: answers larger than what it may hold, readers that are slow, many connections, and statements that fail in the
// midst of their rows.

import { describe, expect, test } from 'vitest'
import { freePort } from '../../helpers/free-port.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { connected, type PgClient, type PgError } from './pg.ts'
import * as raw from './raw-client.ts'

const port = await freePort()
const live = await liveNode({ 'pg-listen': `127.0.0.1:${port}` })
const rows = Array.from({ length: 200_000 }, (_, n) => ({ n, word: n === 149_999 ? 'none' : String(n) }))
await live.ingest('demo/many', rows, '?create=true')

const MiB = 1024 * 1024

/** Counts messages of an answer as its bytes come, and holds none of them. */
class Counter {
  readonly counts = new Map<string, number>()
  bytes = 0
  /** Of the message whose rest has not come. */
  #rest = 0
  #head = Buffer.alloc(0)

  push(chunk: Buffer): void {
    this.bytes += chunk.length
    let at = 0
    while (at < chunk.length) {
      const passed = Math.min(this.#rest, chunk.length - at)
      this.#rest -= passed
      at += passed
      if (at === chunk.length) return
      const taken = chunk.subarray(at, at + 5 - this.#head.length)
      this.#head = Buffer.concat([this.#head, taken])
      at += taken.length
      if (this.#head.length < 5) return
      const letter = String.fromCharCode(this.#head[0] ?? 0)
      this.counts.set(letter, (this.counts.get(letter) ?? 0) + 1)
      this.#rest = this.#head.readInt32BE(1) - 4
      this.#head = Buffer.alloc(0)
    }
  }
}

/** Reads an answer piece by piece, with a turn of the loop between, up to ReadyForQuery; the memory that this process had at most. */
async function readSlowly(one: raw.RawClient): Promise<{ readonly counter: Counter; readonly rss: number }> {
  const counter = new Counter()
  let rss = 0
  const socket = one.socket.removeAllListeners('data')
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    // `as`: the socket has no encoding.
    counter.push(chunk as Buffer)
    rss = Math.max(rss, process.memoryUsage.rss())
    if (counter.counts.has('Z')) break
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return { counter, rss }
}

describe('turns', () => {
  test('of others come between the statements of one text, and between messages', async () => {
    const [many, one] = [await raw.RawClient.session(port), await raw.RawClient.session(port)]
    const message = Buffer.concat([raw.parse('show jit'), raw.bind(), raw.execute()])
    for (const much of [
      [raw.query('set a.b = 1;'.repeat(5000))],
      [...Array.from({ length: 4000 }, () => message), raw.sync],
    ]) {
      const order: string[] = []
      many.send(...much)
      one.send(raw.query('show jit'))
      await Promise.all([many.until('Z').then(() => order.push('many')), one.until('Z').then(() => order.push('one'))])
      expect(order).toEqual(['one', 'many'])
    }
    for (const client of [many, one]) client.end()
  })

  test('values and texts that are too long are refused before they are read', async () => {
    const one = await raw.RawClient.session(port)
    const values = [`{${'1,'.repeat(200_000)}1}`]
    expect(await one.ask(raw.parse('select $1', '', [1007]), raw.bind({ values }), raw.sync)).toEqual([
      '1',
      'E 54000',
      'Z I',
    ])
    expect(await one.ask(raw.query(`select '{',${'1,'.repeat(400_000)}1`))).toEqual(['E 54000', 'Z I'])
    one.end()
  })
})

describe('large answers', () => {
  test('200,000 rows of a kilobyte to a slow reader, in bounded memory', async () => {
    const one = await raw.RawClient.session(port)
    const before = process.memoryUsage.rss()
    one.send(raw.query(`select n, repeat('x', 1000) as word from "demo/many"`))
    const { counter, rss } = await readSlowly(one)
    one.end()
    expect(Object.fromEntries(counter.counts)).toEqual({ T: 1, D: 200_000, N: 1, C: 1, Z: 1 })
    expect(counter.bytes).toBeGreaterThan(200_000 * 1_000)
    expect((rss - before) / MiB).toBeLessThan(96)
  })

  test('all rows, each once, in their order', async () => {
    const client = await connected({ port })
    const { rows: told } = await client.query('select n, word from "demo/many" order by n')
    await client.end()
    const first = told.findIndex(
      ({ n, word }, at) => n !== String(at) || word !== (at === 149_999 ? 'none' : String(at)),
    )
    expect([told.length, first]).toEqual([200_000, -1])
  })

  test('COPY, and a portal of a thousand rows at a time', async () => {
    const one = await raw.RawClient.session(port)
    one.send(raw.query('copy (select n from "demo/many" order by n) to stdout'))
    const told = await one.until('Z')
    const lines = told.filter(({ letter }) => letter === 'd').map(({ body }) => body.toString('latin1'))
    expect(lines.join('')).toBe(rows.map(({ n }) => `${n}\n`).join(''))
    expect(told.slice(-4).map(raw.brief)).toEqual(['c', 'N 00000', 'C COPY 200000', 'Z I'])
    await one.ask(raw.query('begin'), raw.parse('select n from "demo/many"'), raw.bind({ portal: 'p' }))
    let count = 0
    for (;;) {
      const some = await one.ask(raw.execute('p', 1_000), raw.sync)
      count += some.filter((line) => line.startsWith('D')).length
      if (!some.includes('s')) break
    }
    expect(count).toBe(200_000)
    one.end()
  })
})

test('a hundred connections at once: each has its own answer, or is told to ask again', async () => {
  const clients = await Promise.all(Array.from({ length: 100 }, () => connected({ port })))
  const ask = async (client: PgClient, at: number): Promise<unknown> =>
    (await client.query('select n, word from "demo/many" where n = $1', [at])).rows[0]
  const answers = await Promise.all(
    clients.map(async (client, at) => {
      for (;;) {
        const answer = await ask(client, at).catch((error: PgError) => error.code)
        if (!String(answer).startsWith('53')) return answer
      }
    }),
  )
  expect(answers).toEqual(clients.map((_, at) => ({ n: String(at), word: String(at) })))
  await Promise.all(clients.map((client) => client.end()))
})

describe('a statement that fails in the midst of its rows', () => {
  const sql = 'select n, word::bigint as w from "demo/many" order by n'
  const unordered = 'select n, word::bigint as w from "demo/many"'
  const letters = async (...bytes: readonly Uint8Array[]): Promise<string> => {
    const one = await raw.RawClient.session(port)
    one.send(...bytes)
    const told = await one.until('Z')
    one.end()
    return told
      .map(({ letter }) => letter)
      .join('')
      .replaceAll(/D+/g, 'D')
      .replaceAll(/d+/g, 'd')
  }
  const extended = (of: string): Buffer[] => [raw.parse(of), raw.bind(), raw.describe('P'), raw.execute(), raw.sync]

  test.each<[what: string, told: RegExp, bytes: readonly Buffer[]]>([
    ['simple', /^TD?EZ$/, [raw.query(unordered)]],
    ['sorted', /^T?D?EZ$/, [raw.query(sql)]],
    ['extended', /^12TD?EZ$/, extended(unordered)],
    ['COPY', /^H?d?EZ$/, [raw.query(`copy (${unordered}) to stdout`)]],
    ['cursor', /^CTD?EZ$/, [raw.query(`declare c cursor with hold for ${unordered}; fetch all from c`)]],
  ])('ends with an error, never with a tag: %s', async (_, told, bytes) => {
    expect(await letters(...bytes)).toMatch(told)
  })

  test('rows came before it', async () => {
    expect(await letters(raw.query(unordered))).toBe('TDEZ')
  })

  // The value is not what the cast takes, wherever in the answer it is: 22P02, and nothing of the node has failed.
  test('says what the value was', async () => {
    const one = await raw.RawClient.session(port)
    expect((await one.ask(raw.query(unordered))).slice(-2)).toEqual(['E 22P02', 'Z I'])
  })

  test('is not a failure of the node where it is asked for again', async () => {
    const one = await raw.RawClient.session(port)
    await one.ask(raw.query(`declare c cursor with hold for ${unordered}; fetch all from c`))
    expect(await one.ask(raw.query('fetch all from c'))).not.toContain('E XX000')
  })
})
