// Query parameters of ingest that are none of ours: producers that add their own go on, but a misspelt one of ours, which
// would silently store something else than was meant, is refused. Pure.

import { NodeError } from '../model/errors.ts'

const parameters = ['create', 'visibility', 'dryRun', 'unknownFields', 'integers', 'timeZone', 'eventTimeUnit']

/** Names that are told; a producer with more has other worries. */
const toldMost = 20
const toldChars = 100

/** Those of `names` that are ignored. Throws NodeError `InvalidParameter` for one that is nearly one of ours. */
export function foreignParameters(names: readonly string[]): readonly string[] {
  const foreign = names.filter((name) => !parameters.includes(name))
  for (const name of foreign) {
    const meant = parameters.find((parameter) => isNearly(name, parameter))
    if (meant === undefined) continue
    throw new NodeError('InvalidParameter', `The parameter '${name.slice(0, toldChars)}' is not known here.`, {
      hint: `Write ${meant}.`,
      candidates: [meant],
    })
  }
  return foreign.slice(0, toldMost).map((name) => name.slice(0, toldChars))
}

/** The same but for letter case, or one or two letters off. Every name of ours has six letters or more. */
function isNearly(name: string, parameter: string): boolean {
  if (Math.abs(name.length - parameter.length) > 2) return false
  return editDistance(name.toLowerCase(), parameter.toLowerCase()) <= 2
}

/** Letters to add, drop or replace. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
