// What errors of the node are to a client of PostgreSQL: their states, positions, hints.

import { expect, test } from 'vitest'
import { errorTable } from '../../../src/libraries/base/error-table.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { PostgresFault, reportOf } from '../../../src/libraries/pgwire/report.ts'

test.each<[kind: ConstructorParameters<typeof NodeError>[0], message: string, state: string]>([
  ['SqlSyntax', 'syntax error at or near "x"', '42601'],
  ['SqlUnknownName', 'There is no column x.', '42703'],
  ['SqlUnknownName', 'There is no function x.', '42883'],
  ['SqlValue', 'Division by zero!', '22012'],
  ['SqlValue', "Could not convert string 'x' to INT32", '22P02'],
  ['SqlValue', 'Overflow in addition', '22003'],
  ['SqlValue', 'A value cannot be that.', '22000'],
  ['QueryNotAllowed', 'no', '0A000'],
  ['DatasetNotFound', 'no', '42P01'],
  ['DatasetDeleted', 'no', '42P01'],
  ['DuplicateColumn', 'no', '42701'],
  ['Unauthenticated', 'no', '28P01'],
  ['Forbidden', 'no', '42501'],
  ['QueryTimeout', 'no', '57014'],
  ['Saturated', 'no', '53000'],
  ['QuotaExceeded', 'no', '53400'],
  ['Draining', 'no', '57P01'],
  ['StoreUnavailable', 'no', '58030'],
  ['ResultTooLarge', 'no', '54000'],
  ['InvalidParameter', 'no', '22023'],
  ['Internal', 'The node failed.', 'XX000'],
])('%s, %s: %s', (kind, message, state) => {
  expect(reportOf(new NodeError(kind, message, {}))).toEqual({
    S: 'ERROR',
    V: 'ERROR',
    C: state,
    M: message,
    H: undefined,
    P: undefined,
  })
})

test('every kind has a state of five', () => {
  for (const kind of Object.keys(errorTable)) {
    // `as`: the keys of the table are its kinds.
    const { C } = reportOf(new NodeError(kind as keyof typeof errorTable, 'no', {}))
    expect([kind, C]).toEqual([kind, expect.stringMatching(/^[0-9A-Z]{5}$/)])
  }
})

test('a position is counted in characters of the statement from 1', () => {
  const at = (sql: string, offset: number): unknown =>
    reportOf(new NodeError('SqlSyntax', 'no', { position: { offset, line: 1, column: 1 } }), sql)['P']
  const sql = "select 'ä€😀' x"
  expect(at(sql, 0)).toBe('1')
  expect(at(sql, Buffer.byteLength("select 'ä€😀' "))).toBe('14')
  expect(at(sql, Buffer.byteLength(sql))).toBe('15')
})

test('what is meant is the hint where there is no other', () => {
  const candidates = ['a', 'b', 'c', 'd', 'e', 'f']
  expect(reportOf(new NodeError('SqlUnknownName', 'no', { candidates }))['H']).toBe('Did you mean a, b, c, d, e?')
  expect(reportOf(new NodeError('SqlUnknownName', 'no', { candidates, hint: 'Try.' }))['H']).toBe('Try.')
})

test('faults of the protocol keep their state; what is ours says nothing of itself', () => {
  expect(reportOf(new PostgresFault('25P02', 'aborted', 'End it.'))).toMatchObject({
    C: '25P02',
    M: 'aborted',
    H: 'End it.',
  })
  for (const ours of [new TypeError('secret'), 'secret', undefined]) {
    expect(reportOf(ours)).toEqual({ S: 'ERROR', V: 'ERROR', C: 'XX000', M: 'The node failed.' })
  }
})
