// The token-preserving parser: agrees with JSON.parse about what JSON is, and says more about what is not.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromPlain, jsonText, parseJson, toPlain } from '../../../../src/libraries/base/json/json.ts'
import { JsonError } from '../../../../src/libraries/base/json/parser.ts'
import { utf8 } from '../../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../../src/libraries/base/errors.ts'
import { JsonNumber } from '../../../../src/libraries/base/json/value.ts'

/** The error that parsing throws; fails the test when there is none. */
function faultOf(source: Uint8Array | string, maxDepth?: number): JsonError {
  try {
    parseJson(source, maxDepth === undefined ? {} : { maxDepth })
  } catch (error) {
    if (error instanceof JsonError) return error
    throw error
  }
  return expect.fail(`${String(source)} was accepted`)
}

describe('parseJson', () => {
  test('keeps every number token as it is written', () => {
    const text = '[1.50,-0,-0.0,1E5,9007199254740993,1e400,0.1e-007,123456789012345678901234567890]'
    expect(jsonText(parseJson(text))).toBe(text)
    expect(parseJson('1.50')).toEqual(new JsonNumber('1.50'))
  })

  test('keeps members in their order, and names such as __proto__ and numerals as names', () => {
    const text = '{"b":1,"__proto__":{"x":2},"10":3,"9":4,"constructor":null}'
    expect(jsonText(parseJson(utf8(text)))).toBe(text)
  })

  test('reads every escape', () => {
    expect(parseJson(String.raw`"\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00😀 é"`)).toBe('"\\/\b\f\n\r\tAé😀😀 é')
  })

  test('agrees with JSON.parse on any JSON value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom('', ' ', '\n\t'), (text, space) => {
        const spaced = JSON.stringify(JSON.parse(text), null, space)
        const plain = toPlain(parseJson(utf8(spaced), { duplicateKeys: 'last' }), { largeIntegers: 'bigint' })
        expect(JSON.stringify(plain, doubles)).toBe(JSON.stringify(JSON.parse(spaced)))
      }),
      { numRuns: 300 },
    )
  })

  test('accepts exactly the texts that JSON.parse accepts', () => {
    const marks = fc.constantFrom(...'{}[]:,"\\/u0189-+.eEtruefalsn \n\u0001'.split(''))
    const damaged = fc
      .tuple(fc.json({ maxDepth: 3 }), fc.nat(), fc.nat({ max: 2 }), fc.array(marks, { maxLength: 3 }))
      .map(([text, seed, cut, put]) => {
        const at = seed % (text.length + 1)
        return text.slice(0, at) + put.join('') + text.slice(at + cut)
      })
      .filter((text) => !/\\u[dD][89a-fA-F]/.test(text))
    fc.assert(
      fc.property(damaged, (text) => {
        let expected = true
        try {
          JSON.parse(text)
        } catch {
          expected = false
        }
        expect(accepts(text)).toBe(expected)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['', 'syntax', 0, 1, 1],
    ['  ', 'syntax', 2, 1, 3],
    ['{"a":1,}', 'syntax', 7, 1, 8],
    ['[1,]', 'syntax', 3, 1, 4],
    ['[1 2]', 'syntax', 3, 1, 4],
    ["{'a':1}", 'syntax', 1, 1, 2],
    ['{"a" 1}', 'syntax', 5, 1, 6],
    ['{"é":\n  tru}', 'syntax', 9, 2, 3],
    ['{"a":"😀"\r\n,"b":+1}', 'syntax', 18, 2, 6],
    ['"a\nb"', 'syntax', 2, 1, 3],
    ['"abc', 'syntax', 4, 1, 5],
    ['"\\x"', 'syntax', 1, 1, 2],
    ['"\\u12g4"', 'syntax', 1, 1, 2],
    ['01', 'syntax', 0, 1, 1],
    ['1.', 'syntax', 2, 1, 3],
    ['1e+', 'syntax', 3, 1, 4],
    ['-', 'syntax', 0, 1, 1],
    ['NaN', 'syntax', 0, 1, 1],
    ['1 2', 'trailing', 2, 1, 3],
    ['{"a":1}\u0000', 'trailing', 7, 1, 8],
    ['{"a":1,\n "\\u0061":2}', 'duplicate', 9, 2, 2],
    ['\ufeff{}', 'bom', 0, 1, 1],
    ['"\\ud800"', 'surrogate', 1, 1, 2],
    ['"\\ud800\\u0041"', 'surrogate', 1, 1, 2],
    ['["\\udc00\\ud800"]', 'surrogate', 2, 1, 3],
  ])('refuses %j: %s at byte %i, line %i, column %i', (text, fault, offset, line, column) => {
    for (const source of [text, utf8(text)]) {
      expect(faultOf(source)).toMatchObject({ fault, offset, position: { offset, line, column } })
    }
  })

  test.each([
    [[0x22, 0xc3, 0x28, 0x22], 1],
    [[0x5b, 0x22, 0xc3, 0xa9, 0xe2, 0x82, 0x22, 0x5d], 4],
    [[0x22, 0xc0, 0x80, 0x22], 1],
    [[0x22, 0xe0, 0x80, 0x80, 0x22], 1],
    [[0x22, 0xed, 0xa0, 0x80, 0x22], 1],
    [[0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 1],
    [[0x22, 0xf0, 0x8f, 0xbf, 0xbf, 0x22], 1],
    [[0x22, 0xff, 0x22], 1],
  ])('refuses the bytes %j: invalid UTF-8 at byte %i', (bytes, offset) => {
    expect(faultOf(Uint8Array.from(bytes))).toMatchObject({ fault: 'utf8', position: { offset } })
  })

  test('a lone surrogate in a string source has its place', () => {
    expect(faultOf('["a\ud800"]')).toMatchObject({ fault: 'surrogate', position: { column: 4 } })
  })

  test('nesting is refused beyond its bound, and no text overflows the stack', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    expect(() => parseJson(nested(64))).not.toThrow()
    expect(faultOf(nested(65))).toMatchObject({ fault: 'depth', offset: 64 })
    expect(faultOf(`${'{"a":'.repeat(3)}1}}}`, 2)).toMatchObject({ fault: 'depth', offset: 10 })
    expect(faultOf('['.repeat(1_000_000)).fault).toBe('depth')
  })

  test('the last of two members wins where that is asked for', () => {
    expect(jsonText(parseJson('{"a":1,"b":2,"a":3}', { duplicateKeys: 'last' }))).toBe('{"a":3,"b":2}')
  })
})

describe('toPlain', () => {
  test('makes ordinary values', () => {
    const value = parseJson('{"a":[1,-0,1.5,1e3,true,null,"x"],"__proto__":{"polluted":1}}')
    const plain = toPlain(value)
    expect(JSON.stringify(plain)).toBe('{"a":[1,0,1.5,1000,true,null,"x"],"__proto__":{"polluted":1}}')
    expect(Object.getPrototypeOf(plain)).toBe(Object.prototype)
    expect(Reflect.has({}, 'polluted')).toBe(false)
  })

  test('never rounds an integer without being told how', () => {
    expect(toPlain(parseJson('9007199254740991'))).toBe(9007199254740991)
    expect(() => toPlain(parseJson('9007199254740993'))).toThrow(DecodeError)
    expect(toPlain(parseJson('9007199254740993'), { largeIntegers: 'bigint' })).toBe(9007199254740993n)
    expect(() => toPlain(parseJson('1e400'))).toThrow(DecodeError)
  })
})

describe('fromPlain', () => {
  test('is undone by toPlain', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value)
        expect(jsonText(fromPlain(JSON.parse(text)))).toBe(text)
      }),
      { numRuns: 200 },
    )
  })

  test('leaves out undefined members, keeps bigints exact and passes the value model through', () => {
    const value = { a: undefined, b: 2n ** 64n, c: new JsonNumber('1.50'), d: new Map([['x', 1]]), e: -0 }
    expect(jsonText(fromPlain(value))).toBe('{"b":18446744073709551616,"c":1.50,"d":{"x":1},"e":0}')
  })

  test.each([[Number.NaN], [Infinity], [new Date(0)], [() => 1], [[undefined]], [Symbol('x')]])(
    'refuses what JSON cannot hold: %s',
    (value) => {
      expect(() => fromPlain(value)).toThrow('JSON')
    },
  )
})

/** Whether the text is JSON; any error but JsonError fails the test. */
function accepts(text: string): boolean {
  try {
    parseJson(text, { duplicateKeys: 'last' })
    return true
  } catch (error) {
    if (error instanceof JsonError) return false
    throw error
  }
}

/** Large integers that JSON.parse reads as doubles, printed as it prints them. */
function doubles(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}
