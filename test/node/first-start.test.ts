// What an interrupted first start can leave behind, and what the next start makes of it.

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeTokenText } from '../../src/node/access/token.ts'
import { TokenRegistry } from '../../src/node/access/tokens.ts'
import { ensureAdminToken, ensureNodeKey } from '../../src/app/first-start.ts'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { silentLogger } from '../../src/libraries/base/logger.ts'
import { openMemoryStore } from '../adapters/memory-store.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'proofstream-first-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

describe('the admin token', () => {
  const begun = makeTokenText()
  const held = makeTokenText()
  test.each([
    ['nothing', {}, undefined],
    ['an empty token file', { token: '' }, undefined],
    ['a token file of zeros', { token: '\0'.repeat(44) }, undefined],
    ['a text that the store does not know yet', { 'token.new': `${begun}\n` }, begun],
    ['a text that is cut short', { 'token.new': begun.slice(0, 20) }, undefined],
    ['a text that the store knows already', { 'token.new': `${begun}\n`, known: begun }, begun],
    ['a text beside an empty token file', { token: '', 'token.new': `${begun}\n` }, begun],
    ['a text that has its name already', { token: `${held}\n`, 'token.new': `${begun}\n`, known: held }, held],
    ['a token file', { token: `${held}\n`, known: held }, held],
  ] as const)('after %s', async (_what, left: Readonly<Record<string, string>>, expected) => {
    const registry = (): TokenRegistry =>
      new TokenRegistry({ store, clock: systemClock, logger: silentLogger, anonymousRead: false })
    const store = openMemoryStore()
    const path = join(dir, 'token')
    for (const [name, text] of Object.entries(left)) {
      if (name === 'known') await registry().create({ name: 'admin', scopes: ['admin'] }, text)
      else await writeFile(join(dir, name), text)
    }
    for (let start = 1; start <= 2; start++) {
      await ensureAdminToken(registry(), path, silentLogger)
      const text = (await readFile(path, 'utf8')).trim()
      expect(text).toBe(expected ?? text)
      expect((await registry().authenticate(text)).scopes).toEqual(new Set(['admin']))
      expect(await registry().list()).toHaveLength(1)
      expect(await readdir(dir)).toEqual(['token'])
    }
  })

  test('that processes share is recorded once when they start at the same time', async () => {
    const text = makeTokenText()
    const store = openMemoryStore()
    let arrived = 0
    let open: () => void = () => {}
    const allHaveLooked = new Promise<void>((resolve) => {
      open = resolve
    })
    // None puts before all have seen that the store has no token.
    const late = {
      ...store,
      put: async (...given: Parameters<typeof store.put>) => {
        if (++arrived === 4) open()
        await allHaveLooked
        return store.put(...given)
      },
    }
    const registries = Array.from(
      { length: 4 },
      () => new TokenRegistry({ store: late, clock: systemClock, logger: silentLogger, anonymousRead: false }),
    )
    await Promise.all(
      registries.map(async (tokens, i) => {
        const path = join(dir, `token-${i}`)
        await writeFile(`${path}.new`, text)
        await ensureAdminToken(tokens, path, silentLogger)
      }),
    )
    expect(await store.list('tokens')).toHaveLength(1)
    for (const tokens of registries) expect((await tokens.authenticate(text)).scopes).toEqual(new Set(['admin']))
  })

  test('whose file is damaged is left to a person, who is told', async () => {
    const store = openMemoryStore()
    const lines: string[] = []
    const logger = { ...silentLogger, warn: (_: object, line: string) => void lines.push(line) }
    const tokens = new TokenRegistry({ store, clock: systemClock, logger, anonymousRead: false })
    await writeFile(join(dir, 'token'), begun.slice(0, 20))
    await ensureAdminToken(tokens, join(dir, 'token'), logger)
    expect(await readFile(join(dir, 'token'), 'utf8')).toBe(begun.slice(0, 20))
    expect(lines).toEqual([expect.stringContaining('is damaged')])
  })

  test('that was revoked stays revoked', async () => {
    const store = openMemoryStore()
    const tokens = new TokenRegistry({ store, clock: systemClock, logger: silentLogger, anonymousRead: false })
    await ensureAdminToken(tokens, join(dir, 'token'), silentLogger)
    const [record] = await tokens.list()
    await tokens.revoke(record?.id ?? '')
    await ensureAdminToken(tokens, join(dir, 'token'), silentLogger)
    expect(await tokens.list()).toEqual([])
  })
})

describe('the node key', () => {
  test('is made where there is none, for its user alone, and kept', async () => {
    const path = join(dir, 'node.json')
    const { did } = await ensureNodeKey(path)
    expect((await ensureNodeKey(path)).did).toBe(did)
    expect(await readdir(dir)).toEqual(['node.json'])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  test.each(['{"type":"Ed25519"', ''])('is not made where a file holds something else: %s', async (held) => {
    const path = join(dir, 'node.json')
    await writeFile(path, held)
    await expect(ensureNodeKey(path)).rejects.toMatchObject({ kind: 'InvalidParameter' })
  })

  test('says which directory is missing, and is one when many start at once', async () => {
    const missing = join(dir, 'none', 'node.json')
    await expect(ensureNodeKey(missing)).rejects.toThrow(`there is no directory ${join(dir, 'none')}`)
    const path = join(dir, 'shared.json')
    const keys = await Promise.all(Array.from({ length: 20 }, () => ensureNodeKey(path)))
    expect(new Set(keys.map(({ did }) => did)).size).toBe(1)
  })
})
