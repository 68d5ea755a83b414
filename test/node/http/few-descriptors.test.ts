// Too few file descriptors are told as what they are.

import { expect, test } from 'vitest'
import { problemOf } from '../../../src/node/http/problem.ts'

test('too few file descriptors are no fault of the node: try again', () => {
  const error = new Error('open failed', { cause: Object.assign(new Error('EMFILE'), { code: 'EMFILE' }) })
  const { status, headers, body } = problemOf(error, 'id')
  expect([status, headers['retry-after'], body['error']]).toMatchObject([503, '1', { kind: 'Saturated' }])
})
