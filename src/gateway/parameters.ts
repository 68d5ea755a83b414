// Query parameters of ingest that are none of ours: producers that add their own go on, but a misspelt one of ours, which
// would silently store something else than was meant, is refused. Pure.

import { similarNames } from '../lib/compare.ts'
import { NodeError } from '../model/errors.ts'

const names = ['create', 'visibility', 'dryRun', 'unknownFields', 'integers', 'timeZone', 'eventTimeUnit']
/** By what they are in lower case. */
const parameters = new Map(names.map((name) => [name.toLowerCase(), name]))

/** Names that are told; a producer with more has other worries. */
const toldMost = 20
const toldChars = 100

/** Those of `given` that are ignored. Throws NodeError `InvalidParameter` for one that is nearly one of ours. */
export function foreignParameters(given: readonly string[]): readonly string[] {
  const foreign = given.filter((name) => !names.includes(name))
  for (const name of foreign) {
    // The same but for letter case, or one or two letters off: every name of ours has six letters or more.
    const [nearest] = similarNames(name.toLowerCase(), [...parameters.keys()])
    const meant = nearest === undefined ? undefined : parameters.get(nearest)
    if (meant === undefined) continue
    throw new NodeError('InvalidParameter', `The parameter '${name.slice(0, toldChars)}' is not known here.`, {
      hint: `Write ${meant}.`,
      candidates: [meant],
    })
  }
  return foreign.slice(0, toldMost).map((name) => name.slice(0, toldChars))
}
