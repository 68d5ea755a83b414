// The files of texts/ say something of each error kind and each route, name only what there is, and are served.

import { describe, expect, it } from 'vitest'
import { errorCatalogue, errorsOf, errorTexts, routeTexts } from '../../src/node/http/texts.ts'
import { type ErrorKind, errorTable } from '../../src/libraries/base/error-table.ts'
import { liveNode } from '../helpers/live-node.ts'

// the keys of the table are its kinds
const kinds = Object.keys(errorTable) as ErrorKind[]
const operations = Object.values(routeTexts.operations)
const sentences = expect.stringMatching(/\w.*\.$/s)
const live = await liveNode()

describe('the texts of errors', () => {
  it('are of the kinds of the table, in its order, each with meaning, remedy and an example', () => {
    expect(Object.keys(errorTexts)).toEqual(kinds)
    for (const text of Object.values(errorTexts)) {
      expect(text).toEqual({ meaning: sentences, fix: sentences, example: expect.any(Object) })
      expect(text.example.message).toMatch(/\w/)
    }
  })

  it('are served at the path that bodies name, as JSON and as a page', async () => {
    for (const entry of errorCatalogue) {
      const path = String(entry.example.body['type'])
      expect((await live.call(path, { token: null })).json).toEqual(entry)
      const html = await live.call(path, { token: null, headers: { accept: 'text/html' } })
      expect(html.text).toContain(`<h1>${entry.kind}</h1>`)
    }
    const list = await live.call('/errors', { token: null, headers: { accept: 'text/html' } })
    for (const entry of errorCatalogue) expect(list.text).toContain(`href="${entry.page}"`)
  })
})

describe('the texts of routes', () => {
  it('name kinds of the table; each kind may come from some route', () => {
    const given = new Set([...routeTexts.errorsOfAll, ...operations.flatMap(errorsOf)])
    expect([...given].sort()).toEqual([...kinds].sort())
  })

  it('name headers that they describe', () => {
    const asked = new Set(operations.flatMap(({ asks = [] }) => asks))
    const answered = operations.flatMap(({ answers }) => Object.values(answers)).flatMap(({ headers = [] }) => headers)
    expect(Object.keys(routeTexts.requestHeaders).sort()).toEqual([...asked].sort())
    expect(Object.keys(routeTexts.responseHeaders)).toEqual(expect.arrayContaining(answered))
  })
})
