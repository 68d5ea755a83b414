// Public as `@proofstream/verify` and `proofstream/verify`: checks a saved answer offline. Needs no node, no dataset,
// no engine; touches the platform in libraries/base/ids/native-crypto.ts alone. Also reads proofs of deployed Open Data
// Fabric nodes since January 2026.

import { parseJson } from '../base/json/json.ts'
import { JsonError } from '../base/json/parser.ts'
import { NodeError, type TextPosition } from '../base/errors.ts'
import type { JsonValue } from '../base/json/value.ts'
import { checkOutput, proofSteps } from './check.ts'
import type { Commitment } from './commitment.ts'
import { otherKind } from './other-kind.ts'
import { answerBytesMost, demandMembers, type ProofBody, readProofBody } from './proof-body.ts'
import { readSignedAnswer, type SignedAnswer } from './signed-answer.ts'

export { type ExplainedLine, explain, type Findings, type Relation } from './explain.ts'
export { type AskedDataset, type Extent, type SignedAnswer, extentText } from './signed-answer.ts'

export interface OfflineOptions {
  /** did:key that must have signed; absent: every key will do, judge `signer` yourself. */
  readonly signer?: string
  /** The output, or an answer that holds it, where it was saved apart from its proof. Counts where the answer has none. */
  readonly output?: Uint8Array | string
}

export type OfflineCheckName =
  | 'shape'
  | 'proofType'
  | 'inputHash'
  | 'subQueriesHash'
  | 'signature'
  | 'outputHash'
  | 'signer'

/** One check that ran, in order. `absent`: there was nothing to check (no output, no expected signer). */
export interface OfflineCheck {
  readonly name: OfflineCheckName
  readonly result: 'passed' | 'failed' | 'absent'
}

export interface OfflineSuccess {
  readonly ok: true
  /** did:key of the signer. */
  readonly signer: string
  /** How the numbers of the output were spelled when it was hashed: as text. Absent when no output was given. */
  readonly canonicalForm?: 'verbatim'
  readonly commitment: Commitment
  /** What was hashed, with every token as it came; absent when no output was given. */
  readonly output?: JsonValue
  /** What was signed: statement, datasets and blocks, number of rows, whole or cut. */
  readonly answer: SignedAnswer
  readonly checks: readonly OfflineCheck[]
}

export type OfflineFailureKind =
  | 'MalformedJson'
  | 'InvalidRequest'
  | 'UnsupportedProofType'
  | 'InvalidRequest::InputHash'
  | 'InvalidRequest::SubQueriesHash'
  | 'InvalidRequest::BadSignature'
  | 'InvalidRequest::OutputHash'
  | 'InvalidRequest::RewrittenOutput'
  | 'OtherSigner'

export interface OfflineFailure {
  readonly ok: false
  /**
   * `noProof`: these bytes are no saved answer with a proof; `impossible`: the proof is of a kind that cannot be
   * checked, or a JSON library has printed its output again, so that it has to be checked as it was received; `failed`: the proof is wrong.
   */
  readonly outcome: 'noProof' | 'impossible' | 'failed'
  readonly kind: OfflineFailureKind
  readonly message: string
  /** Place of a fault in the JSON text. */
  readonly position?: TextPosition
  /** did:key that the proof names, where it could be read. */
  readonly signer?: string
  readonly checks: readonly OfflineCheck[]
}

export type OfflineVerdict = OfflineSuccess | OfflineFailure

/** Arrays and objects inside one another in a saved answer: what deployed nodes can produce. */
const maxDepth = 128

/**
 * Checks `{input, output?, subQueries, commitment, proof}`, UTF-8 bytes or text, as received: nothing may have parsed
 * and printed its numbers in between. Hashes, signature and (where given) output and signer; never throws for what
 * the bytes say.
 */
export function verifyOffline(answer: Uint8Array | string, options: OfflineOptions = {}): OfflineVerdict {
  const checks: OfflineCheck[] = []
  let body: ProofBody
  try {
    body = readBody(answer, options.output)
    checks.push({ name: 'shape', result: 'passed' })
  } catch (error) {
    return failure(error, [{ name: 'shape', result: 'failed' }], typeof answer === 'string' ? undefined : answer)
  }
  const signer = body.proof.signer
  let name: OfflineCheckName = 'proofType'
  try {
    for (const step of proofSteps) {
      name = step.name
      step.check(body)
      checks.push({ name, result: 'passed' })
    }
    name = 'outputHash'
    const { output, commitment } = body
    if (output !== undefined) checkOutput(output, commitment.outputHash)
    checks.push({ name, result: output === undefined ? 'absent' : 'passed' })
    if (options.signer !== undefined && options.signer !== signer) return otherSigner(signer, options.signer, checks)
    checks.push({ name: 'signer', result: options.signer === undefined ? 'absent' : 'passed' })
    return {
      ok: true,
      signer,
      ...(output === undefined ? {} : { canonicalForm: 'verbatim', output }),
      commitment,
      answer: readSignedAnswer(body),
      checks,
    }
  } catch (error) {
    return { ...failure(error, [...checks, { name, result: 'failed' }]), signer }
  }
}

function readBody(answer: Uint8Array | string, apart: Uint8Array | string | undefined): ProofBody {
  if (answer.length > answerBytesMost) {
    throw new NodeError('InvalidRequest', `This is no saved answer: it has more than ${answerBytesMost} bytes.`)
  }
  // What is no answer is refused before its values are made: they take many times its bytes.
  demandMembers(parseJson(answer, { maxDepth, keep: 'outermost' }))
  const body = readProofBody(parseJson(answer, { maxDepth }))
  if (apart === undefined || body.output !== undefined) return body
  const saved = parseJson(apart, { maxDepth })
  const output = saved instanceof Map ? (saved.get('output') ?? saved) : saved
  return { ...body, output }
}

function otherSigner(signer: string, expected: string, checks: readonly OfflineCheck[]): OfflineFailure {
  return {
    ok: false,
    outcome: 'failed',
    kind: 'OtherSigner',
    message: `The proof is good but signed by ${signer}, not by ${expected}.`,
    signer,
    checks: [...checks, { name: 'signer', result: 'failed' }],
  }
}

function failure(error: unknown, checks: readonly OfflineCheck[], bytes?: Uint8Array): OfflineFailure {
  if (error instanceof JsonError) {
    const other = bytes === undefined ? undefined : otherKind(bytes)
    const message = `This is not a saved answer: ${other === undefined ? `the JSON ${error.reason}` : `it is ${other}`}.`
    return { ok: false, outcome: 'noProof', kind: 'MalformedJson', message, position: error.position, checks }
  }
  if (!(error instanceof NodeError)) throw error
  const { kind, message } = error
  switch (kind) {
    case 'InvalidRequest':
      return { ok: false, outcome: 'noProof', kind, message, checks }
    case 'UnsupportedProofType':
    case 'InvalidRequest::RewrittenOutput':
      return { ok: false, outcome: 'impossible', kind, message, checks }
    case 'InvalidRequest::InputHash':
    case 'InvalidRequest::SubQueriesHash':
    case 'InvalidRequest::BadSignature':
    case 'InvalidRequest::OutputHash':
      return { ok: false, outcome: 'failed', kind, message, checks }
    default:
      throw error
  }
}
