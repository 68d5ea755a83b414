// Tokens: their text, what is stored of them, and that every process honours and revokes the same ones.

import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { decodeTokenRecord, isTokenText, makeTokenText, tokenOf } from '../../../src/node/access/token.ts'
import { TokenRegistry } from '../../../src/node/access/tokens.ts'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import type { Clock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { DecodeError, NodeError } from '../../../src/libraries/base/errors.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { openMemoryStore } from '../../adapters/memory-store.ts'

const startMs = Date.parse('2026-03-01T12:00:00Z')

/** A clock that stands until it is moved. */
function standingClock(): Clock & { moveMs(ms: number): void } {
  let passedMs = 0
  return {
    nowMs: () => startMs + passedMs,
    monotonicMs: () => 1_000 + passedMs,
    sleep: async () => {},
    moveMs: (ms) => void (passedMs += ms),
  }
}

function setUp(store: ObjectStore = openMemoryStore()) {
  const clock = standingClock()
  const open = () => new TokenRegistry({ store, clock, logger: silentLogger, anonymousRead: false })
  return { store, clock, open, registry: open() }
}

async function kindOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'ok',
    (error: unknown) => (error instanceof NodeError ? error.kind : Promise.reject(error)),
  )
}

/** A store that counts listings. */
function counted(store: ObjectStore): ObjectStore & { listings: () => number } {
  let listings = 0
  return {
    ...store,
    list: (prefix) => {
      listings++
      return store.list(prefix)
    },
    listings: () => listings,
  }
}

describe('the text of a token', () => {
  test('is pst_, 32 base62 characters and their checksum', () => {
    const text = makeTokenText()
    expect(text).toMatch(/^pst_[0-9A-Za-z]{38}$/)
    expect(isTokenText(text)).toBe(true)
    // The checksum as documented: the first 32 bits of the SHA-256 of what stands before it, in base62.
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    const number = BigInt(`0x${createHash('sha256').update(text.slice(0, 36)).digest('hex').slice(0, 8)}`)
    const read = text
      .slice(36)
      .split('')
      .reduce((sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)), 0n)
    expect(read).toBe(number)
  })

  test('is told from any text with one wrong, missing or swapped character', () => {
    const text = makeTokenText()
    for (let at = 0; at < text.length; at++) {
      const wrong = text[at] === 'A' ? 'B' : 'A'
      expect(isTokenText(text.slice(0, at) + wrong + text.slice(at + 1)), `character ${at}`).toBe(false)
      expect(isTokenText(text.slice(0, at) + text.slice(at + 1))).toBe(false)
    }
    for (const other of ['', 'pst_', `${text} `, text.toUpperCase(), `${text}A`]) expect(isTokenText(other)).toBe(false)
  })

  test('uses every digit about equally often', () => {
    const counts = new Map<string, number>()
    for (let i = 0; i < 6_000; i++) {
      for (const digit of makeTokenText().slice(4, 36)) counts.set(digit, (counts.get(digit) ?? 0) + 1)
    }
    const mean = (6_000 * 32) / 62
    expect(counts.size).toBe(62)
    // Eight standard deviations either side; a plain remainder of a byte would put eight digits 25 % above the rest.
    for (const count of counts.values()) expect(Math.abs(count - mean)).toBeLessThan(8 * Math.sqrt(mean))
  })
})

describe('the Authorization header', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['  BEARER   a.b_c~d+e/f-g==  ', 'a.b_c~d+e/f-g=='],
    ['Token abc', 'abc'],
    ['Basic YTpi', 'b'],
    [`basic ${btoa('any user:pst_x')}`, 'pst_x'],
    [`Basic ${btoa(':pst_x')}`, 'pst_x'],
  ])('%j holds a token', (header, expected) => {
    expect(tokenOf(header)).toBe(expected)
  })

  test('may be missing', () => {
    expect(tokenOf(undefined)).toBeUndefined()
  })

  test.each([
    '',
    'Bearer',
    'Bearer ',
    'Basic',
    'Basic abc',
    `Basic ${btoa('pst_x')}`,
    `Basic ${btoa('user:')}`,
    `Basic ${btoa('user:a b')}`,
    'Basic !!!!',
    'Basic /w==',
    'Digest abc',
    'Token a b',
    'Bearer a b',
    'Bearer a, Bearer b',
    'Bearerabc',
    `Bearer ${'a'.repeat(600)}`,
  ])('%j is malformed', (header) => {
    expect(() => tokenOf(header)).toThrow(expect.objectContaining({ kind: 'BadAuthorization' }))
  })
})

describe('a registry', () => {
  test('makes tokens that it and others honour, and stores no text', async () => {
    const { registry, open, store } = setUp()
    const { record, token } = await registry.create({
      name: ' sensors ',
      scopes: ['ingest', 'read', 'ingest'],
      datasets: ['acme/*'],
      expiresAt: '2026-03-01T14:00:00.5+01:00',
    })
    expect(record).toEqual({
      id: record.id,
      name: 'sensors',
      scopes: ['read', 'ingest'],
      datasets: ['acme/*'],
      expiresAt: '2026-03-01T13:00:00.500Z',
      createdAt: '2026-03-01T12:00:00.000Z',
      lastFour: token.slice(-4),
    })
    for (const some of [registry, open()]) {
      expect(await some.authenticate(token)).toEqual({
        tokenId: record.id,
        scopes: new Set(['read', 'ingest']),
        datasets: ['acme/*'],
        anonymousRead: false,
      })
    }
    const stored = Buffer.from((await store.get(`tokens/${record.id}`))!).toString()
    expect(stored).not.toContain(token.slice(4, 20))
    expect(stored).toContain(createHash('sha256').update(token).digest('hex'))
  })

  test('lists without hashes, oldest first', async () => {
    const { registry, clock } = setUp()
    await registry.create({ name: 'one', scopes: ['read'] })
    clock.moveMs(5)
    await registry.create({ name: 'two', scopes: ['admin'] })
    const tokens = await registry.list()
    expect(tokens.map((shown) => shown.name)).toEqual(['one', 'two'])
    expect(JSON.stringify(tokens)).not.toContain('hash')
  })

  test('refuses unknown, mistyped and expired tokens', async () => {
    const { registry, clock } = setUp()
    expect(await kindOf(registry.authenticate(makeTokenText()))).toBe('Unauthenticated')
    expect(await kindOf(registry.authenticate('secret'))).toBe('Unauthenticated')
    const { token } = await registry.create({ name: 'short', scopes: ['read'], expiresAt: '2026-03-01T12:00:01Z' })
    clock.moveMs(999)
    expect(await kindOf(registry.authenticate(token))).toBe('ok')
    clock.moveMs(1)
    expect(await kindOf(registry.authenticate(token))).toBe('Unauthenticated')
  })

  test('revokes at once here and within 5 s elsewhere', async () => {
    const { registry, open, clock } = setUp()
    const other = open()
    const { record, token } = await registry.create({ name: 'x', scopes: ['read'] })
    expect(await kindOf(other.authenticate(token))).toBe('ok')
    await registry.revoke(record.id)
    expect(await kindOf(registry.authenticate(token))).toBe('Unauthenticated')
    clock.moveMs(4_999)
    expect(await kindOf(other.authenticate(token))).toBe('Unauthenticated')
    expect(await registry.list()).toEqual([])
  })

  test('honours a token made elsewhere after a second at most', async () => {
    const { registry, open, clock } = setUp()
    const other = open()
    await other.list()
    const { token } = await registry.create({ name: 'x', scopes: ['read'] })
    clock.moveMs(1_000)
    expect(await kindOf(other.authenticate(token))).toBe('ok')
  })

  test('asks the store rarely: known tokens every few seconds, guesses once a second', async () => {
    const store = counted(openMemoryStore())
    const { registry, clock } = setUp(store)
    const { token } = await registry.create({ name: 'x', scopes: ['read'] })
    for (let i = 0; i < 50; i++) await registry.authenticate(token)
    expect(store.listings()).toBe(1)
    for (let i = 0; i < 50; i++) await kindOf(registry.authenticate(makeTokenText()))
    expect(store.listings()).toBe(1)
    clock.moveMs(1_000)
    for (let i = 0; i < 50; i++) await kindOf(registry.authenticate(makeTokenText()))
    expect(store.listings()).toBe(2)
    clock.moveMs(4_000)
    await Promise.all(Array.from({ length: 50 }, () => registry.authenticate(token)))
    expect(store.listings()).toBe(3)
  })

  test('keeps what was made and revoked while the store was being read', async () => {
    const inner = openMemoryStore()
    let duringListing: (() => Promise<void>) | undefined
    const store: ObjectStore = {
      ...inner,
      async list(prefix) {
        const names = await inner.list(prefix)
        const action = duringListing
        duringListing = undefined
        await action?.()
        return names
      },
    }
    const { registry, clock } = setUp(store)
    const old = await registry.create({ name: 'old', scopes: ['read'] })
    let fresh = ''
    duringListing = async () => {
      fresh = (await registry.create({ name: 'new', scopes: ['read'] })).token
      await registry.revoke(old.record.id)
    }
    clock.moveMs(10_000)
    expect(await kindOf(registry.authenticate(old.token))).toBe('Unauthenticated')
    expect(await kindOf(registry.authenticate(fresh))).toBe('ok')
  })

  test('lets no one in when the store cannot be read', async () => {
    const inner = openMemoryStore()
    let broken = false
    const store: ObjectStore = {
      ...inner,
      list: (prefix) => (broken ? Promise.reject(new RangeError('disk')) : inner.list(prefix)),
    }
    const { registry, clock } = setUp(store)
    const { token } = await registry.create({ name: 'x', scopes: ['read'] })
    expect(await kindOf(registry.authenticate(token))).toBe('ok')
    broken = true
    clock.moveMs(5_000)
    await expect(registry.authenticate(token)).rejects.toThrow('disk')
    broken = false
    expect(await kindOf(registry.authenticate(token))).toBe('ok')
  })

  test('does not honour a damaged or moved record, and serves the others', async () => {
    const { registry, open, store } = setUp()
    const { record, token } = await registry.create({ name: 'x', scopes: ['read'] })
    const bytes = (await store.get(`tokens/${record.id}`))!
    await store.put('tokens/elsewhere', bytes)
    await store.put('tokens/damaged', bytes.subarray(1))
    const fresh = open()
    expect(await kindOf(fresh.authenticate(token))).toBe('ok')
    await store.delete(`tokens/${record.id}`)
    expect(await kindOf(open().authenticate(token))).toBe('Unauthenticated')
  })

  test.each(['', 'nope', '../x', 'a/b', '.', 'x'.repeat(300)])('has no token %j to revoke', async (id) => {
    expect(await kindOf(setUp().registry.revoke(id))).toBe('TokenNotFound')
  })

  test.each([
    [{ name: '', scopes: ['read'] }, 'name'],
    [{ name: 'a\u0007', scopes: ['read'] }, 'name'],
    [{ name: 'x'.repeat(101), scopes: ['read'] }, 'name'],
    [{ name: 'a', scopes: [] }, 'scopes'],
    [{ name: 'a', scopes: ['write'] }, 'scopes'],
    [{ name: 'a', scopes: ['read'], datasets: [] }, 'datasets'],
    [{ name: 'a', scopes: ['read'], datasets: ['acme'] }, 'datasets'],
    [{ name: 'a', scopes: ['read'], expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ name: 'a', scopes: ['read'], expiresAt: '2027-02-30T00:00:00Z' }, 'expiresAt'],
    [{ name: 'a', scopes: ['read'], expiresAt: '2027-02-20T24:00:00Z' }, 'expiresAt'],
    [{ name: 'a', scopes: ['read'], expiresAt: '2027-02-20T00:00:00' }, 'expiresAt'],
    [{ name: 'a', scopes: ['read'], expiresAt: '2026-03-01T12:00:00Z' }, 'expiresAt'],
  ])('refuses to make %j', async (request, member) => {
    const { registry, store } = setUp()
    await expect(registry.create(request)).rejects.toThrow(
      expect.objectContaining({ kind: 'InvalidRequest', message: expect.stringContaining(`${member}: `) }),
    )
    expect(await store.list('tokens')).toEqual([])
  })
})

describe('a stored record', () => {
  const good = {
    id: 'a',
    name: 'x',
    scopes: ['read'],
    createdAt: '2026-03-01T12:00:00.000Z',
    lastFour: 'abcd',
    hash: '0'.repeat(64),
  }

  test('is read back', () => {
    expect(decodeTokenRecord(utf8(JSON.stringify(good)))).toEqual(good)
  })

  test.each([
    [{ ...good, scopes: ['root'] }],
    [{ ...good, scopes: [] }],
    [{ ...good, scopes: 'read' }],
    [{ ...good, datasets: null }],
    [{ ...good, datasets: ['acme'] }],
    [{ ...good, expiresAt: null }],
    [{ ...good, expiresAt: 'never' }],
    [{ ...good, hash: 'x' }],
    [{ ...good, hash: undefined }],
    [{ ...good, extra: 1 }],
    [{ ...good, id: 1 }],
    [[]],
    [null],
  ])('of the form %j gives no one rights', (record) => {
    expect(() => decodeTokenRecord(utf8(JSON.stringify(record)))).toThrow(DecodeError)
  })
})
