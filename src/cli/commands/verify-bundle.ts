// `verify --bundle`: checks a bundle, runs its question again here over the rows that it holds, and judges its proofs of a ledger by
// the policy that was named. The worst code of all that was found wins.

import { fromPlain, type JsonObject, systemClock } from '../../index.ts'
import { cleanText } from '../../libraries/base/clean-text.ts'
import { defined } from '../../libraries/base/collections.ts'
import type { NodeError } from '../../libraries/base/errors.ts'
import type { BlockVerdict } from '../../libraries/ledger/judge-proof.ts'
import type { BundleFault } from '../../libraries/proof/bundle/manifest.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes } from '../failure.ts'
import { objectOf } from '../../libraries/base/json/members.ts'
import { told } from '../judged.ts'
import { type KnownPolicy, policyOfFile } from '../ledger-policy.ts'
import { createStatusLine, progressText } from '../output.ts'
import { exitCodeOf } from '../problem.ts'
import { type CheckedAnswer, offlineFailure, outcomeCodes, type VerifyOptions } from './verify-answer.ts'

/** Throws CommandFailure for a file that is no bundle, and for a policy that cannot be read. */
export async function checkBundleFile(
  context: CommandContext,
  file: string,
  options: VerifyOptions,
): Promise<CheckedAnswer> {
  const { verifyBundle } = await import('../../app/verify-bundle.ts')
  const known = options.policy === undefined ? undefined : await policyOfFile(options.policy)
  // Slices that were unpacked go when the process ends.
  process.once('SIGTERM', () => process.exit(exitCodes.interrupted))
  const status = createStatusLine()
  const beganMs = systemClock.monotonicMs()
  const { limits, dataDir } = context.entry.loadConfig({})
  const found = await verifyBundle(file, {
    limits,
    dataDir,
    ...defined({ signer: options.signer, policy: known?.policy }),
    onProgress: (doneBytes, totalBytes) =>
      status.show(progressText(file, { doneBytes, totalBytes, elapsedMs: systemClock.monotonicMs() - beganMs })),
  }).finally(() => status.clear())
  if (found.outcome === 'bundle') throw bundleFailure(found.fault, file)
  const { verdict } = found
  if (found.outcome === 'proof') return { verdict, failure: offlineFailure(found.verdict, file) }
  const ledger = found.ledger.map((one) => judgedProof(one, known))
  const { rows, blocks, slices, bytes } = found.contents
  const held = objectOf({ rows, blocks, slices, bytes, ledger: ledger.map(({ shown }) => shown) })
  const rerun = found.failure && rerunFailure(found.failure, found.contents.engine.needs)
  const isFailed = rerun?.exitCode === exitCodes.verificationFailed
  return {
    verdict,
    bundle: {
      rows,
      blocks,
      ledger: found.ledger,
      ...(known === undefined && { lack: 'Name the policy to judge them by: --policy FILE.' }),
    },
    reproduction: {
      bundle: held,
      result: rerun === undefined ? 'passed' : isFailed ? 'failed' : 'absent',
      answer: fromPlain(found.rerun ?? null),
    },
    failure: worst([rerun, ...ledger.map(({ failure }) => failure)]),
  }
}

/** That which has the worst code, the first of such; it tells of the others. */
function worst(found: readonly (CommandFailure | undefined)[]): CommandFailure | undefined {
  const rank = ({ exitCode: code }: CommandFailure): number => (code === exitCodes.verificationFailed ? 99 : code)
  const failures = found.filter((one) => one !== undefined).toSorted((a, b) => rank(b) - rank(a))
  const [first, ...others] = failures
  if (first === undefined || others.length === 0) return first
  const facts = [...(first.details.facts ?? []), ...others.map(({ message }) => message)]
  return new CommandFailure(first.exitCode, first.message, { ...first.details, facts })
}

/** A proof of the ledger as it is shown. Without a policy it fails only where it is altered. */
function judgedProof(
  finding: BlockVerdict,
  known: KnownPolicy | undefined,
): { readonly shown: JsonObject; readonly failure: CommandFailure | undefined } {
  const {
    verdict,
    code,
    reason = '',
    facts,
  } = told({ kind: 'proof', ...finding }, { policy: known?.name, isNamed: false })
  const { dataset, block } = finding
  const isGood = code === exitCodes.done || (known === undefined && verdict === 'not judged')
  const message = cleanText(`The ledger's proof of block ${block} of ${dataset}: ${verdict}, ${reason}.`)
  return {
    shown: objectOf({ dataset, block, verdict, ...facts, ...(reason !== '' && { reason }) }),
    failure: isGood ? undefined : new CommandFailure(code, message),
  }
}

/** Why the same output did not come out of the rows, or could not; `needs`: what the bundle says of the engine. */
function rerunFailure(
  { error: { kind, message, details }, status }: { readonly error: NodeError; readonly status: number },
  needs: string | undefined,
): CommandFailure {
  const isAbsent = kind.endsWith('EngineUnavailable') && needs !== undefined
  return new CommandFailure(exitCodeOf(status, kind), message.replaceAll('this node', 'this program'), {
    kind,
    ...(isAbsent && { facts: [`The bundle says: ${needs}`] }),
    ...(details.hint === undefined ? {} : { hint: details.hint.replaceAll('a node', 'a node or a program') }),
  })
}

/** Why a bundle cannot be used, or made, as a failure of the command. */
export function bundleFailure({ outcome, sentence }: BundleFault, file: string): CommandFailure {
  const about = outcome === 'failed' ? 'This is not to be trusted. ' : ''
  const hint = `A bundle is what 'proofstream bundle PROOF' saves; is ${file} one?`
  return new CommandFailure(outcomeCodes[outcome], about + sentence, outcome === 'noBundle' ? { hint } : {})
}
