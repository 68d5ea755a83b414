// The allow-list against the engine's own catalogue: a new engine version fails here until its names are reviewed.
import { expect, test } from 'vitest'
import {
  aggregateFunctions,
  allowedMacros,
  allowedTableFunctions,
  deniedFunctions,
  isDenied,
  scalarFunctions,
  spatialFunctions,
  volatileFunctions,
} from '../../../src/libraries/sql/functions.ts'
import { foldAscii } from '../../../src/libraries/model/names.ts'
import { usePlainEngine } from './helpers.ts'

const scalar = usePlainEngine()

async function catalogue(where: string): Promise<string[]> {
  const names = `SELECT to_json(list(DISTINCT function_name)) FROM duckdb_functions() WHERE ${where}`
  return JSON.parse(await scalar(names)).map(foldAscii)
}

test('scalar functions are the catalogue without what is refused', async () => {
  const names = (await catalogue("function_type = 'scalar'")).filter(
    (name) => !isDenied(name) && !name.startsWith('icu_collate_'),
  )
  expect([...scalarFunctions].sort()).toEqual([...new Set([...names, ...spatialFunctions])].sort())
})

test('aggregates are the catalogue', async () => {
  const names = await catalogue("function_type = 'aggregate'")
  expect([...aggregateFunctions].sort()).toEqual([...new Set(names)].sort())
})

test('every function that the engine calls unstable is refused or kept out of proofs', async () => {
  const unstable = await catalogue("stability IN ('VOLATILE', 'CONSISTENT_WITHIN_QUERY') AND function_type <> 'pragma'")
  const loose = unstable.filter((name) => !isDenied(name) && !volatileFunctions.has(name))
  expect(loose).toEqual([])
})

test('allowed macros and table functions exist, and nothing is both allowed and refused', async () => {
  // Two are made when a node opens the engine.
  const macros = new Set([...(await catalogue("function_type = 'macro'")), 'to_char', 'to_date'])
  expect([...allowedMacros].filter((name) => !macros.has(name))).toEqual([])
  const tables = new Set(await catalogue("function_type = 'table'"))
  expect([...allowedTableFunctions].filter((name) => !tables.has(name))).toEqual([])
  const allowed = [...scalarFunctions, ...aggregateFunctions, ...allowedMacros]
  expect(allowed.filter((name) => deniedFunctions.has(name) && !aggregateFunctions.has(name))).toEqual([])
})

test('every macro is reviewed: allowed or refused by name', async () => {
  const macros = await catalogue("function_type = 'macro'")
  expect(macros.filter((name) => !allowedMacros.has(name) && !isDenied(name))).toEqual([])
})
