// Which version of a file a reader of parts gets: the one that it began with, and a newer one as soon as it begins again.

import { EventEmitter } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import type { OpenFile } from '../../../src/node/answers/files.ts'
import { Readings } from '../../../src/node/http/readings.ts'
import { handClock } from '../../helpers/hand-clock.ts'

/** Each request finds a newer file; they are called by the number of the request that was the first to get them. */
function reader() {
  const clock = handClock()
  const readings = new Readings(clock)
  let asked = 0
  return async (what: string, { afterMs = 0, leavesOpen = false, ifRange = '' } = {}): Promise<string | undefined> => {
    await clock.advance(afterMs)
    const raw = new EventEmitter()
    const headers = what === 'HEAD' ? {} : { range: what, ...(ifRange === '' ? {} : { 'if-range': ifRange }) }
    const request = { method: what === 'HEAD' ? 'HEAD' : 'GET', headers, url: '/a/b/export' }
    const newest = { tag: String(++asked), heads: [] } as unknown as OpenFile
    const of = { reader: 'one', newest, isThere: () => true }
    // Of both, no more is read than is given here.
    const file = readings.versionFor(request as unknown as FastifyRequest, { raw } as unknown as FastifyReply, of)
    if (!leavesOpen) raw.emit('close')
    return file.tag
  }
}

describe.each(['bytes=0-', 'bytes=0-99', 'HEAD', 'bytes=-8'])('a reader that comes again and again with %s', (what) => {
  test('gets a newer file after a pause, and within a minute where it makes none', async () => {
    const ask = reader()
    expect(await ask(what)).toBe('1')
    expect(await ask(what, { afterMs: 5_001 })).toBe('2')
    const polled: unknown[] = []
    for (let n = 0; n < 40; n++) polled.push(await ask(what, { afterMs: 2_000 }))
    expect(new Set(polled).size).toBeGreaterThan(1)
  })
})

test('the first bytes for the second time are a newer file, unless a validator says otherwise', async () => {
  const ask = reader()
  expect(await ask('bytes=0-')).toBe('1')
  expect(await ask('bytes=0-', { ifRange: '"1"' })).toBe('1')
  expect(await ask('bytes=0-')).toBe('3')
  expect(await ask('bytes=100-199', { afterMs: 600_000 })).toBe('3')
  expect(await ask('bytes=0-', { ifRange: '"3"' })).toBe('5')
})

test('the length, then all bytes from the first on, are of one file, as often as it is opened', async () => {
  const ask = reader()
  for (const _ of [1, 2]) {
    for (const what of ['HEAD', 'bytes=0-99', 'bytes=100-199', 'bytes=-8']) expect(await ask(what)).toBe('1')
  }
})

test('a reader beside one that is under way gets the same file', async () => {
  const ask = reader()
  expect(await ask('bytes=0-', { leavesOpen: true })).toBe('1')
  expect(await ask('bytes=0-', { afterMs: 20_000 })).toBe('1')
})

test('other parts belong to the file that was begun with for an hour', async () => {
  const ask = reader()
  expect(await ask('HEAD')).toBe('1')
  expect(await ask('bytes=4-99', { afterMs: 3_600_000 })).toBe('1')
  expect(await ask('bytes=4-99', { afterMs: 3_600_001 })).toBe('3')
})
