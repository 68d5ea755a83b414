// Golden proofs: what a node of each dialect signed over the datasets in its `store/`, made once by scripts/golden-proofs.ts.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './sources.ts'

const folder = join(repository, 'test', 'fixtures', 'proofs')

export interface GoldenProof {
  /** The answer as the node gave it, byte by byte. */
  readonly text: string
  readonly query: string
}

/** Where those of a dialect lie: `SqlDuckDb/1.5.6-3` is `1.5.6-3`. */
export function goldenFolder(dialect: string): string {
  return join(folder, dialect.slice(dialect.indexOf('/') + 1))
}

/** All dialects that have golden proofs. */
export function goldenDialects(): string[] {
  const versions = readdirSync(folder).filter((version) => existsSync(join(folder, version, 'proofs.ndjson')))
  return versions.map((version) => `SqlDuckDb/${version}`)
}

/** The golden proofs of a dialect. */
export function goldenProofs(dialect: string): GoldenProof[] {
  const lines = readFileSync(join(goldenFolder(dialect), 'proofs.ndjson'), 'utf8').split('\n')
  return lines.filter((text) => text !== '').map((text) => ({ text, query: JSON.parse(text).input.query }))
}
