// What the pages say of a bundle beside its proof, blocks and rows: which engine runs its query, as this release knows it by the
// dialect of the checked proof, and what its proofs of a ledger show by the policy of the reader.

import { cleanText } from '../../../libraries/base/clean-text.ts'
import type { BlockVerdict } from '../../../libraries/ledger/judge-proof.ts'
import { plainDialect } from '../../../libraries/proof/bundle/engine-file.ts'
import { neededEngine } from '../../../node/engine/needed-engine.ts'
import { element } from './element.ts'
import type { policyOf } from './ledger-file.ts'

/** Nothing of it is taken from the bundle. */
export function engineLines(dialect = plainDialect): HTMLElement[] {
  const { needs, forms } = neededEngine(dialect)
  return [
    element('p', 'hint', `${needs}.`),
    ...forms.map(({ form, package: name, libraries }) => {
      const digests = Object.entries(libraries).flatMap(([platform, digest]) => [
        element('dt', '', platform),
        element('dd', '', digest),
      ])
      const about = element('summary', '', `SHA-256 of its libraries (${form}, ${name})`)
      return element('details', '', about, element('dl', '', ...digests))
    }),
  ]
}

/** What was found of the ledger's proofs in a bundle, as texts. */
export interface LedgerTexts {
  readonly checked: readonly string[]
  readonly open: readonly string[]
  /** Why the bundle is not good by the policy of the reader. */
  readonly faults: readonly string[]
}

const none: LedgerTexts = { checked: [], open: [], faults: [] }

/** By a policy; `reason` says why there is none. */
export function ledgerTexts(
  ledger: readonly BlockVerdict[],
  { policy, reason = '' }: ReturnType<typeof policyOf>,
): LedgerTexts {
  if (ledger.length === 0) return none
  if (policy === undefined) {
    const count = ledger.length === 1 ? '1 proof' : `${ledger.length} proofs`
    return {
      ...none,
      open: [`Whether a ledger has the named blocks: the bundle holds ${count} of that. ${cleanText(reason)}`],
    }
  }
  return {
    ...none,
    checked: ledger.flatMap((one) => (one.verdict === 'included' ? [includedText(one)] : [])),
    faults: ledger.flatMap((one) =>
      one.verdict === 'included' ? [] : [cleanText(`Block ${one.block}: ${one.verdict}, ${one.reason}.`)],
    ),
  }
}

function includedText({ block, facts, quorum }: BlockVerdict & { readonly verdict: 'included' }): string {
  const { origin, size, index } = facts.ledger
  const by = quorum === 'met' ? 'as its witnesses saw it' : 'by the word of its node alone'
  return cleanText(`Block ${block} is entry ${index} of ${size} of the ledger ${origin}, ${by}.`)
}
