// What is read in the text of a statement: where the bare word `offset` is a column and where it is the clause, how places
// map back, names of datasets that lack their quotes (the engine says "syntax error"; we say what to write).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quoteOffsetWord } from '../../../src/libraries/sql/offset-word.ts'
import {
  checkStatementKind,
  positionOfByte,
  positionOfCodePoint,
  unquotedNameHint,
} from '../../../src/libraries/sql/sql-text.ts'

describe('the column', () => {
  test.each([
    'select ?, op',
    'select op, ?',
    'select distinct ? from t',
    'select all ? from t',
    'select distinct on (op) ? from t',
    'select max(?) from t',
    'select 1 + ? from t',
    'select 2 * ? from t',
    'select -? from t',
    'select not ? from t',
    'select a from t where ? > 5',
    'select a from t where 5 < ? and ? < 9 or ?=1',
    'select a from t order by ? desc',
    'select a from t order by a, ?',
    'select a from t group by ? having ? > 1',
    'select * from t join u using (?)',
    'select * from t join u on ? = x',
    'select case when ? > 1 then ? else ? end from t',
    'select case ? when 1 then 2 end from t',
    'select a between ? and ? from t',
    'select a in (?, 2) from t',
    'select [?, 1], {x: ?} from t',
    'select x[?] from t',
    'select ?::text, ?.x from t',
    'select sum(a) over (partition by ? order by ? rows between ? preceding and current row) from t',
    'select * exclude (?) from t',
    'select * exclude ? from t',
    'select a is distinct from ? from t',
    'select a is not distinct from ? from t',
    'select list_transform(l, x -> ?) from t',
    'select struct_pack(a := ?) from t',
    "select 'it''s' || ? from t",
    'select /* c */ ? -- offset\n from t',
    'SELECT OFF from t',
    'select max(a) filter (where ? > 1) from t',
    'select a from t qualify ? = 1',
    'select a from t order by ? limit 1 offset 2',
    'select (?) from t limit 5 offset 3',
    'select a, * from t where ? = 1 offset 5',
    'select "a" from t where"a"=? offset 5',
    'select a like ? from t',
    'select a >= ? from t',
    'select 1,? from t',
    'select 10 % ? from t',
    'select a % ? from t limit 10',
    'select (select b from u limit 10%) % ? from t',
    'select a from t where b in (select c from u limit 1) and ? > 1',
    'select t.limit, ? from t',
    'select a as limit, 2 % ? from t',
  ])('%s', (template) => {
    const sql = template.replaceAll('?', 'offset').replaceAll('OFF', 'OFFSET')
    const quoted = template.replaceAll('?', '"offset"').replaceAll('OFF', '"OFFSET"')
    expect(quoteOffsetWord(sql).text).toBe(quoted)
  })
})

describe('not the column', () => {
  test.each([
    'select a from t offset 5',
    'select * from t offset 5',
    'select t.* from t limit 3 offset 5',
    'select a from t limit all offset 5',
    'select a from t limit (1) offset 5',
    'select a from t order by a desc offset 5',
    'select a from t order by a nulls last offset 5',
    'select a from t where b is null offset 5',
    'select a from t where b = true offset 1',
    'select a from t where b = 1.5 offset 1',
    "select a from t where b = 'x' offset 1",
    'select a from t where b = x[1] offset 1',
    'select a from t group by all offset 5',
    'select case when a then b end offset 1',
    'values (1), (2) offset 1',
    'select t.offset from t',
    'select a as offset from t',
    "select 'offset', \"offset\", $$ offset $$, e'\\' offset' from t",
    'select offsets, my_offset, offset1 from t',
    'select 1 -- , offset\n',
    'select 1 /* , offset /* , offset */ , offset */',
    'select * from "t" offset 5',
    'offset',
    'select count(*) offset 1',
    'select x.* offset 1',
    'select * offset 1',
    'select a from t limit 10% offset 2',
    'select a from t limit 10 % offset 2',
    'select a from t limit (1 + 1)% offset 2',
    'select a from t limit (select 10)% offset 2',
    'select a from (select b from u limit 5 % offset 1) limit 10% offset 2',
  ])('%s', (sql) => {
    expect(quoteOffsetWord(sql)).toMatchObject({ text: sql, inserted: [] })
  })
})

test('a statement of any shape is read in one pass', () => {
  for (const piece of [
    '*',
    '* ',
    'distinct on (',
    ') ',
    '(',
    'offset * ',
    '- offset ',
    'is not distinct from ',
    '% ',
  ]) {
    const sql = `select ${piece.repeat(60_000 / piece.length)} offset`
    const began = performance.now()
    quoteOffsetWord(sql)
    expect.soft(performance.now() - began, piece).toBeLessThan(2_000)
  }
})

describe('places', () => {
  test('map back to the text as sent, in bytes and in code points', () => {
    const sql = quoteOffsetWord("select 'é😀', offset,\n  offset + nope")
    expect(sql.text).toBe('select \'é😀\', "offset",\n  "offset" + nope')
    const at = sql.text.indexOf('nope')
    const before = sql.text.slice(0, at)
    const expected = { offset: Buffer.byteLength(before) - 4, line: 2, column: 12 }
    expect(positionOfByte(sql, Buffer.byteLength(before))).toEqual(expected)
    expect(positionOfCodePoint(sql, Array.from(before).length)).toEqual(expected)
  })

  test('every place of a quoted text maps to the same character of the text as sent', () => {
    const pieces = ['select ', 'offset', ', ', 'é', '😀', ' + ', '"x"', "'offset'", ' from t', '\n', '(', ')']
    const piece = fc.constantFrom(...pieces)
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (chosen) => {
        const sql = quoteOffsetWord(chosen.join(''))
        expect(sql.text.length).toBe(sql.original.length + sql.inserted.length)
        let bytes = 0
        let index = 0
        for (const character of sql.text) {
          const isQuote = sql.inserted.includes(index)
          const { offset } = positionOfByte(sql, bytes)
          const there = Buffer.from(sql.original).subarray(offset).toString()
          expect(isQuote || there.startsWith(character)).toBe(true)
          index += character.length
          bytes += Buffer.byteLength(character)
        }
      }),
    )
  })
})

describe('a name without quotes', () => {
  test.each([
    ['select * from lab/readings-v1', 'lab/readings-v1'],
    ['select a\nFROM lab/readings where a > 1', 'lab/readings'],
    ['select * from lab.readings-v1', 'lab/readings-v1'],
    ['select * from my-lab.readings', 'my-lab/readings'],
    ['select * from "a/b" x join com.example.eth-usd/v2 y using (id)', 'com.example.eth-usd/v2'],
    ['summarize lab/readings', 'lab/readings'],
  ])('is quoted in the hint: %s', (sql, name) => {
    expect(unquotedNameHint(sql)).toContain(`"${name}"`)
  })

  test.each([
    'select * from "lab/readings-v1"',
    'select * from lab."readings-v1"',
    'select a / b from lab.readings',
    'select a-b from lab.readings',
    "select 'from lab/readings-v1'",
    'select 1 -- from lab/readings',
    'select /* from lab/readings */ 1 from x',
    'select * from range(3)',
  ])('is not seen where there is none: %s', (sql) => {
    expect(unquotedNameHint(sql)).toBeUndefined()
  })

  test('is looked for in any text, in time that grows with it', () => {
    const part = fc.constantFrom('from ', 'lab', '/', '-', '.', 'a-', "'", '"', '--', '/*', '\n', 'join ')
    fc.assert(fc.property(fc.array(part, { maxLength: 200 }), (parts) => void unquotedNameHint(parts.join(''))))
    for (const text of [
      'from '.repeat(10_000),
      `from ${'a-'.repeat(30_000)}`,
      `from ${'a.'.repeat(30_000)}`,
      "'".repeat(60_000),
      '/*'.repeat(30_000),
    ]) {
      const startMs = performance.now()
      unquotedNameHint(text)
      expect(performance.now() - startMs).toBeLessThan(1_000)
    }
  })
})

describe('comments over which the engine takes long', () => {
  const tooMany = ['/**/'.repeat(1001), `${'/*'.repeat(101)}${'*/'.repeat(101)}`, '/* /* */']
  test.each(tooMany.map((text) => [text]))('are refused: %.20s', (text) => {
    expect(() => checkStatementKind(`select 1 ${text}`)).toThrow(expect.objectContaining({ kind: 'SqlSyntax' }))
  })

  test('are taken otherwise, and what is a text is no comment', () => {
    for (const text of [
      '/**/'.repeat(1000),
      `${'/*'.repeat(100)}${'*/'.repeat(100)}`,
      `|| '${'/**/'.repeat(2000)}'`,
      '-- a\n'.repeat(2000),
    ])
      checkStatementKind(`select 1 ${text}`)
  })
})

describe('letters right behind a number, which the engine takes for a name,', () => {
  test.each([
    ['select 0x1F', '0x1F', 8, 'write 31.'],
    ['select 1 + 0B101', '0B101', 12, 'write 5.'],
    ['select 1abc from t', '1abc', 8, 'space'],
    ['select 1__0', '1__0', 8, 'space'],
    ['select 1._5', '1._5', 8, 'space'],
    ['select a from t where 1=1and b', '1and', 25, 'space'],
    [`select 1${'x'.repeat(99)}`, `1${'x'.repeat(39)}…`, 8, 'space'],
  ])('are refused: %s', (sql, written, column, toDo) => {
    const refused = expect.objectContaining({
      kind: 'SqlSyntax',
      message: `${written} is no number: letters come right behind its digits.`,
      details: { position: expect.objectContaining({ line: 1, column }), hint: expect.stringContaining(toDo) },
    })
    expect(() => checkStatementKind(sql)).toThrow(refused)
  })

  test.each([
    'select 1e5, 1E+5, 1.e2, .5e-1, 1e5_0, 1_000.5_0, 1., .5',
    "select x'1F', b'101', '0x1F', $$0x1F$$",
    'select 1 x, 1"a", [1,2][1]x, a1, a_1b, $1',
    'select 1::int, (2)or true, 1/* */x from "1abc" t -- 0x1F',
  ])('are none: %s', (sql) => expect(() => checkStatementKind(sql)).not.toThrow())
})
