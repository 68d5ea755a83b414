// `verify` for files of any kind, one or many: each is judged by itself and told in one line, and the exit code is the largest.
// What concerns a ledger is judged by a policy, and a receipt's promise by the ledger itself.

import { open } from 'node:fs/promises'
import { type JsonObject, systemClock } from '../../index.ts'
import type { TrustedCertificates } from '../../libraries/ledger/timestamp-trust.ts'
import { base64Text } from '../../libraries/base/base64.ts'
import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { timeText } from '../../libraries/base/clock.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { kindOfFile } from '../../libraries/ledger/file-kind.ts'
import { type BoundTimestamp, judgeProof, type ProofFacts } from '../../libraries/ledger/judge-proof.ts'
import { openRefusal } from '../../libraries/ledger/judge-receipt.ts'
import { parseStatement } from '../../libraries/ledger/statement.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, type ExitCode, exitCodes, failureOf, note } from '../failure.ts'
import { readGiven } from '../given-file.ts'
import { objectOf } from '../json-values.ts'
import { type Judged, type Judging, openedHead, signed, witnessedMembers } from '../judged.ts'
import { type KnownPolicy, policyFor } from '../ledger-policy.ts'
import { printObject, printObjects } from '../output.ts'
import { checkAnswer, checkBundleFile, type VerifyOptions } from './verify-answer.ts'
import { judgeBroken, judgeReceipt } from './verify-receipt.ts'

/** Answers are judged with more. */
type FileJudging = Judging & { readonly options: VerifyOptions; readonly trusted: TrustedCertificates | undefined }

const columns = ['file', 'verdict', 'code', 'reason']
const answerWords: Partial<Record<ExitCode, string>> = {
  [exitCodes.verificationFailed]: 'altered',
  [exitCodes.verificationImpossible]: 'impossible',
}

/** `given` are the bytes of the first file, where they were read. */
export async function verifyFiles(
  context: CommandContext,
  { files, given }: { readonly files: readonly string[]; readonly given: Uint8Array | undefined },
  options: VerifyOptions,
): Promise<number> {
  let known: Promise<KnownPolicy> | undefined
  const policy = (): Promise<KnownPolicy> => (known ??= policyFor(context, options))
  // A policy that cannot be read is the fault of the command, not of a file.
  if (options.policy !== undefined) await policy()
  const trusted = options.tsaCa === undefined ? undefined : await trustedIn(options.tsaCa)
  const judging = { context, options, trusted, policy, nowMs: systemClock.nowMs() }
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

async function judge(judging: FileJudging, file: string, given: Uint8Array | undefined): Promise<Judged> {
  const { context, options } = judging
  if (options.bundle === true || (given === undefined && file !== '-' && (await isTar(file)))) {
    return ofAnswer(await checkBundleFile(context, file, options))
  }
  const bytes = given ?? (await readGiven(file))
  const kind = kindOfFile(bytes)
  try {
    switch (kind.kind) {
      case 'proof':
        return await judgeProofFile(bytes, await judging.policy(), judging)
      case 'head':
        return judgeHead(bytes, await judging.policy())
      case 'statement':
        return signed(parseStatement(bytes).node, judging, {})
      case 'refusal': {
        const { signer, ...facts } = openRefusal(kind.document)
        return signed(signer, judging, facts)
      }
      case 'receipt':
        return await judgeReceipt(kind.document, judging)
      case 'broken promise':
        return await judgeBroken(kind.document, judging)
      case 'other':
        return ofAnswer(await checkAnswer(context, bytes, { ...options, file }))
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { verdict: 'altered', code: exitCodes.verificationFailed, reason: error.message }
  }
}

function ofAnswer({ verdict, failure }: Awaited<ReturnType<typeof checkAnswer>>): Judged {
  if (failure !== undefined) return failed(failure)
  const signer = verdict.ok ? verdict.signer : undefined
  return { verdict: 'verified', code: exitCodes.done, facts: { signer } }
}

async function judgeProofFile(
  bytes: Uint8Array,
  { policy, name }: KnownPolicy,
  { trusted }: FileJudging,
): Promise<Judged> {
  const judged = judgeProof(bytes, policy)
  switch (judged.verdict) {
    case 'included':
      return {
        verdict: 'included',
        code: exitCodes.done,
        ...(await timeOf(judged.stamp, trusted, {
          ...proofMembers(judged.facts),
          quorum: judged.quorum,
          policy: name,
        })),
      }
    case 'quorum not met': {
      const facts = { ...proofMembers(judged.facts), quorum: 'not met', policy: name }
      const timed = await timeOf(judged.stamp, trusted, facts)
      return { ...timed, verdict: 'witness quorum not met', code: exitCodes.quorumNotMet, reason: judged.reason }
    }
    case 'altered':
      return { verdict: 'altered', code: exitCodes.verificationFailed, reason: judged.reason }
    case 'impossible':
      return {
        verdict: 'impossible',
        code: exitCodes.verificationImpossible,
        reason: judged.reason,
        facts: { policy: name },
      }
  }
}

/** What the file shows, with its time where that was checked. Throws DecodeError where the time stamp is not good. */
async function timeOf(
  stamp: BoundTimestamp | undefined,
  trusted: TrustedCertificates | undefined,
  facts: NonNullable<Judged['facts']>,
): Promise<Pick<Judged, 'facts' | 'reason'>> {
  if (stamp === undefined) return { facts, reason: trusted === undefined ? undefined : 'It has no time stamp.' }
  if (trusted === undefined) {
    return { facts, reason: 'Its time stamp is not checked: name the CA of its authority with --tsa-ca FILE.' }
  }
  const { checkTimestamp } = await import('../../libraries/ledger/timestamp-trust.ts')
  const { atMs, authority } = await checkTimestamp(stamp.token, stamp.text, trusted)
  return { facts: { ...facts, timestamp: objectOf({ at: timeText(atMs), authority }) } }
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

function proofMembers({
  kind,
  dataset,
  sequence,
  block,
  record,
  ledger,
  witnessed,
}: ProofFacts): NonNullable<Judged['facts']> {
  const { origin, size, root, index } = ledger
  return {
    kind,
    dataset,
    sequence,
    block,
    record: record && objectOf({ value: record.value, index: record.index, count: record.count }),
    ledger: objectOf({ origin, size, root: base64Text(root), index }),
    witnessed: witnessedMembers(witnessed),
  }
}

function judgeHead(bytes: Uint8Array, known: KnownPolicy): Judged {
  const { head, quorum, witnessed } = openedHead(bytes, known)
  const facts = {
    ledger: objectOf({ origin: head.origin, size: head.size, root: base64Text(head.root) }),
    quorum,
    witnessed: witnessedMembers(witnessed),
    policy: known.name,
  }
  if (quorum !== 'not met') return { verdict: 'signed', code: exitCodes.done, facts }
  const reason = 'fewer witnesses have signed the head than the policy asks for'
  return { verdict: 'witness quorum not met', code: exitCodes.quorumNotMet, reason, facts }
}

/** Bundles are archives, and may be larger than memory. */
async function isTar(file: string): Promise<boolean> {
  const handle = await open(file)
  try {
    const { bytesRead, buffer } = await handle.read(new Uint8Array(262), 0, 262, 0)
    return bytesRead === 262 && Buffer.from(buffer.subarray(257, 262)).toString('latin1') === 'ustar'
  } finally {
    await handle.close()
  }
}
