// Records inside of a body, and members of objects inside of records, against a plain implementation over JSON.parse.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { failure, faults, infer, kinds, optionalField, read, readerOptions, rowsOf } from './reading.ts'

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

const names = fc.constantFrom('a', 'b', 'a_b', 'A', 'c/d', 'e~')
const { record } = fc.letrec<{ record: Record<string, Json>; value: Json }>((tie) => ({
  record: fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, 0, -1.5, 'x', 'ü"\\n', [], [1, { a: 2 }]),
    tie('record'),
  ),
}))

const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const segment = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** Each member in order, with its pointer and its value; of objects, which are no value, undefined. */
function* leaves(
  value: Record<string, Json>,
  prefix = '',
  path = '',
): Generator<[name: string, pointer: string, value: Json | undefined]> {
  for (const [name, member] of Object.entries(value)) {
    const pointer = path + segment(name)
    if (!isObject(member)) yield [prefix + name, pointer, member]
    else {
      yield [prefix + name, pointer, undefined]
      yield* leaves(member, `${prefix}${name}_`, pointer)
    }
  }
}

const textOf = (value: Json): string | null =>
  value === null ? null : typeof value === 'string' ? value : JSON.stringify(value)

describe('flatten', () => {
  it('makes columns of the members of objects inside, or names the two that have one name', () => {
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 60 }),
        (records, chunk) => {
          const all = records.map((one) => [...leaves(one)])
          const columns = [
            ...new Map(
              all
                .flat()
                .filter(([, , value]) => value !== undefined)
                .map(([name]) => [name.toLowerCase(), name]),
            ).values(),
          ]
          const options = readerOptions(
            columns.map((name) => optionalField(name, { kind: 'String' })),
            { flatten: true },
          )
          const text = records.map((one) => JSON.stringify(one)).join('\n')
          const twice = all.map((one) =>
            one.find(([name], at) => one.slice(0, at).some(([other]) => other.toLowerCase() === name.toLowerCase())),
          )
          const bad = twice.findIndex((one) => one !== undefined)
          const array = `[${records.map((one) => JSON.stringify(one, null, 1)).join(',')}]`
          const given =
            bad < 0 ? rowsOf(read('ndjson', text, options, chunk)) : faults('ndjson', text, options, chunk)[0]
          const rows = all.map((one) => {
            const values = new Map(one.map(([name, , value]) => [name.toLowerCase(), value]))
            return [null, ...columns.map((name) => textOf(values.get(name.toLowerCase()) ?? null))]
          })
          const [, pointer = ''] = twice[bad] ?? []
          const [, other = ''] = all[bad]?.find(([name]) => name.toLowerCase() === twice[bad]?.[0].toLowerCase()) ?? []
          const message = expect.stringContaining(`'${other}' and '${pointer}'`) as string
          const fault = expect.objectContaining({
            kind: 'DuplicateField',
            record: bad,
            line: bad + 1,
            pointer,
            message,
          })
          expect(given).toEqual(bad < 0 ? rows : fault)
          expect(bad < 0 ? rowsOf(read('json', array, options, chunk)) : rows).toHaveLength(records.length)
        },
      ),
      { numRuns: 400 },
    )
  })

  it('infers a column for each member that has a value', () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), (records) => {
        const found = new Map<string, boolean>()
        for (const [name, , value] of records.flatMap((one) => [...leaves(one)])) {
          if (value === undefined) continue
          found.set(name.toLowerCase(), (found.get(name.toLowerCase()) ?? false) || value !== null)
        }
        const { fields, valueless } = infer('ndjson', records.map((one) => JSON.stringify(one)).join('\n'), {
          flatten: true,
        })
        const expected = [...found].filter(([, has]) => has).map(([name]) => name)
        expect(fields.map(({ name }) => name.toLowerCase())).toEqual(expected)
        expect(valueless).toHaveLength(found.size - expected.length)
      }),
    )
  })

  it('keeps required columns, depth and the objects of lists', () => {
    const options = readerOptions([{ name: 'a_b', type: { kind: 'Int64' } }], {
      flatten: true,
      jsonDepth: 4,
      unknownFields: 'ignore',
    })
    expect(faults('ndjson', '{"a":{}}', options)).toMatchObject([{ kind: 'MissingRequired', column: 'a_b' }])
    expect(faults('ndjson', '{"a":{"b":"x"}}', options)).toMatchObject([
      { kind: 'WrongType', pointer: '/a/b', byteOffset: 10 },
    ])
    expect(faults('ndjson', '{"a":{"b":1,"c":{"d":{"e":{}}}}}', options)).toMatchObject([
      { kind: 'TooDeep', pointer: '/a/c/d/e' },
    ])
    expect(faults('ndjson', '{"a":{"b":1},"a":{"c":2}}', options)).toMatchObject([
      { kind: 'DuplicateField', pointer: '/a' },
    ])
    expect(rowsOf(read('ndjson', '{"a":{"b":1,"c":[{"d":1}]}}', options))).toEqual([[null, 1n]])
  })

  it('is for the properties of features too', () => {
    const feature = '{"type":"Feature","geometry":null,"properties":{"a":{"b":1},"geometry":{"x":2},"id":{"y":[3]}}}'
    const { fields } = infer('ndgeojson', feature, { flatten: true })
    const names = ['geometry', 'a_b', 'geometry_x', 'id_y', 'feature_extra']
    expect(fields.map(({ name }) => name)).toEqual(names)
    expect(rowsOf(read('ndgeojson', feature, readerOptions(fields, { flatten: true })))).toEqual([
      [null, null, 1n, 2n, '[3]', '{"properties":["id_y"]}'],
    ])
    const twice = '{"type":"Feature","geometry":null,"properties":{"a":{"b":1},"a_b":2}}'
    const [fault] = faults('ndgeojson', twice, readerOptions(fields, { flatten: true }))
    expect(fault?.message).toContain("'/properties/a/b' and '/properties/a_b'")
  })
})

describe('records', () => {
  const options = readerOptions([optionalField('a', { kind: 'String' }), optionalField('b', { kind: 'String' })], {
    unknownFields: 'ignore',
  })
  const rows = fc.array(
    fc.record({ a: fc.string(), b: fc.constantFrom('[', '{"x":[]}', '],"records":[') }, { requiredKeys: [] }),
    {
      maxLength: 4,
    },
  )

  it('are the elements of the arrays at the path, whatever stands around them', () => {
    const around = fc.dictionary(fc.constantFrom('x', 'y', 'records"', 'ä'), record, {
      maxKeys: 2,
      noNullPrototype: true,
    })
    fc.assert(
      fc.property(
        fc.array(rows, { maxLength: 3 }),
        around,
        around,
        fc.integer({ min: 1, max: 50 }),
        (lists, before, after, chunk) => {
          const body = {
            ...before,
            in: lists.map((list) => ({ ...before, records: list, ...after })),
            'z/': [[], after],
          }
          const wanted = (lists_: readonly (typeof lists)[number][]): unknown[][] =>
            lists_.flat().map(({ a, b }) => [null, a ?? null, b ?? null])
          for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)]) {
            if (lists.length === 0) continue
            expect(rowsOf(read('json', text, { ...options, records: ['in', '*', 'records'] }, chunk))).toEqual(
              wanted(lists),
            )
            expect(rowsOf(read('json', text, { ...options, records: ['in', '0', 'records'] }, chunk))).toEqual(
              wanted(lists.slice(0, 1)),
            )
            const inferred = infer('json', text, { records: ['in', '*', 'records'] })
            expect(inferred.records).toBe(lists.flat().length)
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it('that are not there, or in what is not JSON, are told', () => {
    const fails = (text: string): string => {
      const { kind, message, details } = failure(() => read('json', text, { ...options, records: ['m'] }, 3))
      return `${kind} ${details.errors?.[0]?.kind ?? ''} ${details.errors?.[0]?.record ?? ''} ${message}`
    }
    for (const text of ['{}', '[]', '{"m":{}}', '{"m":1}', '{"x":{"m":[]}}', '[{"m":[]}]', '3', '"m"', '']) {
      expect(fails(text)).toMatch(/^MalformedBody .*(?:no array at '\/m'|text around)/)
    }
    for (const text of [
      '{"m":[{}]',
      '{"m":[{}]]',
      '{"m":[{}],}',
      '{"m":[{}],"m":[]}',
      '{"x" 1,"m":[{}]}',
      '{"m":[{}]}}',
      '{"m":[{},]}',
      '{"m":[{}',
      '{"m":[{} {}]}',
    ]) {
      expect(fails(text)).toMatch(/^RecordsDoNotFit MalformedRecord/)
    }
    expect(fails('{"m":[{},3]}')).toMatch(/^RecordsDoNotFit MalformedRecord 1/)
    expect(fails('{"m":[{},{"a":[}]}')).toMatch(/^RecordsDoNotFit MalformedRecord 1/)
    expect(rowsOf(read('json', ' {"m" : [ ] } ', { ...options, records: ['m'] }, 1))).toEqual([])
    expect(
      failure(() => read('json', `{"x":"${'x'.repeat(100)}","m":[]}`, { ...options, recordBytes: 64, records: ['m'] }))
        .kind,
    ).toBe('MalformedBody')
  })

  it('tell the line and the byte of their faults', () => {
    const text = '{\n"x": [1,\n2],\n"m": [\n{"a": "1"},\n{"a": 2, "b": }\n]}'
    const [fault] = faults('json', text, { ...options, records: ['m'] })
    expect(fault).toMatchObject({ kind: 'MalformedRecord', record: 1, line: 6, byteOffset: text.indexOf('}\n]}') })
  })
})

describe('names that no column can have', () => {
  const fields = [optionalField('n', { kind: 'Int64' })]
  const long = 'p'.repeat(100_000)
  const members = Array.from({ length: 2_000 }, (_, i) => `"k${i}":{"a":${i}}`).join(',')

  it('are told once for all members of an object, and cut', () => {
    const [fault, ...others] = faults(
      'ndjson',
      `{"n":1,"${long}":{${members}}}`,
      readerOptions(fields, { flatten: true }),
    )
    expect(others).toEqual([])
    expect([fault?.kind, fault?.pointer, fault?.byteOffset]).toEqual(['UnknownField', undefined, 7])
    expect(fault?.message).toMatch(/^The dataset has no column 'p{255}…'; say unknownFields=add/)
  })

  it('are passed over where that is asked for', () => {
    const options = readerOptions(fields, { flatten: true, unknownFields: 'ignore' })
    expect(rowsOf(read('ndjson', `{"${long}":{${members}},"n":1}`, options))).toEqual([[null, 1n]])
    expect(faults('ndjson', `{"${long}":{},"${long}":{},"n":1}`, options).map(({ kind }) => kind)).toEqual([
      'DuplicateField',
    ])
  })

  it('begin with no name of a column, however near they are', () => {
    const name = `${'p'.repeat(250)}_abc`
    const options = readerOptions([optionalField(`${name}_`, { kind: 'Int64' }), ...fields], { flatten: true })
    expect(rowsOf(read('ndjson', `{"${'p'.repeat(250)}":{"abc":{"":1}}}`, options))).toEqual([[null, 1n, null]])
    expect(kinds('ndjson', `{"${'p'.repeat(250)}":{"abcd":{"e":1}}}`, options)).toEqual(['UnknownField@0'])
  })
})
