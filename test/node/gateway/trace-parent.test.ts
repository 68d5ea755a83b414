// Which `traceparent` headers count, and what of them is passed on.

import { expect, test } from 'vitest'
import { isSampled, readTraceParent } from '../../../src/node/gateway/controls.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'
const usual = `00-${trace}-${parent}-01`

test('a header of version 00 is passed on as it is', () => {
  for (const flags of ['00', '01', '02', 'ff']) {
    expect(readTraceParent(`00-${trace}-${parent}-${flags}`)).toBe(`00-${trace}-${parent}-${flags}`)
  }
})

test('one of a later version is passed on as version 00, with the flag that version knows', () => {
  expect(readTraceParent(`cc-${trace}-${parent}-ff`)).toBe(usual)
  expect(readTraceParent(`01-${trace}-${parent}-02-what-the-future-will-be-like`)).toBe(`00-${trace}-${parent}-00`)
})

test.each([
  undefined,
  '',
  usual.toUpperCase(),
  ` ${usual}`,
  `${usual}-`,
  `${usual}-more`,
  `${usual}, ${usual}`,
  `ff-${trace}-${parent}-01`,
  `cc-${trace}-${parent}-01.more`,
  `00-${'0'.repeat(32)}-${parent}-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  `00-${trace.slice(1)}-${parent}-01`,
  `00-${trace}-${parent}-1`,
  `00-${trace}-${parent}`,
  `0-${trace}-${parent}-01`,
  `00-${trace.replace('4', 'g')}-${parent}-01`,
])('%j counts as none', (header) => {
  expect(readTraceParent(header)).toBeUndefined()
})

test('a trace is sampled by the lowest bit of its flags', () => {
  const flagsOf = (flags: string): boolean => isSampled(`00-${trace}-${parent}-${flags}`)
  expect(['00', '01', '02', '03', 'ff'].map(flagsOf)).toEqual([false, true, false, true, true])
})
