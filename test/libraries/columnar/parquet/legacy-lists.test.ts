// Lists and maps as old writers made them: the examples of Apache Parquet's LogicalTypes, "Backward-compatibility rules".

import { expect, test } from 'vitest'
import { concatBytes, utf8 } from '../../../../src/libraries/base/bytes.ts'
import { varintBytes } from '../../../../src/libraries/columnar/parquet/thrift.ts'
import { craft, type CraftChunk, type CraftElement, withLength } from './craft.ts'
import { readAll, refusal } from './parquet-helper.ts'

const [int32, byteArray] = [1, 6]
const [required, optional, repeated] = [0, 1, 2]
const list = 3

/** Levels, each a run of one. */
function levels(...values: readonly number[]): Uint8Array {
  return withLength(Uint8Array.from(values.flatMap((value) => [...varintBytes(2), value])))
}

function chunk(
  type: number,
  repetition: readonly number[],
  definition: readonly number[],
  values: Uint8Array,
): CraftChunk {
  const body = concatBytes([levels(...repetition), levels(...definition), values])
  return { type, values: repetition.length, pages: [{ entries: repetition.length, body }] }
}

async function textsOf(schema: readonly CraftElement[], rows: number, chunks: readonly CraftChunk[]): Promise<unknown> {
  const [column] = await readAll(craft({ schema, rootChildren: 1, groups: [{ rows, chunks }] }))
  return column?.values
}

const ints = (...values: readonly number[]): Uint8Array => new Uint8Array(Int32Array.from(values).buffer)
const texts = (...values: readonly string[]): Uint8Array => concatBytes(values.map((value) => withLength(utf8(value))))

test('optional group my_list (LIST) { repeated int32 element }', async () => {
  const schema = [
    { name: 'my_list', repetition: optional, children: 1, converted: list },
    { name: 'element', type: int32, repetition: repeated },
  ]
  // Rows: [1, 2], null, [], [3].
  const chunks = [chunk(int32, [0, 1, 0, 0, 0], [2, 2, 0, 1, 2], ints(1, 2, 3))]
  expect(await textsOf(schema, 4, chunks)).toEqual(['[1,2]', null, '[]', '[3]'])
})

test('a repeated field that is no list is one all the same', async () => {
  const schema = [{ name: 'n', type: int32, repetition: repeated }]
  const chunks = [chunk(int32, [0, 1, 0, 0], [1, 1, 0, 1], ints(7, 8, 9))]
  expect(await textsOf(schema, 3, chunks)).toEqual(['[7,8]', '[]', '[9]'])
})

test('optional group my_list (LIST) { repeated group element { required binary str; required int32 num } }', async () => {
  const schema = [
    { name: 'my_list', repetition: optional, children: 1, converted: list },
    { name: 'element', repetition: repeated, children: 2 },
    { name: 'str', type: byteArray, repetition: required, converted: 0 },
    { name: 'num', type: int32, repetition: required },
  ]
  const chunks = [
    chunk(byteArray, [0, 1, 0], [2, 2, 1], texts('a', 'b')),
    chunk(int32, [0, 1, 0], [2, 2, 1], ints(1, 2)),
  ]
  expect(await textsOf(schema, 2, chunks)).toEqual(['[{"str":"a","num":1},{"str":"b","num":2}]', '[]'])
})

for (const name of ['array', 'my_list_tuple']) {
  test(`optional group my_list (LIST) { repeated group ${name} { required binary str } }`, async () => {
    const schema = [
      { name: 'my_list', repetition: optional, children: 1, converted: list },
      { name, repetition: repeated, children: 1 },
      { name: 'str', type: byteArray, repetition: required, converted: 0 },
    ]
    const chunks = [chunk(byteArray, [0, 1], [2, 2], texts('a', 'b'))]
    expect(await textsOf(schema, 1, chunks)).toEqual(['[{"str":"a"},{"str":"b"}]'])
  })
}

test('optional group my_list (LIST) { repeated group element { optional binary str } } is a list of texts', async () => {
  const schema = [
    { name: 'my_list', repetition: optional, children: 1, converted: list },
    { name: 'element', repetition: repeated, children: 1 },
    { name: 'str', type: byteArray, repetition: optional, converted: 0 },
  ]
  const chunks = [chunk(byteArray, [0, 1, 1], [3, 2, 3], texts('a', 'b'))]
  expect(await textsOf(schema, 1, chunks)).toEqual(['["a",null,"b"]'])
})

test('optional group my_map (MAP_KEY_VALUE) { repeated group map { required binary key; optional int32 value } }', async () => {
  const schema = [
    { name: 'my_map', repetition: optional, children: 1, converted: 2 },
    { name: 'map', repetition: repeated, children: 2 },
    { name: 'k', type: byteArray, repetition: required, converted: 0 },
    { name: 'v', type: int32, repetition: optional },
  ]
  const chunks = [chunk(byteArray, [0, 1, 0], [2, 2, 0], texts('a', 'b')), chunk(int32, [0, 1, 0], [3, 2, 0], ints(1))]
  expect(await textsOf(schema, 2, chunks)).toEqual(['[{"key":"a","value":1},{"key":"b","value":null}]', null])
})

test('parts of one value whose levels do not agree are refused', async () => {
  const schema = [
    { name: 's', repetition: optional, children: 2 },
    { name: 'a', type: int32, repetition: optional },
    { name: 'b', type: int32, repetition: repeated },
  ]
  const page = (
    repetition: readonly number[] | undefined,
    definition: readonly number[],
    values: Uint8Array,
  ): CraftChunk => {
    const parts = [...(repetition === undefined ? [] : [levels(...repetition)]), levels(...definition), values]
    return { type: int32, values: definition.length, pages: [{ entries: definition.length, body: concatBytes(parts) }] }
  }
  // The first part says that the struct is null, the second that it is there.
  const chunks = [page(undefined, [0, 2], ints(1)), page([0, 0], [1, 2], ints(5))]
  await expect(textsOf(schema, 2, chunks)).rejects.toMatchObject({ kind: 'MalformedBody' })
  // The second continues a list in a row that the first does not have.
  const more = [page(undefined, [2], ints(1)), page([0, 1, 0], [2, 2, 2], ints(5, 6, 7))]
  await expect(textsOf(schema, 1, more)).rejects.toMatchObject({ kind: 'MalformedBody' })
})

test.each([
  ['nulls', 2, [[0, 0], [1, 0], ints(1)], [[0, 0], [0, 1], ints(2)]],
  ['lengths', 1, [[0, 1], [2, 2], ints(1, 2)], [[0], [2], ints(3)]],
  ['rows', 2, [[0, 0], [2, 2], ints(1, 2)], [[0, 1], [2, 2], ints(3, 4)]],
] as const)('parts that do not agree on %s are damage', async (_, rows, first, second) => {
  const schema: CraftElement[] = [
    { name: 'outer', repetition: optional, children: 1, converted: list },
    { name: 'array', repetition: repeated, children: 2 },
    { name: 'a', type: int32, repetition: required },
    { name: 'b', type: int32, repetition: required },
  ]
  const chunks = [first, second].map(([repetition, definition, values]) => chunk(int32, repetition, definition, values))
  const error = await refusal(craft({ schema, rootChildren: 1, groups: [{ rows, chunks }] }))
  expect([error.kind, error.message]).toEqual(['MalformedBody', expect.stringMatching(/"outer.*(?:levels|values|row)/)])
})
