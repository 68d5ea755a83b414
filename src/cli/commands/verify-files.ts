// `verify` for files of any kind, one or many: each has a report for a person and a line for a program, and the exit code is the
// worst. What concerns a ledger is judged by a policy, a receipt also by the proofs among the files and by the ledger itself.

import { type JsonObject, systemClock } from '../../index.ts'
import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { timeText } from '../../libraries/base/clock.ts'
import { defined } from '../../libraries/base/collections.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { textForm } from '../../libraries/base/text-form.ts'
import type { NamedKeys } from '../../libraries/evidence/keys.ts'
import { unsignedRemarks } from '../../libraries/evidence/ledger-report.ts'
import { alteredReport, bareReport, type Report, wordOfCode, worseCode } from '../../libraries/evidence/report.ts'
import { withHistories } from '../../libraries/evidence/two-histories.ts'
import { kindOfFile, type LedgerFile } from '../../libraries/ledger/file-kind.ts'
import { type FileVerdict, judgeFile, type ReceiptKind } from '../../libraries/ledger/judge-file.ts'
import { type Beside, besideOf, headFacts, joined } from '../../libraries/ledger/judge-receipt.ts'
import type { LedgersOfPolicy, OpenLedger } from '../../libraries/ledger/promise-reading.ts'
import type { Policy } from '../../libraries/ledger/policy.ts'
import type { TrustedCertificates } from '../../libraries/ledger/timestamp-trust.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, failureOf, note } from '../failure.ts'
import { archiveKind, readGiven } from '../given-file.ts'
import { objectOf } from '../../libraries/base/json/members.ts'
import { type Judged, type Judging, openedHead, told } from '../judged.ts'
import { type KnownPolicy, policyFor, tilesFor } from '../ledger-policy.ts'
import { createStatusLine, printObjects } from '../output.ts'
import { printReport, reportJson } from '../report.ts'
import { print } from '../terminal.ts'
import { checkAnswer, type CheckedAnswer, keysOfNode, lackOf, reportOf, type VerifyOptions } from './verify-answer.ts'
import { checkBundleFile } from './verify-bundle.ts'

/** Answers are judged with more. */
type FileJudging = Judging & {
  readonly options: VerifyOptions
  readonly trusted: TrustedCertificates | undefined
  /** What the proofs among the files show. */
  readonly beside: (policy: Policy) => Beside
  readonly hasProofs: boolean
  /** What a transport of texts has changed in the file. */
  readonly changes?: readonly string[]
  readonly unsigned?: readonly string[]
  readonly keys: () => Promise<NamedKeys | undefined>
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
  const evidence = await Promise.all(files.map(async (file, at) => (at === 0 && given) || (await heldOf(file, files))))
  let held: Beside | undefined
  const proofs = evidence.flatMap((one) => (one?.kind.kind === 'proof' ? [one.bytes] : []))
  const beside = (by: Policy): Beside => (held ??= besideOf(proofs, by))
  const hasProofs = proofs.length > 0
  let asked: Promise<NamedKeys | undefined> | undefined
  const keys = async () => (options.offline === true ? undefined : await (asked ??= keysOfNode(context)))
  const nowMs = systemClock.nowMs()
  const judging: FileJudging = { context, options, trusted, policy, beside, hasProofs, keys, nowMs }
  const each: Judged[] = []
  for (const [at, file] of files.entries()) each.push(await judge(judging, file, evidence[at]).catch(failed))
  const all = withHistories(each)
  if (context.form === 'table') printReports(all, files, options)
  else {
    const lines = all.map(({ verdict, code, reason, facts, report }, at) =>
      objectOf({ file: files[at], verdict, code, reason, ...facts, report: report && reportJson(report) }),
    )
    printObjects(context.form, ['file', 'verdict', 'code', 'reason'], lines)
  }
  if (known !== undefined && options.policy === undefined) {
    const name = await known.then((one) => one.name).catch(() => undefined)
    if (name !== undefined) note(`judged by the policy ${name}: to trust another, name it with --policy FILE`)
  }
  return all.reduce<number>((worst, { code }) => worseCode(worst, code), exitCodes.done)
}

function printReports(all: readonly Judged[], files: readonly string[], options: VerifyOptions): void {
  const reports = all.flatMap((judged, at) => {
    const file = files[at] ?? ''
    const parts = (judged.parts ?? []).map(({ path, report }) => ({ file: `${file}/${path}`, report }))
    return [{ file, report: judged.report ?? reportOfFailure(judged) }, ...parts]
  })
  for (const [at, { file, report }] of reports.entries()) {
    if (at > 0) print('\n')
    printReport(report, { ...options, file })
  }
}

/** What kept a file from being judged. */
function failed(error: unknown): Judged {
  const failure = failureOf(error)
  const { exitCode, message } = failure
  return { verdict: wordOfCode(exitCode), code: exitCode, reason: message }
}

/** Of what ended before there was a report: the same verdict as the exit code. */
function reportOfFailure({ verdict: said, reason = '' }: Judged): Report {
  if (said === 'altered') return alteredReport('a file', [reason])
  const verdict = said === 'impossible' || said === 'not judged' ? said : 'no evidence'
  return bareReport({ what: 'a file', verdict, headline: 'It could not be checked', why: [reason] })
}

/** A file among others that is about a ledger. Others are read when their turn comes. */
async function heldOf(file: string, files: readonly string[]): Promise<GivenFile | undefined> {
  if (files.length === 1 || (await archiveKind(file).catch(() => 'tar')) !== undefined) return undefined
  const bytes = await readGiven(file).catch(() => new Uint8Array())
  const kind = kindOfFile(bytes)
  return kind.kind === 'other' && file !== '-' ? undefined : { bytes, kind }
}

async function judge(before: FileJudging, file: string, given: GivenFile | undefined): Promise<Judged> {
  const { context, options } = before
  const archive = options.bundle === true ? 'tar' : given === undefined ? await archiveKind(file) : undefined
  if (archive === 'tar') return ofAnswer(await checkBundleFile(context, file, options))
  if (archive === 'pack') return await (await import('./verify-pack.ts')).checkPackFile(file, options)
  const bytes = given?.bytes ?? (await readGiven(file))
  const kind = given?.kind ?? kindOfFile(bytes)
  const judging = { ...before, changes: textForm(bytes).changes, unsigned: unsignedRemarks(kind) }
  try {
    const { verdict, known, lack } = await judgedAlone({ bytes, kind }, judging)
    if (verdict.kind === 'other') return ofAnswer(await checkAnswer(context, bytes, { ...options, file }))
    if (known !== undefined && options.offline !== true) {
      const judged = await judgedByLedger({ bytes, kind }, verdict, { ...judging, known })
      if (judged !== undefined) return judged
    }
    const alone = told(verdict, await knownOf(judging, known))
    const judged = await timed(verdict, { ...alone, reason: lack ?? alone.reason }, judging)
    const isNamed = options.signer !== undefined || !('facts' in verdict) || 'boundBy' in verdict.facts
    if (verdict.verdict !== 'signed' || isNamed || !('signer' in verdict.facts)) return judged
    const reason = `It is signed by ${verdict.facts.signer}. Name the signer you expect with --signer.`
    return { ...judged, reason }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { verdict: 'altered', code: exitCodes.verificationFailed, reason: error.message }
  }
}

/** What the report tells beside the verdict. */
async function knownOf({ options, context, keys, changes, unsigned }: FileJudging, known: KnownPolicy | undefined) {
  const node = options.offline === true ? undefined : context.server
  const isNamed = options.signer !== undefined
  return { policy: known?.name, isNamed, ...defined({ node, changes, beside: unsigned, keys: await keys() }) }
}

/** What the file says by itself. The policy is asked for where it takes one. */
async function judgedAlone(
  { bytes, kind }: GivenFile,
  { options: { signer }, nowMs, policy, beside, hasProofs }: FileJudging,
): Promise<{ readonly verdict: FileVerdict; readonly known?: KnownPolicy; readonly lack?: string }> {
  const verdict = judgeFile(bytes, { signer, nowMs }, { file: kind })
  // Proofs beside it may say that its key leaked.
  const isHeld =
    hasProofs && (verdict.kind === 'refusal' || (verdict.kind === 'receipt' && verdict.verdict === 'signed'))
  if (!('missing' in verdict) && !isHeld) return { verdict }
  const known = await policy().catch((error: unknown) => {
    // Without one the file is told as far as it speaks for itself.
    if (failureOf(error).exitCode === exitCodes.notJudged) return failureOf(error).message
    throw error
  })
  if (typeof known === 'string') return isHeld ? { verdict } : { verdict, lack: known }
  const all = { file: kind, beside: beside(known.policy) }
  return { verdict: judgeFile(bytes, { policy: known.policy, signer, nowMs }, all), known }
}

/** The verdict on a promise by all entries of its ledger; undefined where the file makes none. Throws CommandFailure. */
async function judgedByLedger(
  { bytes, kind }: GivenFile,
  alone: FileVerdict,
  judging: FileJudging & { readonly known: KnownPolicy },
): Promise<Judged | undefined> {
  const { known, options, nowMs } = judging
  const isReceipt = kind.kind === 'receipt' || kind.kind === 'broken promise'
  const promise = isReceipt && 'facts' in alone && 'receiptId' in alone.facts ? alone.facts.promise : undefined
  if (promise === undefined || !isReceipt || ('missing' in alone && alone.missing === 'policy')) return undefined
  const { evidenceOf, readLedgers } = await import('../../libraries/ledger/promise-reading.ts')
  const status = createStatusLine()
  const read = readLedgers(promise, ledgersOf(judging, status)).finally(() => status.clear())
  const reading = await read.catch(async (error: unknown) => {
    const judged = told(alone as PromiseFile, await knownOf(judging, known)) // it has a promise
    // Where the ledger has shown no head it is as the files have it, and what is good by them also where it cannot be reached.
    const { exitCode } = failureOf(error)
    const isOpen = judged.code === exitCodes.done || exitCode === exitCodes.notJudged
    if (!isOpen || exitCode === exitCodes.verificationFailed) throw error
    return { ...judged, facts: { ...judged.facts, unread: [promise.ledger] } }
  })
  if ('verdict' in reading) return reading
  const beside = joined(judging.beside(known.policy), reading.beside)
  const trust = { policy: known.policy, signer: options.signer, nowMs }
  const verdict = judgeFile(bytes, trust, { file: kind, beside }) as PromiseFile // of the same file
  const judged = told(verdict, await knownOf(judging, known))
  const unread = reading.unread.length > 0 ? [...reading.unread] : undefined
  const receipt = kind.kind === 'receipt' ? kind.document : (kind.document.get('receipt') as JsonObject) // it was read
  const evidence = verdict.verdict === 'promise broken' ? await evidenceOf(verdict, receipt, reading) : undefined
  return { ...judged, facts: { ...judged.facts, unread, evidence } }
}

/** The ledgers of the policy, as they are served. */
function ledgersOf(
  { context, known }: FileJudging & { readonly known: KnownPolicy },
  status: ReturnType<typeof createStatusLine>,
): LedgersOfPolicy {
  const open = async (origin: string): Promise<OpenLedger> => {
    const tiles = await tilesFor(context, known, origin)
    const note = await tiles.head()
    const head = headFacts(openedHead(note, known))
    const altered = (reason: string): Error => tiles.altered(reason)
    if (head.ledger.origin === origin) return { auditor: tiles.auditor, note, head, altered }
    const message = `At ${tiles.address} is ${head.ledger.origin}, not ${origin}.`
    throw new CommandFailure(exitCodes.verificationImpossible, message)
  }
  return {
    open,
    origins: known.policy.logs.map(({ key }) => key.name),
    isFatal: (error) => failureOf(error).exitCode === exitCodes.verificationFailed,
    onSize: (done, of) => status.show(`ledger: ${done} of ${of} entries`),
  }
}

type PromiseFile = FileVerdict & { readonly kind: ReceiptKind }

function ofAnswer(checked: CheckedAnswer): Judged {
  const { verdict, reproduction, failure } = checked
  const bundle = reproduction?.bundle
  const report = reportOf(checked)
  if (failure !== undefined) return { ...failed(failure), report, facts: { bundle } }
  const signer = verdict.ok ? verdict.signer : undefined
  return { verdict: 'verified', code: exitCodes.done, reason: lackOf(checked), report, facts: { signer, bundle } }
}

/** With the time of a proof, where that was checked. Throws DecodeError where its time stamp is not good. */
async function timed(proof: FileVerdict, judged: Judged, judging: FileJudging): Promise<Judged> {
  const { trusted, options } = judging
  if (proof.kind !== 'proof' || !('facts' in proof)) return judged
  const { stamp } = proof
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
    const known = await knownOf(judging, undefined)
    const stamped = told(proof, { ...known, stamp: { at: timeText(atMs), authority } })
    const facts = { ...judged.facts, timestamp: objectOf({ at: timeText(atMs), authority }) }
    return { ...judged, facts, ...defined({ report: stamped.report }) }
  } catch (error) {
    if (!(error instanceof UnknownAuthority)) throw error
    const reason = `Its time stamp is of an authority that no certificate of ${options.tsaCa} vouches for.`
    const verdict = 'not judged' as const
    const headline = 'Not judged: whether its time stamp counts is yours to say'
    const report = judged.report && { ...judged.report, verdict, headline, why: [reason] }
    return { ...judged, verdict, code: exitCodes.notJudged, reason, ...defined({ report }) }
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
