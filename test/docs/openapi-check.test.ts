// The comparison of answers with the OpenAPI document, over a document of one operation.

import { expect, test } from 'vitest'
import { type Observed, type OpenApiDocument, undocumented } from '../helpers/openapi-check.ts'

const problem = { 'application/problem+json': { examples: { BlockNotFound: {} } } }
const document: OpenApiDocument = {
  paths: {
    '/{account}/{dataset}/blocks': {
      get: {
        responses: {
          200: { headers: { etag: {} }, content: { 'application/json': {} } },
          404: { headers: {}, content: problem },
        },
      },
    },
    '/a/{dataset}/blocks': { get: { responses: {} } },
  },
}
const good: Observed = {
  method: 'GET',
  path: '/acme/goods/blocks?limit=1',
  status: 200,
  headers: { etag: '"x"', date: 'now', 'content-type': 'application/json; charset=utf-8' },
  json: {},
}
const missing: Observed = {
  ...good,
  status: 404,
  headers: { 'content-type': 'application/problem+json' },
  json: { error: { kind: 'BlockNotFound' } },
}

const cases: [string, Observed, string][] = [
  ['as described', good, 'none'],
  ['to HEAD', { ...good, method: 'HEAD' }, 'none'],
  ['that is an error of a named kind', missing, 'none'],
  ['of another status', { ...good, status: 206 }, '{dataset}/blocks 206 is not'],
  ['with another header', { ...good, headers: { ...good.headers, 'x-new': '1' } }, 'the header x-new'],
  ['of another media type', { ...good, headers: { 'content-type': 'text/csv' } }, 'the media type text/csv'],
  ['of another kind', { ...missing, json: { error: { kind: 'Internal' } } }, 'the kind Internal'],
  ['of the operation with the more exact path', { ...good, path: '/a/goods/blocks' }, '/a/{dataset}/blocks 200'],
]

test.each(cases)('an answer %s is held against the document', (_, observed, fault) => {
  expect(undocumented(document, observed) ?? 'none').toContain(fault)
})
