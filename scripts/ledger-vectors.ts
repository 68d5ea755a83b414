// Writes test/fixtures/ledger/vectors.json: policies, heads, receipts, refusals, statements and proofs, true and false ones, by themselves
// and beside one another, each with the verdict that docs/spec/ledger.md gives it. Every judge of this repository has to say the
// same. Verdicts are written by hand. `node scripts/ledger-vectors.ts` writes; a test compares.

import { writeFile } from 'node:fs/promises'
import './ledger-vectors/proofs.ts'
import './ledger-vectors/receipts.ts'
import './ledger-vectors/fates.ts'
import './ledger-vectors/several.ts'
import { vectors } from './ledger-vectors/model.ts'

/** What the file has. */
export const vectorsText = `${JSON.stringify(vectors, undefined, 1)}\n`

const target = new URL('../test/fixtures/ledger/vectors.json', import.meta.url)
if (process.argv[1] === new URL(import.meta.url).pathname) await writeFile(target, vectorsText)
