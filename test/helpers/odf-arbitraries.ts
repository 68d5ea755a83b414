// Random ODF metadata, made from the same lists of fields that drive the codec: every event, every kind of field.

import fc from 'fast-check'
import { must } from '../../src/libraries/base/assert.ts'
import type { MetadataBlock } from '../../src/libraries/model/events.ts'
import { instantText } from '../../src/libraries/model/instant.ts'
import { type FieldDefinition, tables, unions } from '../../src/libraries/odf/tables.ts'

const hexDigits = (bytes: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => Buffer.from(array).toString('hex'))

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(narrow)
const smallU64 = fc.oneof(u64, fc.nat(5))

function narrow(value: bigint): number | bigint {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
}

const instant = fc
  .record({
    year: fc.integer({ min: 0, max: 9999 }),
    dayOfYear: fc.integer({ min: 1, max: 365 }),
    secondOfDay: fc.integer({ min: 0, max: 86_399 }),
    nanos: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 999_999_999 })),
  })
  .map(instantText)

// JSON in metadata has one zero: -0 is written as 0.
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value))
const jsonLeaf = fc.oneof(fc.constant(null), fc.boolean(), text, fc.integer(), number)
const extra = fc.dictionary(
  text.filter((name) => name !== '__proto__'),
  fc.oneof(jsonLeaf, fc.array(jsonLeaf, { maxLength: 2 }), fc.record({ b: jsonLeaf, a: jsonLeaf })),
  { maxKeys: 3 },
)

function member(field: FieldDefinition, depth: number): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case 'u64':
    case 'optionalU64':
      return smallU64
    case 'u32':
      return fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff_ffff }))
    case 'i32':
      return fc.oneof(fc.constant(0), fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }))
    case 'optionalBool':
      return fc.boolean()
    case 'enum':
      return fc.constantFrom(...field.of.members)
    case 'string':
      return text
    case 'strings':
      return fc.array(text, { maxLength: 3 })
    case 'multihash':
      return fc.oneof(
        hexDigits(32).map((hex) => `f1620${hex}`),
        hexDigits(32).map((hex) => `f9680c00120${hex}`),
      )
    case 'datasetId':
      return hexDigits(32).map((hex) => `did:odf:fed01${hex}`)
    case 'hexBytes':
      return fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('hex'))
    case 'time':
      return instant
    case 'extra':
      return extra
    case 'table':
      return tableOf(field.table, depth)
    case 'tables':
      return fc.array(tableOf(field.table, depth), { maxLength: depth > 3 ? 1 : 2 })
    case 'union':
      return unionOf(field.union, depth)
    case 'wrappedUnions':
      return fc.array(unionOf(field.union, depth), { maxLength: 2 })
  }
}

function hasNoAbsence(field: FieldDefinition): boolean {
  return ['u64', 'u32', 'i32'].includes(field.kind) || (field.kind === 'enum' && !field.optional)
}

function tableOf(
  name: string,
  depth: number,
  base: Record<string, unknown> = {},
): fc.Arbitrary<Record<string, unknown>> {
  const members: Record<string, fc.Arbitrary<unknown>> = {}
  for (const [key, value] of Object.entries(base)) members[key] = fc.constant(value)
  for (const field of must(tables[name], name).fields) members[field.name] = member(field, depth + 1)
  const always = must(tables[name], name)
    .fields.filter((field) => field.required || hasNoAbsence(field))
    .map((field) => field.name)
  return fc.record(members, { requiredKeys: [...Object.keys(base), ...always] })
}

/** One member of a union; deep types are leaves, so that they end. */
function unionOf(name: string, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const all = must(unions[name], name)
  const choices = name === 'DataType' && depth > 6 ? all.filter(({ table }) => table === 'Empty') : all
  return fc.constantFrom(...choices).chain(({ kind, table }) => tableOf(table, depth, { kind }))
}

/** Blocks with every event and every field. */
// The lists of fields describe exactly this type.
export const arbitraryBlock = tableOf('MetadataBlock', 0) as unknown as fc.Arbitrary<MetadataBlock>
