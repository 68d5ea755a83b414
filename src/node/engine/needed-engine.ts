// Which engine it takes to run the query of a proof again, by its dialect alone: what a bundle says to whom it is handed, and a
// page of the proof that it checked. A pure function of the table of known engines, so that all of one release say the same.

import type { EngineFile, EngineForm } from '../../libraries/proof/bundle/engine-file.ts'
import { engineOfDialect } from '../../libraries/model/query.ts'
import { type KnownEngine, knownEngines } from './known-engines.ts'
import { dialect as ownDialect } from './messages.ts'

/** Of the engine of a dialect that this release or an earlier one may have signed; undefined for all others. */
export function versionOf(dialect: string): string | undefined {
  return engineOfDialect(dialect, ownDialect)
}

/** What the release says of the engine of a dialect. */
export function neededEngine(dialect: string): EngineFile {
  const version = versionOf(dialect)
  const known = knownEngines.find((one) => one.version === version)
  const name = version === undefined ? 'an engine' : `DuckDB ${version}`
  const needs =
    known === undefined
      ? `To run this query again takes ${name}, which the release that says so does not know.`
      : `To run this query again takes ${name}: proofstream engine add ${known.version}`
  return {
    dialect,
    ...(version !== undefined && { engine: { name: 'duckdb', version } }),
    forms: known === undefined ? [] : [nativeForm(known)],
    needs,
  }
}

function nativeForm({ packageVersion, platforms }: KnownEngine): EngineForm {
  const libraries = Object.entries(platforms).map(([platform, { library }]) => [platform, library] as const)
  return { form: 'native', package: `@duckdb/node-api@${packageVersion}`, libraries: Object.fromEntries(libraries) }
}
