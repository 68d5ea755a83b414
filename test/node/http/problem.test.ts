// Error bodies by themselves: every kind of the table, and what must never be told.

import { describe, expect, it } from 'vitest'
import { problemOf } from '../../../src/node/http/problem.ts'
import { type ErrorKind, errorTable, isRetryable } from '../../../src/libraries/base/error-table.ts'
import { DecodeError, HaltError, NodeError } from '../../../src/libraries/base/errors.ts'

const id = '00000000-0000-4000-8000-000000000000'
// the keys of the table are its kinds
const kinds = Object.keys(errorTable) as ErrorKind[]

describe('a problem', () => {
  it.each(kinds)('of kind %s has its status, type, media type and whether a repeat helps', (kind) => {
    const { status, mediaType, headers, body } = problemOf(new NodeError(kind, 'It is so.'), id)
    // What a bucket says is for the log of the node.
    const said =
      kind === 'StoreUnavailable'
        ? 'The store of this node cannot be reached; the log of the node says why.'
        : 'It is so.'
    expect(body).toMatchObject({
      type: expect.stringMatching(/^\/errors\/[a-z][a-z-]*[a-z]$/),
      title: errorTable[kind].title,
      status,
      detail: said,
      instance: `urn:uuid:${id}`,
      ok: false,
      error: { kind, message: said },
      message: said,
      retryable: isRetryable(kind),
    })
    expect(mediaType).toBe(`application/${kind.includes('::') ? '' : 'problem+'}json; charset=utf-8`)
    expect('retry-after' in headers).toBe(status === 429 || status === 503)
  })

  it('has a type of its own for each kind', () => {
    const types = kinds.map((kind) => problemOf(new NodeError(kind, ''), id).body['type'])
    expect(new Set(types).size).toBe(kinds.length)
    expect(types).toContain('/errors/invalid-request-input-hash')
  })

  it.each([
    new Error('EACCES: permission denied, open the/secret'),
    new DecodeError('ODF block', 'select * from private'),
    new HaltError('LogReplaced', 'dataset hidden/one'),
    new TypeError("Cannot read properties of undefined (reading 'secret')"),
    'secret',
    undefined,
  ])('of what was not meant for a caller says nothing of it: %s', (error) => {
    const { status, body } = problemOf(error, id)
    expect([status, (body['error'] as { kind: string }).kind]).toEqual([500, 'Internal'])
    expect(JSON.stringify(body)).not.toMatch(/secret|hidden|private|EACCES|\.ts/)
  })

  it('of a damaged dataset names what is damaged, once, and what finds the rest: rights are judged before', () => {
    const { status, body } = problemOf(new HaltError('ChainBroken', 'block 7 of a/b is missing'), id)
    expect([status, body['detail'], body['retryable']]).toEqual([
      500,
      'Stored data of the dataset is damaged: block 7 of a/b is missing.',
      false,
    ])
    expect(body['error']).toMatchObject({ kind: 'Internal', reason: 'ChainBroken' })
    expect(body['hint']).toContain('proofstream fsck')
  })

  it('lists at most a hundred errors and counts all', () => {
    const errors = Array.from({ length: 300 }, (_, record) => ({ record, kind: 'WrongType' as const, message: 'x' }))
    const { body } = problemOf(new NodeError('RecordsDoNotFit', 'x', { errors }), id)
    expect([body['errors'], body['errorsTotal']]).toEqual([errors.slice(0, 100), 300])
    const counted = problemOf(new NodeError('RecordsDoNotFit', 'x', { errors, errorsTotal: 9_000 }), id)
    expect(counted.body['errorsTotal']).toBe(9_000)
  })

  it('leaves out what does not apply', () => {
    const { body } = problemOf(new NodeError('Forbidden', 'x'), id)
    for (const name of ['hint', 'position', 'candidates', 'errors', 'errorsTotal', 'limit'])
      expect(JSON.parse(JSON.stringify(body))).not.toHaveProperty(name)
  })

  it('rounds a wait up to whole seconds', () => {
    const { headers } = problemOf(new NodeError('Saturated', 'x', { retryAfterSeconds: 1.2 }), id)
    expect(headers['retry-after']).toBe('2')
  })
})
