// Every error kind says when it is given and what to do, shows a body, and has its place in the pages.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorCatalogue } from '../../src/http/error-pages.ts'
import { type ErrorKind, errorTable } from '../../src/model/error-table.ts'
import { operations } from '../../src/http/operations.ts'
import { type LiveNode, startLiveNode } from '../helpers/live-node.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
let live: LiveNode

beforeAll(async () => {
  live = await startLiveNode()
})
afterAll(() => live.stop())

describe('each error kind', () => {
  it('is in the catalogue, with meaning, remedy and an example that is such an error', () => {
    expect(errorCatalogue.map((entry) => entry.kind)).toEqual(Object.keys(errorTable))
    for (const { kind, meaning, fix, example } of errorCatalogue) {
      expect([kind, meaning, fix]).toEqual([kind, expect.stringMatching(/\w.*\.$/s), expect.stringMatching(/\w.*\.$/s)])
      expect(example.body).toMatchObject({ ok: false, status: errorTable[kind].status, error: { kind } })
      expect([kind, example.body['message']]).toEqual([kind, expect.stringMatching(/\w/)])
    }
  })

  it('has a section in docs/errors.md and a page at the path that bodies name', async () => {
    for (const { kind, meaning, fix, example } of errorCatalogue) {
      expect(page).toContain(`\n## ${kind}\n`)
      const json = await live.call(String(example.body['type']), { token: null })
      expect(json.json).toMatchObject({ kind, meaning, fix, example: { body: { error: { kind } } } })
      const html = await live.call(String(example.body['type']), { token: null, headers: { accept: 'text/html' } })
      expect(html.text).toContain(`<h1>${kind}</h1>`)
      expect(html.text).toContain('What to do: ')
    }
    const list = await live.call('/errors', { token: null, headers: { accept: 'text/html' } })
    for (const entry of errorCatalogue) expect(list.text).toContain(`href="${entry.page}"`)
  })

  it('is given by some operation, by a path or method that there is not, or not yet', () => {
    const given = new Set<string>(Object.values(operations).flatMap((operation) => operation.errors))
    const ofAll = ['InvalidParameter', 'BadAuthorization', 'Unauthenticated', 'MisdirectedRequest', 'RequestTimeout']
    const elsewhere = [...ofAll, 'Internal']
    // the keys of the table are its kinds
    const nowhere = (Object.keys(errorTable) as ErrorKind[]).filter((kind) => !given.has(kind))
    expect(nowhere.sort()).toEqual(elsewhere.sort())
  })
})
