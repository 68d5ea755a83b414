// CSV bodies: headers, cells, faults with their places, and fast-csv as the oracle.

import fc from 'fast-check'
import { parseString, writeToString } from 'fast-csv'
import { describe, expect, it } from 'vitest'
import type { CsvHeader } from '../../../src/libraries/formats/format.ts'
import { type DataType, timestampMs } from '../../../src/libraries/model/schema.ts'
import { failure, faults, kinds, optionalField, read, readerOptions, rowsOf } from './reading.ts'

const fields = [
  optionalField('a', { kind: 'Int64' }),
  optionalField('b', { kind: 'String' }),
  optionalField('c', { kind: 'Float64' }),
]
const options = readerOptions(fields)
const absent = readerOptions(fields, { csvHeader: 'absent' })
const present = readerOptions(fields, { csvHeader: 'present' })
const rows = (text: string, settings = options): unknown[][] =>
  rowsOf(read('csv', text, settings)).map((row) => row.slice(1))

function cell(type: DataType, text: string): unknown {
  const settings = readerOptions([optionalField('v', type), optionalField('w', type)], { csvHeader: 'absent' })
  return rowsOf(read('csv', `${text},\n`, settings))[0]?.[1]
}

function fault(type: DataType, text: string): string | undefined {
  return faults('csv', `${text}\n`, readerOptions([optionalField('v', type)], { csvHeader: 'absent' }))[0]?.kind
}

describe('headers', () => {
  it.each([
    ['c,a,b\n1.5,1,x\n', 'present', [[1n, 'x', 1.5]]],
    ['C,A\n1.5,1\n', 'present', [[1n, null, 1.5]]],
    ['event_time,b\n2024-01-01T00:00:00Z,x\n', 'present', [[null, 'x', null]]],
    ['\ufeffa,b,c\r\n1,x,2\r\n', 'present', [[1n, 'x', 2]]],
    ['"a","b","c"\n1,x,2', 'present', [[1n, 'x', 2]]],
    ['a,b,c', 'present', []],
    ['1,x,2\n', 'absent', [[1n, 'x', 2]]],
    ['1,,\n', 'absent', [[1n, null, null]]],
    [' C , a\n1.5,1\n', 'present', [[1n, null, 1.5]]],
    ['\u00a0a,b\ufeff\n1,x\n', 'present', [[1n, 'x', null]]],
  ] as [string, CsvHeader, unknown[][]][])(
    'without the parameter, %j begins with a header: %s',
    (text, header, expected) => {
      const body = read('csv', text, options)
      expect(body.csvHeader).toBe(header)
      expect(rowsOf(body).map((row) => row.slice(1))).toEqual(expected)
    },
  )

  it.each(['a,a,b\n', '1,a,2\n', '1,b,\n', 'x,y,z\n', ',a,b\n', 'a,b,\n', 'x\n', '2020,a\n', ',x,y\n', 'x,y,\n'])(
    'may be rows, and are refused without the parameter: %j',
    (text) => {
      expect(kinds('csv', text, options)).toEqual(['MalformedRecord@header'])
      expect(failure(() => read('csv', text, options)).details.hint).toMatch(
        /header=present or header=absent.*'a', 'b'/,
      )
    },
  )

  it('have new names, which unknownFields judges', () => {
    expect(kinds('csv', 'b,country\nx,Norway\n', options)).toEqual(['UnknownField@header'])
    const ignoring = { ...options, unknownFields: 'ignore' } as const
    expect(rowsOf(read('csv', 'country,B\nNorway,x\n', ignoring))).toEqual([[null, null, 'x', null]])
    const numbers = readerOptions([optionalField('n', { kind: 'Int64' }), optionalField('t', timestampMs)])
    expect(kinds('csv', 'u,v\n1,2024-01-01T00:00:00Z\n', numbers)).toEqual([
      'UnknownField@header',
      'UnknownField@header',
    ])
  })

  it('stand once: a repeated one is refused with its line', () => {
    for (const again of ['a,b', '\ufeffa,b', 'a,b\r', 'A,B', ' a , b', '"a","b"', 'b,a', '\ufeffB,"A"']) {
      const [fault] = faults('csv', `a,b\n1,x\n${again}\n2,y\n`, options, 5)
      expect([fault?.kind, fault?.line, fault?.record]).toEqual(['MalformedRecord', 3, 1])
      expect(fault?.message).toContain('header')
    }
    expect(rows('a,b\n1,a\n', present)).toEqual([[1n, 'a', null]])
    const texts = readerOptions([optionalField('a', { kind: 'String' }), optionalField('b', { kind: 'String' })])
    expect(rowsOf(read('csv', 'a,b\na,a\n', texts))).toEqual([[null, 'a', 'a']])
  })

  it('have no name for a cell: it may stand there without a value', () => {
    expect(rows('a,,b\n1,,x\n', present)).toEqual([[1n, 'x', null]])
    expect(kinds('csv', 'a,,b\n1,2,x\n', present)).toEqual(['UnknownField@0'])
  })

  it('hold when the media type says so', () => {
    expect(rows('b\nB\n', present)).toEqual([[null, 'B', null]])
    const texts = [optionalField('a', { kind: 'String' }), optionalField('b', { kind: 'String' })]
    const settings = readerOptions(texts, { csvHeader: 'absent' })
    expect(rowsOf(read('csv', 'a,b\n', settings))).toEqual([[null, 'a', 'b']])
  })

  it('name their faulty cells without a record', () => {
    const [unknown, twice, system] = faults('csv', 'a,x,A,offset\n1,2,3,4\n', present)
    expect(unknown).toMatchObject({ kind: 'UnknownField', line: 1, byteOffset: 2, column: 'x', excerpt: 'x' })
    expect(unknown).not.toHaveProperty('record')
    expect(twice).toMatchObject({ kind: 'DuplicateField', column: 'A', byteOffset: 4 })
    expect(system).toMatchObject({ kind: 'ReservedColumn', column: 'offset', byteOffset: 6 })
  })

  it('may name unknown columns when these are ignored, or valueless ones without values', () => {
    expect(rows('a,x,c\n1,"q\nq",2\n', { ...present, unknownFields: 'ignore' })).toEqual([[1n, null, 2]])
    const valueless = { ...present, valueless: ['x'] }
    expect(rows('a,X,c\n1,,2\n', valueless)).toEqual([[1n, null, 2]])
    expect(faults('csv', 'a,X,c\n1,,2\n1,9,2\n', valueless)).toMatchObject([
      { record: 1, kind: 'UnknownField', column: 'X', excerpt: '9' },
    ])
  })

  it('count the event time by position only where the schema declares it', () => {
    const declared = readerOptions(
      [optionalField('a', { kind: 'Int64' }), optionalField('event_time', { kind: 'Timestamp' })],
      {
        csvHeader: 'absent',
      },
    )
    expect(rowsOf(read('csv', '1,2024-01-01T00:00:00Z\n', declared))).toEqual([[1704067200000n, 1n]])
    expect(kinds('csv', '2024-01-01T00:00:00Z,1,x,2\n', absent)).toEqual(['TooManyFields@0'])
  })
})

describe('cells', () => {
  it('are null when empty; quoted empty text is text in a String column and null elsewhere', () => {
    expect(rows(',,\n"","",""\n', absent)).toEqual([
      [null, null, null],
      [null, '', null],
    ])
  })

  it('end at LF or CRLF, hold quotes and line ends in quotes, and are never trimmed as text', () => {
    expect(rows('1," a ""b""\r\n,c", 2\t\r\n\r\n\n 3 , x ,\n', absent)).toEqual([
      [1n, ' a "b"\r\n,c', 2],
      [3n, ' x ', null],
    ])
  })

  it.each([
    [{ kind: 'Int64' }, '+1', 1n],
    [{ kind: 'Int64' }, '007', 7n],
    [{ kind: 'Int64' }, ' -9223372036854775808\t', -(2n ** 63n)],
    [{ kind: 'Int64' }, '"12"', 12n],
    [{ kind: 'Int64' }, '5.', 5n],
    [{ kind: 'Float64' }, '.5', 0.5],
    [{ kind: 'Float64' }, '5.', 5],
    [{ kind: 'Float64' }, '+00.5e1', 5],
    [{ kind: 'Float64' }, ' ', null],
    [{ kind: 'Bool' }, 'TRUE', true],
    [{ kind: 'Bool' }, ' False ', false],
    [{ kind: 'Date' }, ' 2024-02-29 ', 19782],
    [{ kind: 'Timestamp' }, ' 2024-01-01 00:00:00+0000 ', 1704067200000n],
    [{ kind: 'Decimal', precision: 10, scale: 2 }, '+.5', 50n],
    [{ kind: 'String' }, '007', '007'],
  ] as [DataType, string, unknown][])('read %o from %j', (type, text, expected) => {
    expect(cell(type, text)).toEqual(expected)
  })

  it.each([
    [{ kind: 'Int64' }, '1.5', 'WrongType'],
    [{ kind: 'Int64' }, '0x10', 'WrongType'],
    [{ kind: 'Int64' }, '1_000', 'WrongType'],
    [{ kind: 'Int64' }, '- 1', 'WrongType'],
    [{ kind: 'Int64' }, '9223372036854775808', 'OutOfRange'],
    [{ kind: 'Float64' }, 'nano', 'WrongType'],
    [{ kind: 'Int64' }, 'NaN', 'WrongType'],
    [{ kind: 'Decimal', precision: 4, scale: 1 }, 'inf', 'WrongType'],
    [{ kind: 'Float64' }, '1e400', 'OutOfRange'],
    [{ kind: 'Float64' }, '.', 'WrongType'],
    [{ kind: 'Float64' }, '1 2', 'WrongType'],
    [{ kind: 'Bool' }, 'yes', 'WrongType'],
    [{ kind: 'Bool' }, '1', 'WrongType'],
    [{ kind: 'Date' }, '2023-02-29', 'BadDate'],
    [{ kind: 'Timestamp' }, '2024-01-01 00:00:00', 'BadTimestamp'],
    [{ kind: 'Timestamp' }, '1704067200', 'BadTimestamp'],
  ] as [DataType, string, string][])('refuse for %o the text %j: %s', (type, text, kind) => {
    expect(fault(type, text)).toBe(kind)
  })

  it('read numeric event times as epochs when told so', () => {
    const epoch = readerOptions(fields, { eventTimeUnit: 'ms' })
    expect(
      rowsOf(read('csv', 'a,event_time\n1,1704067200000.9\n2,2024-01-01T00:00:00Z\n', epoch)).map(([time]) => time),
    ).toEqual([1704067200000n, 1704067200000n])
    expect(faults('csv', 'a,event_time\n1,1704067200000\n', options)[0]?.message).toContain('eventTimeUnit')
  })

  it('take zoneless times for UTC when told so', () => {
    const utc = readerOptions(fields, { timeZone: 'UTC' })
    expect(rowsOf(read('csv', 'a,event_time\n1,2024-01-01 00:00:00\n', utc))[0]?.[0]).toBe(1704067200000n)
  })
})

describe('faults of CSV', () => {
  it('name record, line, offset, column and excerpt', () => {
    expect(faults('csv', 'a,b,c\n1,"x\ny",2\n\nq,x\n1,2,3,4\nz,"""",1e400\n', options)).toMatchObject([
      { record: 1, line: 5, byteOffset: 17, kind: 'TooFewFields' },
      { record: 2, line: 6, byteOffset: 27, kind: 'TooManyFields', excerpt: '4' },
      { record: 3, line: 7, byteOffset: 29, column: 'a', kind: 'WrongType', excerpt: 'z' },
      { record: 3, line: 7, byteOffset: 36, column: 'c', kind: 'OutOfRange', excerpt: '1e400' },
    ])
  })

  it('say what to do when a header was not recognised', () => {
    expect(faults('csv', '1,2,3,4\n', options)[0]?.message).toContain('header=present')
    expect(faults('csv', 'a,b,c,d\n1,2,3,4\n', absent)[0]?.message).not.toContain('header=present')
  })

  it.each([
    ['1,"x"y,2\n1,x,2\n', 5],
    ['1, "x",2\n1,x,2\n', 3],
    ['1,x\u0000,2\n1,x,2\n', 3],
    ['1,"x\u0000"y,2\n1,x,2\n', 4],
  ])('are MalformedRecord in %j, and the next record is judged', (text, byteOffset) => {
    for (let chunk = 1; chunk <= text.length; chunk++) {
      expect(faults('csv', text, absent, chunk)).toMatchObject([
        { record: 0, line: 1, byteOffset, kind: 'MalformedRecord' },
      ])
    }
  })

  it('point at the quote that is never closed, whatever the length of the body', () => {
    const text = 'a,b,c\n1,x,2\n1,"y\nz""",2\n1,"z""\n1,y,2\n'
    for (let chunk = 1; chunk <= text.length; chunk++) {
      expect(faults('csv', text, options, chunk)).toMatchObject([
        { record: 2, line: 5, byteOffset: 26, kind: 'UnclosedQuote' },
      ])
    }
    const small = readerOptions(fields, { recordBytes: 100 })
    for (const chunk of [3, 64, 1_000_000]) {
      const long = faults('csv', text + '1,y,2\n'.repeat(500), small, chunk)
      expect(long).toMatchObject([{ record: 2, line: 5, byteOffset: 26, kind: 'UnclosedQuote' }])
    }
  })

  it('say RecordTooLarge for a closed record over the cap, and judge what follows', () => {
    const small = readerOptions(fields, { recordBytes: 20, csvHeader: 'absent' })
    const text = `1,"${'x\n'.repeat(50)}",2\nq,x,2\n`
    for (const chunk of [1, 30, 1000]) {
      expect(faults('csv', text, small, chunk)).toMatchObject([
        { record: 0, line: 1, byteOffset: 0, kind: 'RecordTooLarge' },
        { record: 1, line: 52, kind: 'WrongType' },
      ])
    }
  })

  it('say TooManyFields for a record of commas', () => {
    expect(kinds('csv', `1,x,2\n${','.repeat(100_000)}\nq,x,2\n`, options)).toEqual(['TooManyFields@1', 'WrongType@2'])
  })

  it('end the reading where the header itself is faulty', () => {
    expect(kinds('csv', '"a,b\n1,2', present)).toEqual(['UnclosedQuote@header'])
    expect(failure(() => read('csv', 'a"b,c\n1,2\n', options)).kind).toBe('RecordsDoNotFit')
  })

  it('point at invalid UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from('1,é,2\n1,'), Buffer.from([0xff]), Buffer.from(',2\n')])
    expect(faults('csv', bytes, absent, 3)).toMatchObject([{ record: 1, line: 2, byteOffset: 9, kind: 'InvalidUtf8' }])
  })

  it('name required columns that the header lacks', () => {
    const required = readerOptions([{ name: 'a', type: { kind: 'Int64' } }, ...fields.slice(1)])
    expect(faults('csv', 'b\nx\n', required)).toMatchObject([{ record: 0, column: 'a', kind: 'MissingRequired' }])
    expect(faults('csv', 'a,b\n,x\n', required)).toMatchObject([{ record: 0, column: 'a', kind: 'MissingRequired' }])
    expect(rows('b\n', required)).toEqual([])
  })
})

describe('any CSV', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', ',', '"', '\n', '\r\n', '1'), maxLength: 6 })
  const table = fc.array(fc.tuple(text, text, text), { maxLength: 6 })
  const settings = readerOptions(
    ['x', 'y', 'z'].map((name) => optionalField(name, { kind: 'String' })),
    { csvHeader: 'absent' },
  )

  it('gives the cells that fast-csv wrote and reads, at every chunk size', async () => {
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.integer({ min: 1, max: 30 }),
        fc.constantFrom('\n', '\r\n'),
        async (cells, chunk, rowDelimiter) => {
          // A row of empty cells is written as commas; fast-csv drops it when it is a single cell only.
          const written = await writeToString(cells, { rowDelimiter })
          const oracle: string[][] = []
          await new Promise((resolve, reject) => {
            parseString(written)
              .on('data', (row: string[]) => oracle.push(row))
              .on('end', resolve)
              .on('error', reject)
          })
          expect(oracle).toEqual(cells)
          const ours = rowsOf(read('csv', written, settings, chunk)).map((row) => row.slice(1))
          expect(ours).toEqual(oracle.map((row) => row.map((value) => (value === '' ? null : value))))
        },
      ),
      { numRuns: 200 },
    )
  })

  it('gives the same rows or faults at every chunk size', () => {
    const piece = fc.constantFrom('1', 'x', ',', ',', '"', '""', '\n', '\r', '\r\n', ' ', '\u0000', 'é')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), fc.integer({ min: 1, max: 6 }), (pieces, chunk) => {
        const outcome = (size: number): unknown => {
          try {
            return rowsOf(read('csv', pieces.join(''), settings, size))
          } catch (error) {
            const { kind, details } = failure(() => {
              throw error
            })
            return [kind, details.errors]
          }
        }
        expect(outcome(chunk)).toEqual(outcome(1000))
      }),
      { numRuns: 3000 },
    )
  })
})
