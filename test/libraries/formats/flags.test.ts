// Parameters as flags: a shell hands to the command what the node said, whatever letters are in it.

import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { flagsText, withFlags, withFormats } from '../../../src/libraries/formats/flags.ts'
import { libraryFormats } from '../../../src/libraries/formats/registry.ts'

/** The words that bash makes of each line. */
function wordsOf(lines: readonly string[]): readonly (readonly string[])[] {
  const script = lines.map((line) => `printf '%s\\0' ${line}; printf '\\0'`).join('\n')
  const told = execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  const words: string[][] = [[]]
  for (const word of told.slice(0, -2).split('\0')) {
    if (word === '' && words.at(-1)?.length !== 0) words.push([])
    else words.at(-1)?.push(word)
  }
  return words
}

test('flags are words of a shell, whatever is in them', () => {
  const hostile = fc.constantFrom(
    '$(touch x)',
    '`id`',
    "it's",
    '<$(id)>',
    '-rf',
    '~',
    '*',
    '!!',
    '\\',
    '"',
    '; id',
    ' ',
    'dd.MM.yyyy HH:mm',
  )
  const text = fc.oneof(hostile, fc.string({ minLength: 1 })).filter((one) => !one.includes('\0'))
  const some = fc.array(fc.tuple(fc.constantFrom('eventTime', 'delimiter', 'timeZone', 'header'), text, text), {
    minLength: 300,
    maxLength: 300,
  })
  fc.assert(
    fc.property(some, (all) => {
      const lines = all.map(([name, value, column]) =>
        flagsText({ [name]: value, [`nulls.${column}`]: [value, column] }),
      )
      const flags = { eventTime: '--event-time', timeZone: '--time-zone', header: '--header' }
      const expected = all.map(([name, value, column]) => [
        ...(name === 'delimiter' ? ['--set', `delimiter=${value}`] : [flags[name], value]),
        '--set',
        `nulls.${column}=${value}`,
        '--set',
        `nulls.${column}=${column}`,
      ])
      expect(wordsOf(lines)).toEqual(expected)
    }),
    { numRuns: 3 },
  )
})

test.each([
  [
    "'Gr\u00f6\u00dfe' holds days: eventTime=Gr\u00f6\u00dfe takes it.",
    "'Gr\u00f6\u00dfe' holds days: --event-time 'Gr\u00f6\u00dfe' takes it.",
  ],
  ['say delimiter=%3B, and decimal=%2C if', "say --set 'delimiter=;', and --set decimal=, if"],
  ['geometry=lon,lat. Then skipRows=1,3-4, or', '--geometry lon,lat. Then --set skipRows=1,3-4, or'],
  ['dateFormat.Datum=dd.MM.yyyy.', '--set dateFormat.Datum=dd.MM.yyyy.'],
  ['geometry=<longitude>,<latitude> with', '--geometry <longitude>,<latitude> with'],
  ['nulls=%23N/A reads it, nulls=%FF not', "--set 'nulls=#N/A' reads it, --set 'nulls=\ufffd' not"],
  [
    'flatten=true, eventTime=<column>; fill in timeZone, fill in gaps',
    '--flatten, --event-time <column>; fill in --time-zone, fill in gaps',
  ],
  ['eventTime=%3C%24%28id%29%3E', "--event-time '<$(id)>'"],
])('%j is told as %j', (said, told) => {
  expect(withFlags(said)).toBe(told)
})

test('media types are told as formats', () => {
  const said = 'Send it as text/tab-separated-values, lines as application/x-ndjson. Others as text/x-none.'
  expect(withFormats(said, libraryFormats.all)).toBe(
    'Send it with --format tsv, lines with --format ndjson. Others as text/x-none.',
  )
})
