// The reports on files of every kind: what is printed is what the golden file has, which all programs are held against.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { reportsText } from '../../../scripts/evidence-reports.ts'

test('every vector and every other file has the report that is on record', () => {
  expect(JSON.parse(reportsText)).toEqual(JSON.parse(readFileSync('test/fixtures/evidence/reports.json', 'utf8')))
})
