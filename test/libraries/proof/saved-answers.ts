// Saved answers of any data, signed by a key of the tests, and data that a JSON library prints in another way.

import { canonicalBytes, canonicalText } from '../../../src/libraries/base/json/canonical.ts'
import { parseJson } from '../../../src/libraries/base/json/json.ts'
import { commit } from '../../../src/libraries/proof/commitment.ts'
import { nodeKeyFromSeed, signProof } from '../../../src/libraries/proof/sign.ts'

const key = nodeKeyFromSeed(new Uint8Array(32).fill(9))

/** A saved answer of these data. */
export function saved(data: string): string {
  const parts = { input: '{"query":"select 1"}', output: `{"data":${data},"dataFormat":"JsonAoa"}`, subQueries: '[]' }
  const bytes = (text: string): Uint8Array => canonicalBytes(parseJson(text))
  const signed = commit({ input: bytes(parts.input), output: bytes(parts.output), subQueries: bytes(parts.subQueries) })
  const { commitment, proof } = signProof(signed, key)
  const [first, last] = [JSON.stringify(commitment), JSON.stringify(proof)]
  return `{"commitment":${first},"input":${parts.input},"output":${canonicalText(parseJson(parts.output))},"proof":${last},"subQueries":[]}`
}

/** What JavaScript makes of an answer. */
export const printed = (text: string): string => JSON.stringify(JSON.parse(text))

export const printedOtherwise: readonly (readonly [what: string, data: string])[] = [
  [
    'rows as arrays',
    '[["é",1.0,1e+21,0.1,-0.0,9007199254740993,["1.0"]],["x",2.5,1e-7,100.0,0.0,9007199254740993,["1.0"]]]',
  ],
  ['rows as objects', '[{"a":1.0,"b":7},{"a":null,"b":8}]'],
  ['columns', '{"a":[1.0,2.0],"b":[1,2]}'],
  ['a negative zero', '[[-0.0]]'],
  ['a large integer', '[[9223372036854775]]'.replace('5]]', '507]]')],
  ['a list', '[[[1.0,2.0],3]]'],
  ['large doubles', '[[0,0.0,1.5e+20,1.0],[1,1.5,3e+20,1.0],[2,3.0,1.2345678901234568e+20,1.0]]'],
  ['a float of 32 bits', '[[1e+13,16777216.0]]'],
]
