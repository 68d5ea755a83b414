// What goes to a terminal: nothing from outside moves its cursor, colours, hides or reorders text there, whichever command
// prints it and in whichever form; what goes to a pipe is bytes as they came.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { styleText } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { problemFailure } from '../../src/cli/problem.ts'
import { type Out, print, rewriteLine, tell, toStdout } from '../../src/cli/terminal.ts'

/** By Unicode's own names of what they are: controls, and characters of the bidirectional algorithm. */
const obeyed = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u
const hostile = '\u001b[2J\u009b31m\u202eabc\u2066\u200f\u061c\u0007\r\u0008\u007f'

function written(isTTY: boolean, write: (out: Out) => void): string {
  let all = ''
  write({ isTTY, write: (text) => (all += typeof text === 'string' ? text : Buffer.from(text).toString()) })
  return all
}

const plain = (text: string): string => text.replaceAll(/[\n\t]/g, '')

test('data and words are harmless on a terminal, and as they are elsewhere', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(hostile, '{"a":"\u009b"}'), (some, more) => {
      const text = some + more
      for (const write of [print, tell, rewriteLine]) {
        const shown = written(true, (out) => write(text, out)).replace('\r\u001b[2K', '')
        expect(plain(shown)).not.toMatch(obeyed)
      }
      expect(written(true, (out) => print(Buffer.from(text), out)).replaceAll(/[\n\t]/g, '')).not.toMatch(obeyed)
      expect(written(false, (out) => print(text, out))).toBe(text)
    }),
  )
})

test('what is JSON stays the same JSON', () => {
  const value = { a: '\u009b\u202e\u0000', '\u2066': ['\u200e'] }
  expect(JSON.parse(written(true, (out) => print(JSON.stringify(value), out)))).toEqual(value)
})

test('styles of our own are let through, and no others', () => {
  const style = styleText('red', 'error:', { validateStream: false })
  expect(written(true, (out) => tell(`${style} \u001b[8mhidden\u001b[0m`, out))).toBe(
    `${style} \\u001b[8mhidden\\u001b[0m`,
  )
})

test('rows that come in pieces are harmless wherever they are cut', async () => {
  const bytes = Buffer.from(`${hostile}é\n`)
  for (let at = 0; at <= bytes.length; at++) {
    const pieces = [bytes.subarray(0, at), bytes.subarray(at)]
    const shown = (await buffer(Readable.from(pieces).pipe(toStdout(true)))).toString()
    expect([plain(shown), shown.endsWith('é\n')]).toEqual([expect.not.stringMatching(obeyed), true])
    expect(await buffer(Readable.from(pieces).pipe(toStdout(false)))).toEqual(bytes)
  }
})

test('a problem of a hostile node says nothing that is obeyed', () => {
  const body = {
    error: { kind: hostile },
    message: hostile,
    hint: hostile,
    candidates: [hostile],
    position: { line: 1, column: 2 },
    errors: [{ record: 0, kind: hostile, message: hostile, column: hostile }],
  }
  const headers = { 'request-id': hostile }
  const { message, details } = problemFailure(
    { status: 500, headers, bytes: Buffer.from(JSON.stringify(body)) },
    { sql: hostile },
  )
  const texts = [message, details.kind ?? '', details.hint ?? '', ...(details.facts ?? [])]
  expect(texts.filter((text) => obeyed.test(text))).toEqual([])
})

test('nothing else in the command line writes there', () => {
  const root = join(import.meta.dirname, '..', '..', 'src', 'cli')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const writing = files.filter((name) =>
    /process\.std(?:out|err)\.write|console\.\w+\(/.test(readFileSync(join(root, name), 'utf8')),
  )
  expect([files.length > 30, writing]).toEqual([true, []])
})
