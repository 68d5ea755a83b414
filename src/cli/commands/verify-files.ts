// `verify` for files of any kind, one or many: each is judged by itself and told in one line, and the exit code is the largest.
// What concerns a ledger is judged by a policy, and a receipt's promise by the ledger itself.

import { type JsonObject, systemClock } from '../../index.ts'
import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { timeText } from '../../libraries/base/clock.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { kindOfFile, type LedgerFile } from '../../libraries/ledger/file-kind.ts'
import { type FileVerdict, judgeFile } from '../../libraries/ledger/judge-file.ts'
import type { TrustedCertificates } from '../../libraries/ledger/timestamp-trust.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, type ExitCode, exitCodes, failureOf, note } from '../failure.ts'
import { isTar, readGiven } from '../given-file.ts'
import { objectOf } from '../json-values.ts'
import { type Judged, type Judging, told } from '../judged.ts'
import { type KnownPolicy, policyFor } from '../ledger-policy.ts'
import { printObject, printObjects } from '../output.ts'
import { checkAnswer, type CheckedAnswer, type VerifyOptions } from './verify-answer.ts'
import { checkBundleFile } from './verify-bundle.ts'
import { judgeBroken, judgeReceipt } from './verify-receipt.ts'

/** Answers are judged with more. */
type FileJudging = Judging & { readonly options: VerifyOptions; readonly trusted: TrustedCertificates | undefined }

const columns = ['file', 'verdict', 'code', 'reason']
const answerWords: Partial<Record<ExitCode, string>> = {
  [exitCodes.verificationFailed]: 'altered',
  [exitCodes.verificationImpossible]: 'impossible',
  [exitCodes.quorumNotMet]: 'witness quorum not met',
}

/** A file that was read, and what it is. */
export interface GivenFile {
  readonly bytes: Uint8Array
  readonly kind: LedgerFile
}

/** `given` is the first file, where it was read. */
export async function verifyFiles(
  context: CommandContext,
  { files, given }: { readonly files: readonly string[]; readonly given: GivenFile | undefined },
  options: VerifyOptions,
): Promise<number> {
  let known: Promise<KnownPolicy> | undefined
  const policy = (): Promise<KnownPolicy> => (known ??= policyFor(context, options))
  // A policy that cannot be read is the fault of the command, not of a file.
  if (options.policy !== undefined) await policy()
  const trusted = options.tsaCa === undefined ? undefined : await trustedIn(options.tsaCa)
  const judging: FileJudging = { context, options, trusted, policy, nowMs: systemClock.nowMs() }
  const lines: JsonObject[] = []
  let code: number = exitCodes.done
  for (const [at, file] of files.entries()) {
    const judged = await judge(judging, file, at === 0 ? given : undefined).catch(failed)
    code = Math.max(code, judged.code)
    const line = objectOf({
      file,
      verdict: judged.verdict,
      code: judged.code,
      reason: judged.reason,
      ...(context.form === 'table' && files.length > 1 ? {} : judged.facts),
    })
    if (context.form === 'ndjson') printObjects('ndjson', columns, [line])
    else lines.push(line)
  }
  const [first] = lines
  // A table of many files has no room for what each of them shows.
  if (context.form === 'table' && files.length === 1 && first !== undefined) printObject('table', first)
  else if (context.form !== 'ndjson') printObjects(context.form, columns, lines)
  if (known !== undefined && options.policy === undefined) {
    const name = await known.then((one) => one.name).catch(() => undefined)
    if (name !== undefined) note(`judged by the policy ${name}: to trust another, name it with --policy FILE`)
  }
  return code
}

/** What kept a file from being judged. */
function failed(error: unknown): Judged {
  const failure = failureOf(error)
  const { exitCode, message } = failure
  return { verdict: answerWords[exitCode] ?? 'failed', code: exitCode, reason: message }
}

async function judge(judging: FileJudging, file: string, given: GivenFile | undefined): Promise<Judged> {
  const { context, options } = judging
  if (options.bundle === true || (given === undefined && (await isTar(file)))) {
    return ofAnswer(await checkBundleFile(context, file, options))
  }
  const bytes = given?.bytes ?? (await readGiven(file))
  const kind = given?.kind ?? kindOfFile(bytes)
  try {
    const { verdict, known } = await judgedAlone({ bytes, kind }, judging)
    if (verdict.kind === 'other') return ofAnswer(await checkAnswer(context, bytes, { ...options, file }))
    const isOpen = 'missing' in verdict || verdict.verdict === 'promised, not yet due'
    if (known !== undefined && isOpen && options.offline !== true) {
      if (kind.kind === 'receipt') return await judgeReceipt(kind.document, { ...judging, known })
      if (kind.kind === 'broken promise') return await judgeBroken(kind.document, { ...judging, known })
    }
    const judged = await timed(verdict, told(verdict, known?.name), judging)
    if (verdict.verdict !== 'signed' || verdict.kind === 'head' || options.signer !== undefined) return judged
    const reason = `It is signed by ${verdict.facts.signer}. Name the signer you expect with --signer.`
    return { ...judged, reason }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { verdict: 'altered', code: exitCodes.verificationFailed, reason: error.message }
  }
}

/** What the file says by itself. The policy is asked for where it takes one. */
async function judgedAlone(
  { bytes, kind }: GivenFile,
  { options: { signer }, nowMs, policy }: Judging,
): Promise<{ readonly verdict: FileVerdict; readonly known?: KnownPolicy }> {
  const verdict = judgeFile(bytes, { signer, nowMs }, kind)
  if (!('missing' in verdict)) return { verdict }
  const known = await policy()
  return { verdict: judgeFile(bytes, { policy: known.policy, signer, nowMs }, kind), known }
}

function ofAnswer({ verdict, reproduction, open, failure }: CheckedAnswer): Judged {
  const bundle = reproduction?.bundle
  if (failure !== undefined) return { ...failed(failure), facts: { bundle } }
  const signer = verdict.ok ? verdict.signer : undefined
  return { verdict: 'verified', code: exitCodes.done, reason: open, facts: { signer, bundle } }
}

/** With the time of a proof, where that was checked. Throws DecodeError where its time stamp is not good. */
async function timed(verdict: FileVerdict, judged: Judged, { trusted, options }: FileJudging): Promise<Judged> {
  if (verdict.kind !== 'proof' || verdict.verdict === 'altered' || verdict.verdict === 'impossible') return judged
  const { stamp } = verdict
  if (stamp === undefined) {
    return trusted === undefined ? judged : { ...judged, reason: judged.reason ?? 'It has no time stamp.' }
  }
  if (trusted === undefined) {
    const reason = 'Its time stamp is not checked: name the CA of its authority with --tsa-ca FILE.'
    return { ...judged, reason: judged.reason ?? reason }
  }
  const { checkTimestamp, UnknownAuthority } = await import('../../libraries/ledger/timestamp-trust.ts')
  try {
    const { atMs, authority } = await checkTimestamp(stamp.token, stamp.text, trusted)
    return { ...judged, facts: { ...judged.facts, timestamp: objectOf({ at: timeText(atMs), authority }) } }
  } catch (error) {
    if (!(error instanceof UnknownAuthority)) throw error
    const reason = `Its time stamp is of an authority that no certificate of ${options.tsaCa} vouches for.`
    return { ...judged, verdict: 'impossible', code: exitCodes.verificationImpossible, reason }
  }
}

/** Throws CommandFailure where the file has no certificates. */
async function trustedIn(file: string): Promise<TrustedCertificates> {
  const bytes = await readGiven(file)
  const { readCertificates } = await import('../../libraries/ledger/timestamp-trust.ts')
  try {
    return readCertificates(decodeUtf8(bytes))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CommandFailure(exitCodes.usage, `${file} has no certificates that can be read (${why}).`)
  }
}
