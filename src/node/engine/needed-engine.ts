// Which engine it takes to run the query of a proof again, by its dialect alone: what a bundle says to whom it is handed, and a
// page of the proof that it checked. A pure function of the table of known engines, so that all of one release say the same.

import type { EngineFile, EngineForm } from '../../libraries/proof/bundle/engine-file.ts'
import { type KnownEngine, knownEngines } from './known-engines.ts'
import { dialect as ownDialect } from './messages.ts'

const fullDialect = /^SqlDuckDb\/([\d.]+)-([1-9]\d{0,3})$/

/** Of the engine of a dialect that this release or an earlier one may have signed: both ran it. Undefined for all others. */
export function versionOf(dialect: string): string | undefined {
  const [, version, rules] = fullDialect.exec(dialect) ?? []
  const isPast = Number(rules) <= Number(fullDialect.exec(ownDialect)?.[2])
  return isPast ? knownEngines.find((one) => one.version === version)?.version : undefined
}

/** What the release says of the engine of a dialect. */
export function neededEngine(dialect: string): EngineFile {
  const version = versionOf(dialect)
  const known = knownEngines.find((one) => one.version === version)
  const needs =
    known === undefined
      ? 'To run this query again takes an engine that the release that says so does not know.'
      : `To run this query again takes DuckDB ${known.version}: proofstream engine add ${known.version}`
  return {
    dialect,
    ...(version !== undefined && { engine: { name: 'duckdb', version } }),
    forms: known === undefined ? [] : [nativeForm(known)],
    needs,
  }
}

function nativeForm({ packageVersion, platforms }: KnownEngine): EngineForm {
  const libraries = Object.entries(platforms).map(([platform, { library }]) => [platform, library] as const)
  return {
    form: 'native',
    package: `@duckdb/node-api@${packageVersion}`,
    libraries: Object.fromEntries(libraries),
  }
}
