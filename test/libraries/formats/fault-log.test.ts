// What is told of the faults of a body is bounded in bytes, whatever stands in it.

import { expect, test } from 'vitest'
import { FaultLog } from '../../../src/libraries/formats/fault-log.ts'

function toldOf(name: string): { errors: number; total: unknown; bytes: number } {
  const faults = new FaultLog()
  for (let record = 0; record < 1_000; record++) {
    faults.addBare({ record, column: name, kind: 'UnknownField', message: `There is no column '${name}'.` })
  }
  const { errors = [], errorsTotal } = faults.toError(false).details
  return { errors: errors.length, total: errorsTotal, bytes: Buffer.byteLength(JSON.stringify(errors)) }
}

test('a hundred faults are told, and how many there are', () => {
  expect(toldOf('temperature')).toMatchObject({ errors: 100, total: 1_000 })
})

test.each(['\u0001', '\ufffd', '😀', '"'])('fewer where names of %j take many bytes', (letter) => {
  const { errors, total, bytes } = toldOf(letter.repeat(1_000))
  expect([errors > 10, total]).toEqual([true, 1_000])
  expect(bytes).toBeLessThanOrEqual(192 * 1024 + 101)
})
