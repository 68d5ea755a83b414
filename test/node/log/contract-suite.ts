// What every event log promises, whatever it is made of. Run against each adapter.

import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { EventLog, LogEntry } from '../../../src/node/log/event-log.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (entry: LogEntry): string => new TextDecoder().decode(entry.bytes)

/** All entries from `from` to the end as it is now. */
export async function readAll(log: EventLog, from = 0): Promise<LogEntry[]> {
  const out: LogEntry[] = []
  for await (const entries of log.read(0, from, { follow: false })) out.push(...entries)
  return out
}

export function describeEventLog(name: string, open: () => Promise<EventLog>): void {
  describe(`${name} as an event log`, () => {
    const opened: EventLog[] = []
    const openOne = async (): Promise<EventLog> => {
      const log = await open()
      opened.push(log)
      return log
    }
    afterEach(async () => {
      for (const log of opened.splice(0)) await log.close()
    })

    test('numbers messages from 0 without gaps and keeps one call contiguous', async () => {
      const log = await openOne()
      expect(await log.append(0, [bytesOf('a'), bytesOf('b')])).toBe(0)
      expect(await log.append(0, [bytesOf('c')])).toBe(2)
      const entries = await readAll(log)
      expect(entries.map(({ position }) => position)).toEqual([0, 1, 2])
      expect(entries.map(textOf)).toEqual(['a', 'b', 'c'])
      expect(await log.range(0)).toEqual({ start: 0, end: 3 })
    })

    test('stores calls made at the same moment once each, in the order of the calls', async () => {
      const log = await openOne()
      const firsts = await Promise.all(
        Array.from({ length: 500 }, (_, i) => log.append(0, [bytesOf(`${i}a`), bytesOf(`${i}b`)])),
      )
      expect(firsts).toEqual(Array.from({ length: 500 }, (_, i) => 2 * i))
      const texts = (await readAll(log)).map(textOf)
      expect(texts).toEqual(Array.from({ length: 500 }, (_, i) => [`${i}a`, `${i}b`]).flat())
    })

    test('gives back any bytes unchanged, empty messages included', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(fc.uint8Array({ maxLength: 3000 }), { minLength: 1, maxLength: 5 }), { maxLength: 8 }),
          async (calls) => {
            const log = await open()
            try {
              for (const call of calls) await log.append(0, call)
              const expected = calls.flat()
              const entries = await readAll(log)
              expect(entries.map(({ bytes }) => Buffer.from(bytes))).toEqual(
                expected.map((bytes) => Buffer.from(bytes)),
              )
              for (const [position, bytes] of expected.entries()) {
                const got = await log.get(0, position)
                expect(got === undefined ? undefined : Buffer.from(got)).toEqual(Buffer.from(bytes))
              }
            } finally {
              await log.close()
            }
          },
        ),
        { numRuns: 15 },
      )
    })

    test('reads in steps of about 1 MiB', async () => {
      const log = await openOne()
      for (let i = 0; i < 30; i++) await log.append(0, [new Uint8Array(300_000).fill(i)])
      let next = 0
      for await (const entries of log.read(0, 0, { follow: false })) {
        let total = 0
        for (const { position, bytes } of entries) {
          expect(position).toBe(next)
          expect(bytes[0]).toBe(next)
          next++
          total += bytes.length
        }
        expect(entries.length).toBeGreaterThan(0)
        expect(total).toBeLessThanOrEqual(1024 * 1024)
      }
      expect(next).toBe(30)
    })

    test('stops at the end seen when asked not to follow', async () => {
      const log = await openOne()
      await log.append(0, [bytesOf('a'), bytesOf('b')])
      const seen: string[] = []
      for await (const entries of log.read(0, 1, { follow: false })) {
        seen.push(...entries.map(textOf))
        await log.append(0, [bytesOf('later')])
      }
      expect(seen).toEqual(['b'])
      const atEnd = await readAll(log, (await log.range(0)).end)
      expect(atEnd).toEqual([])
    })

    test('wakes followers for each append and lets them go when they are told to stop', async () => {
      const log = await openOne()
      const follow = async (from: number): Promise<string[]> => {
        const stop = new AbortController()
        const seen: string[] = []
        for await (const entries of log.read(0, from, { signal: stop.signal })) {
          seen.push(...entries.map(textOf))
          if (seen.at(-1) === 'last') stop.abort()
        }
        return seen
      }
      const followers = [follow(0), follow(0)]
      for (const text of ['a', 'b', 'last']) await log.append(0, [bytesOf(text)])
      expect(await Promise.all(followers)).toEqual([
        ['a', 'b', 'last'],
        ['a', 'b', 'last'],
      ])
    })

    test('lets a follower that waits at the end go when its signal aborts', async () => {
      const log = await openOne()
      const stop = new AbortController()
      const step = log.read(0, 0, { signal: stop.signal })[Symbol.asyncIterator]().next()
      stop.abort()
      expect((await step).done).toBe(true)
    })

    test('halts a reader that starts beyond the end', async () => {
      const log = await openOne()
      await log.append(0, [bytesOf('a')])
      await expect(readAll(log, 2)).rejects.toMatchObject({ name: 'HaltError', reason: 'LogRegressed' })
    })

    test('gives nothing for positions that are not there', async () => {
      const log = await openOne()
      await log.append(0, [bytesOf('a')])
      expect(await log.get(0, 1)).toBeUndefined()
      expect(await log.get(0, -1)).toBeUndefined()
    })

    test('keeps the message below the floor and halts a reader that starts below what is kept', async () => {
      const log = await openOne()
      for (let i = 0; i < 40; i++) await log.append(0, [bytesOf(`message ${i}`)])
      await log.release(0, 0)
      expect(await log.range(0)).toEqual({ start: 0, end: 40 })
      await log.release(0, 30)
      const { start, end } = await log.range(0)
      expect(start).toBeLessThanOrEqual(29)
      expect(end).toBe(40)
      expect(textOf({ position: 29, bytes: (await log.get(0, 29)) ?? new Uint8Array(0) })).toBe('message 29')
      expect((await readAll(log, start)).map(({ position }) => position)).toEqual(
        Array.from({ length: end - start }, (_, i) => start + i),
      )
      await expect(readAll(log, start - 1)).rejects.toMatchObject({ name: 'HaltError', reason: 'LogTruncated' })
      expect(await log.get(0, start - 1)).toBeUndefined()
      await log.release(0, 40)
      expect(await log.get(0, 39)).toBeDefined()
      expect(await log.append(0, [bytesOf('next')])).toBe(40)
    })

    test('finishes appends in flight at close, then refuses more and ends its followers', async () => {
      const log = await open()
      const followed: string[] = []
      const follower = (async () => {
        for await (const entries of log.read(0, 0, {})) followed.push(...entries.map(textOf))
      })()
      const under = Array.from({ length: 20 }, (_, i) => log.append(0, [bytesOf(String(i))]))
      await log.close()
      await log.close()
      expect(await Promise.all(under)).toEqual(Array.from({ length: 20 }, (_, i) => i))
      await follower
      expect(followed).toEqual(Array.from({ length: 20 }, (_, i) => String(i)))
      await expect(log.append(0, [bytesOf('late')])).rejects.toMatchObject({ kind: 'LogUnavailable' })
    })

    test('has an identity of its own', async () => {
      const [one, two] = [await openOne(), await openOne()]
      expect(one.id).not.toBe(two.id)
      expect(one.id).toMatch(/^[0-9a-f]{32}$/)
    })
  })
}
