// The golden examples of `streams/`: bytes of valid messages both ways, verdicts on invalid ones, announcements.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { must } from '../../src/libraries/base/assert.ts'
import { fromHex, toHex } from '../../src/libraries/base/bytes.ts'
import type { MessageHeader } from '../../src/node/log/messages.gen.ts'
import {
  checkCommitAnnouncement,
  checkMessageHeader,
  decodeMessage,
  encodeMessage,
} from '../../src/node/log/messages.ts'
import { HaltError } from '../../src/libraries/base/errors.ts'

interface RecordExamples {
  readonly valid: readonly {
    readonly name: string
    readonly header: MessageHeader
    readonly payload: string
    readonly bytes: string
  }[]
  readonly invalid: readonly { readonly name: string; readonly expected: string; readonly bytes: string }[]
}
interface CommitExamples {
  readonly valid: readonly { readonly name: string; readonly value: unknown }[]
  readonly invalid: readonly { readonly name: string; readonly value: unknown }[]
}

function load<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(`../../streams/${path}`, import.meta.url), 'utf8'))
}
const bytesOf = (hex: string): Uint8Array => must(fromHex(hex), 'examples hold hex')

const { valid, invalid } = load<RecordExamples>('records/v1.examples.json')
const commits = load<CommitExamples>('commits/v1.examples.json')

function verdict(bytes: Uint8Array): string {
  try {
    return decodeMessage(bytes).kind
  } catch (error) {
    return error instanceof HaltError ? error.reason : String(error)
  }
}

test.each(valid)('$name has exactly these bytes', ({ header, payload, bytes }) => {
  expect(toHex(encodeMessage(header, bytesOf(payload)))).toBe(bytes)
})

test.each(valid)('$name is read back from its bytes', ({ header, payload, bytes }) => {
  expect(decodeMessage(bytesOf(bytes))).toEqual({ kind: 'message', header, payload: bytesOf(payload) })
})

test.each(invalid)('$name is $expected', ({ expected, bytes }) => {
  expect(verdict(bytesOf(bytes))).toBe(expected)
})

test('each kind of message has an example', () => {
  expect(new Set(valid.map(({ header }) => header.kind))).toEqual(
    new Set(['create', 'rows', 'abort', 'cut', 'change', 'delete', 'restore']),
  )
})

test.each(valid)('$name with any bit changed is never taken for a message', ({ bytes }) => {
  const good = bytesOf(bytes)
  const step = Math.max(1, Math.floor(good.length / 50))
  for (let at = 0; at < good.length; at += step) {
    const changed = good.slice()
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8))
    expect(verdict(changed)).not.toBe('message')
  }
})

test.each(valid)('$name refuses an unknown member in each of its objects', ({ header }) => {
  const objects: Record<string, unknown>[] = []
  const copy: unknown = JSON.parse(JSON.stringify(header), (key, value: unknown) => {
    // Extra attributes are the one open place.
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && key !== 'extra') {
      objects.push(Object.assign(value))
    }
    return value
  })
  expect(checkMessageHeader(copy)).toBeUndefined()
  for (const object of objects) {
    object['unexpected'] = 1
    expect(checkMessageHeader(copy)).toContain('header')
    delete object['unexpected']
  }
})

test('what decoding would refuse is never written', () => {
  const { header } = must(valid[0], 'there is an example')
  expect(() => encodeMessage({ ...header, n: 0 })).toThrow('header/n')
  expect(() => encodeMessage(header, new Uint8Array(1))).toThrow('payload')
})

test.each(commits.valid)('$name is an announcement', ({ value }) => {
  expect(checkCommitAnnouncement(value)).toBeUndefined()
})

test.each(commits.invalid)('$name is no announcement', ({ value }) => {
  expect(checkCommitAnnouncement(value)).toContain('announcement')
})
