// What was found out about a saved answer, in plain words for its reader: what was asked, of what, how much came, who
// signed it, and what nobody has checked. The page, the command line, /verify and examples all print these lines.

import { jsonText } from '../base/json/json.ts'
import { cleanText } from '../base/clean-text.ts'
import type { Retired } from './signer.ts'
import { type AskedDataset, extentText, type SignedAnswer } from './signed-answer.ts'

/** Who the signer is to the one who asks. `named`: the reader gave this key as the one that he expects. */
export type Relation = 'named' | 'self' | 'known' | 'unknown'

/** A saved answer whose hashes and signature are good, and what else is known of it. */
export interface Findings {
  readonly answer: SignedAnswer
  /** did:key. */
  readonly signer: string
  readonly relation?: Relation
  /** Where the node knows that the key is a former one. */
  readonly retired?: Retired
  /** Whether the rows alone decide the answer, or also how they lie in blocks; what runs statements can tell. */
  readonly stability?: 'exact' | 'pinned'
  /** When each block was made (RFC 3339), by its hash; those that are known. */
  readonly blockTimes?: ReadonlyMap<string, string>
  /** A node ran the question again over these blocks and got the same rows. */
  readonly isReproduced: boolean
}

/** One line: what it is about, and the sentence. Control characters in it are escaped, line ends and tabs excepted. */
export interface ExplainedLine {
  readonly about: string
  readonly text: string
}

/** The lines in the order in which they are read; those about `not checked` come last. */
export function explain(findings: Findings): ExplainedLine[] {
  const { answer } = findings
  const { query, parameters, dialect, datasets } = answer
  const lines: (readonly [about: string, text: string | undefined])[] = [
    ['question', query ?? 'The file does not say.'],
    ['parameters', parameters === undefined ? undefined : jsonText(parameters)],
    ['language', dialect],
    ...(datasets.length === 0
      ? [['dataset', 'none is named'] as const]
      : datasets.map((dataset) => ['dataset', datasetText(dataset, findings.blockTimes)] as const)),
    ['answer', extentText(answer) ?? 'not in this file; what was signed is the hash of its rows'],
    ['repeatable', datasets.length === 0 ? undefined : stabilityText(findings)],
    ['signer', `${findings.signer}, ${relationText(findings)}`],
    ...uncheckedTexts(findings).map((text) => ['not checked', text] as const),
  ]
  return lines.flatMap(([about, text]) => (text === undefined ? [] : [{ about, text: cleanText(text, '\n\t') }]))
}

function datasetText({ id, alias, blockHash, blockTime }: AskedDataset, times: Findings['blockTimes']): string {
  const name = alias === undefined || alias === id ? id : `${alias} (${id})`
  if (blockHash === undefined) return `${name}; up to which block is not said`
  const time = times?.get(blockHash) ?? blockTime
  return `${name} up to block ${blockHash}${time === undefined ? '; when that was made is not in the file' : `, made ${time}`}`
}

/** Over which blocks the question gives this answer again. */
export function stabilityText({ stability }: Findings): string {
  if (stability === 'exact') return 'exact: the same rows give this answer, however they lie in blocks'
  if (stability === 'pinned')
    return 'pinned: other blocks with the same rows, or another engine, may give another answer'
  return 'over these very blocks; whether other blocks with the same rows give this answer is for a node to say'
}

const relationTexts: Readonly<Record<Relation, string>> = {
  named: 'the key that you named',
  self: 'a key of the node that was asked',
  known: 'a key that the node trusts',
  unknown: 'a key that the node does not know',
}

/** Who the signer is to the one who asks. */
export function relationText({ relation, retired }: Findings): string {
  if (relation === undefined) return 'not identified: no key was named to compare it with'
  if (retired === undefined) return relationTexts[relation]
  const why = retired.why === 'leaked' ? 'retired because it leaked' : 'retired'
  return `${relationTexts[relation]}, ${why} at ${retired.at}`
}

/** What nobody has looked at, and how it is. */
export function uncheckedTexts({ answer, relation, retired, isReproduced }: Findings): string[] {
  const texts: string[] = []
  if (!isReproduced) {
    texts.push('That these rows follow from those blocks: a node that holds them must run the question again.')
    if (answer.rows === undefined) texts.push('The rows: they are not in this file.')
  }
  if (relation === undefined || relation === 'unknown') {
    texts.push('Whose key it is: anyone can make one. Compare it with one that the signer has told you by another way.')
  }
  if (retired?.why === 'leaked') {
    texts.push(
      'Who signed: the key leaked, so others can sign with it. What a node finds by running the question holds.',
    )
  }
  texts.push('That what was recorded is true: a proof binds what was stored, not what happened.')
  return texts
}
