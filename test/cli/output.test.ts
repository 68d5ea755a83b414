// Forms of the data: exact values in all that programs read, harmless text in what a terminal shows.

import * as fc from 'fast-check'
import { parseString } from 'fast-csv'
import { describe, expect, test } from 'vitest'
import { asTyped } from '../../src/cli/failure.ts'
import { bannerLines, readyEvent } from '../../src/cli/commands/serve.ts'
import { CommandFailure } from '../../src/cli/failure.ts'
import { displayWidth, objectText, progressText, rowsText, tableLines } from '../../src/cli/output.ts'
import { JsonNumber, type JsonObject, type JsonValue, parseJson } from '../../src/index.ts'
import { cleanText } from '../../src/libraries/base/clean-text.ts'

const number = (token: string): JsonNumber => new JsonNumber(token)
const odd = {
  columns: ['id', 'text', 'nested'],
  rows: [
    [number('9007199254740993'), 'a,"b"\nc', parseJson('{"b":[1.0,null]}')],
    [number('1.0'), '', null],
    [number('1e+21'), null, []],
  ] satisfies JsonValue[][],
}

function readCsv(text: string): Promise<string[][]> {
  return new Promise((resolve, reject) => {
    const rows: string[][] = []
    parseString(text)
      .on('error', reject)
      .on('data', (row: string[]) => rows.push(row))
      .on('end', () => resolve(rows))
  })
}

describe('rows', () => {
  test('as NDJSON and JSON are objects in the order of the columns, number tokens as they came', () => {
    const lines = [
      '{"id":9007199254740993,"text":"a,\\"b\\"\\nc","nested":{"b":[1.0,null]}}',
      '{"id":1.0,"text":"","nested":null}',
      '{"id":1e+21,"text":null,"nested":[]}',
    ]
    expect(rowsText('ndjson', odd)).toBe(lines.map((line) => `${line}\n`).join(''))
    expect(rowsText('json', odd)).toBe(`[\n${lines.join(',\n')}\n]\n`)
    expect(rowsText('json', { columns: ['a'], rows: [] })).toBe('[]\n')
    expect(rowsText('ndjson', { columns: ['a'], rows: [] })).toBe('')
  })

  test('as CSV tell null from empty text, and nest as JSON', () => {
    expect(rowsText('csv', odd)).toBe(
      'id,text,nested\n9007199254740993,"a,""b""\nc","{""b"":[1.0,null]}"\n1.0,"",\n1e+21,,[]\n',
    )
  })

  test('as CSV are read back by another reader', async () => {
    const cell = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', ',', '\n', '\r\n', ' x ', '""'))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 5 }), async (rows) => {
        const read = await readCsv(rowsText('csv', { columns: ['a', 'b'], rows }))
        expect(read).toEqual([['a', 'b'], ...rows])
      }),
      { numRuns: 50 },
    )
  })

  test('with two columns of one name are refused as objects, not as CSV', () => {
    const twice = { columns: ['a', 'a'], rows: [[number('1'), number('2')]] }
    expect(() => rowsText('ndjson', twice)).toThrow(CommandFailure)
    expect(rowsText('csv', twice)).toBe('a,a\n1,2\n')
  })

  test('as a table stand under each other, numbers to the right, wide characters counted', () => {
    const data = {
      columns: ['名前', 'n'],
      rows: [
        ['東京', number('5')],
        ['Ulm', number('12')],
        [null, null],
      ],
    }
    expect(rowsText('table', data).split('\n')).toEqual([
      '名前 │  n',
      '─────┼───',
      '東京 │  5',
      'Ulm  │ 12',
      '     │',
      '',
    ])
  })

  test('as a table bring no control character and no reordering to the terminal', () => {
    const text = rowsText('table', { columns: ['\u001b[2J'], rows: [['\u001b]0;x\u0007\u009b1m\u202e\r\n\t']] })
    expect(text).not.toMatch(/[^\P{Cc}\n]|\u202e/u)
    expect(text).toContain('\\u001b]0;x\\u0007\\u009b1m\\u202e\\r\\n\\t')
  })

  test('as a table are cut where a cell is very wide', () => {
    const [, , line = ''] = tableLines([{ name: 'geometry', alignRight: false }], [['漢'.repeat(500)]]).lines
    expect(displayWidth(line)).toBeLessThanOrEqual(80)
    expect(line.endsWith('…')).toBe(true)
  })
})

describe('an object', () => {
  const object: JsonObject = new Map<string, JsonValue>([
    ['rows', number('12')],
    ['block', parseJson('{"hash":"f16","at":{"x":1.50}}')],
    ['scopes', ['read', 'ingest']],
  ])

  test('is one line of NDJSON, indented JSON, or lines of names and values', () => {
    expect(objectText('ndjson', object)).toBe(
      '{"rows":12,"block":{"hash":"f16","at":{"x":1.50}},"scopes":["read","ingest"]}\n',
    )
    expect(objectText('json', object)).toBe(
      '{\n  "rows": 12,\n  "block": {\n    "hash": "f16",\n    "at": {\n      "x": 1.50\n    }\n  },\n  "scopes": [\n    "read",\n    "ingest"\n  ]\n}\n',
    )
    expect(objectText('table', object)).toBe(
      'rows        12\nblock.hash  f16\nblock.at.x  1.50\nscopes      read, ingest\n',
    )
  })
})

describe('text for the terminal', () => {
  test('is as wide as it is shown', () => {
    expect(['abc', 'é', 'é', '漢字', '👍', 'ｆ'].map(displayWidth)).toEqual([3, 1, 1, 4, 2, 2])
  })

  test('is never wider than the terminal, and says which columns are not there', () => {
    const columns = ['id', 'a', 'b', 'c'].map((name) => ({ name, alignRight: false }))
    const rows = [['1', 'x'.repeat(60), '漢'.repeat(30), 'y'.repeat(90)]]
    for (let width = 2; width <= 300; width++) {
      const { lines, leftOut } = tableLines(columns, rows, width)
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width)
      expect(lines[0]?.split('│').length).toBe(4 - leftOut)
    }
    expect(tableLines(columns, rows, 80)).toMatchObject({ leftOut: 0 })
    expect(tableLines(columns, rows, 20)).toMatchObject({ leftOut: 2 })
    expect(tableLines(columns, rows, 300).lines[2]).toContain(
      `${'x'.repeat(60)} │ ${'漢'.repeat(30)} │ ${'y'.repeat(79)}…`,
    )
    const many = Array.from({ length: 2000 }, (_, at) => ({ name: `column ${at}`, alignRight: false }))
    expect(tableLines(many, [many.map(({ name }) => name)], 100).leftOut).toBeGreaterThan(1900)
  })

  test('keeps what it is asked to keep', () => {
    expect(cleanText('a\tb\n', '\t')).toBe('a\tb\\n')
  })

  test('shows progress with a bar, a rate and the time that is left', () => {
    const state = { doneBytes: 5_000_000, totalBytes: 20_000_000, elapsedMs: 2000 }
    expect(progressText('a.csv', state)).toBe('a.csv  █████░░░░░░░░░░░░░░░  25%  5.0/20.0 MB  2.5 MB/s  0:06 left')
    expect(progressText('a.csv', { doneBytes: 0, totalBytes: 0, elapsedMs: 0 })).toContain('100%')
  })

  test('of a node that is ready is at most twelve aligned lines', () => {
    const facts = {
      url: 'http://127.0.0.1:8080',
      did: 'did:key:z6Mk',
      version: '1.2.3',
      dataDir: './data',
      tokenFile: 'data/token',
      logKind: 'file',
      roles: ['gateway', 'builder', 'replica'] as const,
      anonymousRead: true,
      keys: { witness: 'w/1+key' },
    }
    const lines = bannerLines(facts, 'data')
    expect(lines.length).toBeLessThanOrEqual(12)
    const text = lines.join('\n')
    for (const part of ['1.2.3', facts.url, `${facts.url}/swagger`, facts.did, facts.tokenFile, 'file', 'w/1+key']) {
      expect(text).toContain(part)
    }
    expect(lines.slice(1).filter((line) => !/^.{9} {2}\S/.test(line))).toEqual([])
    expect(text).toContain('commands that run here find it')
    expect(bannerLines(facts, 'elsewhere').join('\n')).toContain('PROOFSTREAM_DATA=./data')
    expect(bannerLines({ ...facts, roles: ['replica'] }, 'data').at(-1)).toMatch(/^Roles {6}replica$/)
    expect(lines.at(-1)).toContain('proofstream query ')
  })

  test('names the program as it can be typed here', () => {
    const text = "Run: proofstream fsck x, './proofstream serve', proofstream --server u tail; Proofstream is a node."
    expect(asTyped(text, 'npx proofstream')).toBe(
      "Run: npx proofstream fsck x, './proofstream serve', npx proofstream --server u tail; Proofstream is a node.",
    )
    expect(asTyped('npx proofstream demo')).toBe('npx proofstream demo')
    expect(asTyped('proofstream demo', 'proofstream')).toBe('proofstream demo')
  })

  test('says to a program that it is ready, and in a container where a person finds address and token', () => {
    const [did, roles] = ['did:key:z6Mk', ['gateway', 'builder', 'replica'] as const]
    const node = { did, roles, url: 'http://0.0.0.0:8080', tokenFile: '/data/token', keys: {} }
    expect(readyEvent(node, 17)).toEqual({ event: 'ready', url: node.url, did, pid: 17 })
    expect(readyEvent(node, 1)['next']).toMatch(/http:\/\/localhost:8080\/.*docker exec .*\/data\/token/)
    expect(readyEvent({ ...node, roles: ['replica'] }, 1)).not.toHaveProperty('next')
  })
})
