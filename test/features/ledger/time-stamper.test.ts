// When an authority is asked for time stamps, by a clock that the test moves: after failures, by two keepers, after a start; and
// answers that are no time stamps, of which nothing is stored.

import { afterAll, beforeEach, expect, test } from 'vitest'
import { askAuthority, TimeStamper } from '../../../src/features/ledger/time-stamps.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { sha256 } from '../../../src/libraries/base/ids/native-crypto.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { parseNote } from '../../../src/libraries/ledger/note.ts'
import { timestampRequest } from '../../../src/libraries/ledger/timestamp-token.ts'
import { parseVerifierKey } from '../../../src/libraries/ledger/verifier-key.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'
import { handClock } from '../../helpers/hand-clock.ts'
import { type Manner, OpensslAuthority } from '../../helpers/openssl-authority.ts'
import { keyText, origin, signedHead } from '../../libraries/ledger/keys.ts'

const authority = new OpensslAuthority()
const slow = new OpensslAuthority()
afterAll(() => Promise.all([authority.remove(), slow.remove()]))
const tsa = { url: await authority.serve(), authorization: undefined, intervalMs: 3_600_000 }
const key = parseVerifierKey(keyText(origin, 1, 1))
const type = { 'content-type': 'application/timestamp-reply' }

// They take as long as this node has patience: the other tests run meanwhile.
slow.manner = (request, response) => {
  if (request.url === '/slow') response.writeHead(200, type).write('begun')
}
const slowUrl = new URL(await slow.serve())
const waited = ['/silent', '/slow'].map((path) =>
  askAuthority({ url: new URL(path, slowUrl).href, authorization: undefined }, 'a head', new AbortController().signal),
)

let store: ObjectStore
let hand = handClock()
beforeEach(async () => {
  store = openMemoryStore()
  hand = handClock()
  authority.manner = undefined
  authority.asked.length = 0
  await publish(7)
})

async function publish(size: number): Promise<void> {
  const root = new Uint8Array(32).fill(size)
  await store.replace('ledger/checkpoint', signedHead({ size, root }, { witnesses: [] }))
}

/** Of a keeper of its own over the same store. */
function stamper(): TimeStamper {
  const startMs = Date.now()
  const clock = { ...hand, nowMs: () => startMs + hand.nowMs() }
  return new TimeStamper({ store, clock, logger: silentLogger, ledger: 1, key, tsa })
}

const stamped = async (): Promise<string[]> =>
  (await store.list('ledger/timestamps')).filter((name) => name.endsWith('.tsr')).sort()

/** How often the authority was asked, when it is looked after so many seconds. */
async function askedAfter(one: TimeStamper, seconds: number): Promise<number> {
  await hand.advance(seconds * 1000)
  await one.tick()
  return authority.asked.length
}

test('an authority that fails is asked again after 10 s, then later and later, and not before it says', async () => {
  const one = stamper()
  const answers: [number, Record<string, string>][] = [
    [500, {}],
    [429, { 'retry-after': '120' }],
    [503, { 'retry-after': '86400' }],
    [429, { 'retry-after': 'Wed, 21 Oct 2099 07:28:00 GMT' }],
  ]
  authority.manner = (_, response) => {
    const [status, headers] = answers[authority.asked.length - 1] ?? [500, {}]
    response.writeHead(status, headers).end()
  }
  await one.tick()
  expect(one.told).toEqual({ state: 'failing', reason: 'it answered 500' })
  expect([await askedAfter(one, 9), await askedAfter(one, 1)]).toEqual([1, 2])
  expect([await askedAfter(one, 119), await askedAfter(one, 1)]).toEqual([2, 3])
  // Nobody keeps it from its work for longer than ten minutes.
  expect([await askedAfter(one, 599), await askedAfter(one, 1)]).toEqual([3, 4])
  // A date says nothing here: the pace is its own.
  authority.manner = undefined
  expect([await askedAfter(one, 79), await stamped(), one.failed]).toEqual([4, [], 4])
  expect([await askedAfter(one, 1), await stamped(), one.told]).toEqual([5, ['7.tsr'], { state: 'running' }])
})

test('two keepers of one store may ask at once, and one time stamp of a size is kept', async () => {
  const two = [stamper(), stamper()]
  await Promise.all(two.map((one) => one.tick()))
  expect([authority.asked.length, await stamped()]).toEqual([2, ['7.tsr']])
  const kept = await store.get('ledger/timestamps/7.tsr')
  const { text } = parseNote((await store.get('ledger/timestamps/7.head')) ?? new Uint8Array())
  expect(authority.takes(kept ?? new Uint8Array(), text)).toBe(true)
  // Where it did not grow nobody is asked; where it did the first one asks for both.
  await hand.advance(tsa.intervalMs)
  for (const one of two) await one.tick()
  expect(authority.asked.length).toBe(2)
  await publish(9)
  await hand.advance(tsa.intervalMs)
  for (const one of two) await one.tick()
  expect([authority.asked.length, await stamped()]).toEqual([3, ['7.tsr', '9.tsr']])
  expect(await store.get('ledger/timestamps/7.tsr')).toEqual(kept)
})

test('a process that starts within the interval asks when it is over', async () => {
  await stamper().tick()
  await publish(9)
  const next = stamper()
  await next.tick()
  const hour = tsa.intervalMs / 1000
  expect([await askedAfter(next, hour - 60), await askedAfter(next, 120)]).toEqual([1, 2])
  expect(await stamped()).toEqual(['7.tsr', '9.tsr'])
})

const text = parseNote(signedHead({ size: 7, root: new Uint8Array(32).fill(7) }, { witnesses: [] })).text
/** The query with another hash in it. */
function over(query: Uint8Array, other: string): Uint8Array {
  const changed = Buffer.from(query)
  changed.set(sha256(utf8(other)), changed.indexOf(sha256(utf8(text))))
  return changed
}
const answering =
  (reply: (query: Uint8Array) => Uint8Array): Manner =>
  (_, response, query) =>
    void response.writeHead(200, type).end(reply(query))

test.each<[string, Manner, string]>([
  ['over another head', answering((query) => authority.reply(over(query, 'another'))), 'is over another text'],
  [
    'with another nonce',
    answering(() => authority.reply(timestampRequest(text, new Uint8Array(16).fill(9)))),
    'is an answer to another request',
  ],
  ['that is refused', answering(() => authority.reply(utf8('no query'))), 'is refused, with the status 2'],
  ['without what was asked', answering(() => new Uint8Array()), 'time stamp'],
  ['that is too long', answering(() => new Uint8Array(65_537)), 'its answer is too long, or broke off'],
  [
    'that leads elsewhere',
    (request, response) => void response.writeHead(request.url === '/tsa' ? 307 : 500, { location: '/other' }).end(),
    'it answered 307',
  ],
])('of an answer %s nothing is stored', async (_, manner, reason) => {
  authority.manner = manner
  const one = stamper()
  await one.tick()
  expect(one.told).toEqual({ state: 'failing', reason: expect.stringContaining(reason) })
  expect([await store.list('ledger/timestamps'), authority.asked.length]).toEqual([[], 1])
  authority.manner = undefined
  expect([await askedAfter(one, 10), await stamped(), one.told]).toEqual([2, ['7.tsr'], { state: 'running' }])
})

test('a request that is under way at the end of the process breaks off, and is no failure', async () => {
  authority.manner = () => {}
  const one = stamper()
  const ticking = one.tick()
  await expect.poll(() => authority.asked.length).toBe(1)
  one.close()
  await ticking
  expect([one.failed, one.told, await stamped()]).toEqual([0, { state: 'running' }, []])
})

test('an authority that is slower than the patience of the node gives none', async () => {
  const reasons = ['it gave no answer in time', 'its answer is too long, or broke off']
  expect(await Promise.all(waited)).toEqual(
    reasons.map((reason) => expect.objectContaining({ kind: 'failed', reason })),
  )
})
