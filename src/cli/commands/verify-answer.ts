// `verify` for a saved answer: checks it first by itself, then by having a node run the query again; of a bundle, too
// (verify-bundle.ts). A person reads the report, a program the members.

import { defined } from '../../libraries/base/collections.ts'
import type { BundleFault } from '../../libraries/proof/bundle/manifest.ts'
import { type JsonObject, jsonText, type JsonValue, parseJson } from '../../index.ts'
import { answerReport, type BundleFacts, failedReport } from '../../libraries/evidence/answer-report.ts'
import { type NamedKeys, namedKeys } from '../../libraries/evidence/keys.ts'
import { otherReport } from '../../libraries/evidence/other-file.ts'
import { alteredReport, type Report } from '../../libraries/evidence/report.ts'
import {
  explain,
  extentText,
  type Findings,
  type OfflineFailure,
  type OfflineSuccess,
  verifyOffline,
} from '../../libraries/proof/verify.ts'
import { openClient } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, type ExitCode, exitCodes, failureOf, note } from '../failure.ts'
import { itemsAt, memberAt, numberAt, objectOf, textAt } from '../../libraries/base/json/members.ts'
import { printObject } from '../output.ts'
import { printReport, reportJson } from '../report.ts'

export interface VerifyOptions {
  /** File with certificates of authorities. */
  readonly tsaCa?: string
  /** Hashes and signature only: no node is asked. */
  readonly offline?: boolean
  /** The files are bundles: no node is asked. */
  readonly bundle?: boolean
  /** did:key that must have signed. */
  readonly signer?: string
  /** File that says which ledgers and witnesses count. */
  readonly policy?: string
  /** Hashes, too. */
  readonly verbose?: boolean
}

/** Answers of deployed nodes nest deeper than what a node takes in. */
const maxDepth = 128

/** What was found of an answer, and why it does not hold. */
export interface CheckedAnswer {
  readonly verdict: OfflineSuccess | OfflineFailure
  readonly reproduction?: Reproduction
  /** What a bundle holds beside the answer. */
  readonly bundle?: BundleFacts
  /** Undefined where it holds. */
  readonly failure?: unknown
  /** Of what is no answer: what it is. */
  readonly other?: Report
}

/** Tells what was found. Throws why it does not hold. */
export function tell(
  context: CommandContext,
  checked: CheckedAnswer,
  { file, verbose }: { readonly file: string; readonly verbose?: boolean },
): number {
  const { verdict, failure } = checked
  if (context.form === 'table') printReport(reportOf(checked), { file, ...defined({ verbose }) })
  else if (verdict.ok || verdict.outcome !== 'noProof') {
    const lack = lackOf(checked)
    if (lack !== undefined) note(lack)
    print(context, checked)
  }
  if (failure !== undefined) throw failure
  return exitCodes.done
}

/** Proofs of a ledger in a bundle that no policy judges. */
export function lackOf({ bundle }: CheckedAnswer): string | undefined {
  const open = bundle?.lack === undefined ? 0 : bundle.ledger.filter(({ verdict }) => verdict === 'not judged').length
  return open === 0 ? undefined : `proofs of a ledger in the bundle: ${open}; --policy FILE judges them`
}

/** The report on an answer, with what a node or this program found by running it again. */
export function reportOf({ verdict, reproduction, bundle, failure, other }: CheckedAnswer): Report {
  if (!verdict.ok) return other ?? failedReport(verdict)
  const findings = findingsOf(verdict, reproduction)
  const ranBy = reproduction?.result === 'passed' ? (reproduction.server ?? 'This program') : undefined
  const report = answerReport({ verdict, findings, ...defined({ bundle, ranBy }) })
  if (failure === undefined) return report
  const { exitCode, message } = failureOf(failure)
  if (exitCode !== exitCodes.verificationFailed) return { ...report, open: [`The rows: ${message}`, ...report.open] }
  return alteredReport(report.what, [message])
}

/** Checks a saved answer by itself, and by the node unless `--offline`. Throws CommandFailure where no node can be named. */
export async function checkAnswer(
  context: CommandContext,
  bytes: Uint8Array,
  options: VerifyOptions & { readonly file: string },
): Promise<CheckedAnswer> {
  const verdict = verifyOffline(bytes, options.signer === undefined ? {} : { signer: options.signer })
  if (!verdict.ok) {
    const { exitCode, message, details } = offlineFailure(verdict, options.file)
    const whose = options.offline === true ? '' : await whoseKey(context, verdict)
    const other = verdict.outcome === 'noProof' ? otherReport(bytes) : undefined
    return { verdict, failure: new CommandFailure(exitCode, message + whose, details), ...defined({ other }) }
  }
  if (options.offline === true) return { verdict }
  const client = await openClient(context)
  try {
    const answer = await client.call({ method: 'POST', path: '/verify', json: proofOf(bytes) })
    return { verdict, reproduction: { server: client.server, result: 'passed', answer: answer.json() } }
  } catch (error) {
    const failure = withoutNode(error)
    return { verdict, reproduction: { server: client.server, result: resultOf(failure), answer: null }, failure }
  }
}

/** Whose key it is where another was expected; empty where the node does not say. */
async function whoseKey(context: CommandContext, { kind, signer = '' }: OfflineFailure): Promise<string> {
  const whose = kind === 'OtherSigner' ? (await keysOfNode(context))?.get(signer) : undefined
  return whose === undefined ? '' : ` It is ${whose}.`
}

/** Whose keys the node names, unless it does not say. */
export async function keysOfNode(context: CommandContext): Promise<NamedKeys | undefined> {
  try {
    const client = await openClient(context)
    return namedKeys((await client.call({ path: '/.well-known/did.json', isAnonymous: true })).json(), client.server)
  } catch {
    return undefined
  }
}

/** A file can be checked where no node is: the hint says how. */
function withoutNode(error: unknown): unknown {
  if (!(error instanceof CommandFailure) || error.details.neverConnected !== true) return error
  const hint =
    '--offline checks hashes and signature without a node. Its query is run by any node that has the datasets (--server), or over a bundle.'
  return new CommandFailure(error.exitCode, error.message, { ...error.details, hint })
}

/** The saved answer without its rows, whose hash was checked here; every token as it stands in the file. */
function proofOf(bytes: Uint8Array): Uint8Array {
  const saved = parseJson(bytes, { maxDepth })
  const members = saved instanceof Map ? [...saved].filter(([name]) => name !== 'output') : []
  return Buffer.from(jsonText(new Map(members)))
}

function resultOf(error: unknown): 'failed' | 'absent' {
  return error instanceof CommandFailure && error.exitCode === exitCodes.verificationFailed ? 'failed' : 'absent'
}

interface Reproduction {
  readonly server?: string
  /** What a bundle holds, where it was run over that. */
  readonly bundle?: JsonObject
  /** `absent`: the node could not do it. */
  readonly result: 'passed' | 'failed' | 'absent'
  readonly answer: JsonValue
}

function print({ form }: CommandContext, checked: CheckedAnswer): void {
  const { verdict, reproduction, failure } = checked
  const checks: JsonObject = new Map(verdict.checks.map(({ name, result }) => [name, result]))
  if (reproduction !== undefined) checks.set('reproduction', reproduction.result)
  const answer = reproduction?.answer
  const lines = verdict.ok ? explain(findingsOf(verdict, reproduction)) : []
  printObject(
    form,
    objectOf({
      ok: failure === undefined,
      ...(verdict.ok ? answerMembers(verdict.answer) : {}),
      signer: verdict.signer,
      relation: textAt(answer, 'signer', 'relation'),
      canonicalForm: verdict.ok ? verdict.canonicalForm : undefined,
      checks,
      commitment: verdict.ok ? new Map<string, JsonValue>(Object.entries(verdict.commitment)) : undefined,
      server: reproduction?.server,
      bundle: reproduction?.bundle,
      engine: memberAt(answer, 'engine'),
      explanation: lines.map(({ about, text }) => objectOf({ about, text })),
      report: reportJson(reportOf(checked)),
    }),
  )
}

const relations = ['self', 'known', 'unknown'] as const
const stabilities = ['exact', 'pinned'] as const

/** What the file says and what the node added to it, where it ran the query again. */
function findingsOf({ answer, signer, checks }: OfflineSuccess, reproduction: Reproduction | undefined): Findings {
  const told = reproduction?.result === 'passed' ? reproduction.answer : null
  const [rows, extent] = [numberAt(told, 'answer', 'rows'), textAt(told, 'answer', 'extent')]
  const isNamed = checks.some(({ name, result }) => name === 'signer' && result === 'passed')
  const relation = isNamed ? 'named' : relations.find((one) => one === textAt(told, 'signer', 'relation'))
  const retiredAt = textAt(told, 'signer', 'retired', 'at')
  const why = textAt(told, 'signer', 'retired', 'why') === 'leaked' ? ('leaked' as const) : ('rotated' as const)
  const stability = stabilities.find((one) => one === textAt(told, 'engine', 'stability'))
  const times = itemsAt(told, 'answer', 'datasets').map(
    (dataset) => [textAt(dataset, 'blockHash') ?? '', textAt(dataset, 'blockTime') ?? ''] as const,
  )
  return {
    answer: {
      ...answer,
      ...defined({ rows }),
      ...(extent === 'whole' || extent === 'cut' ? { extent } : {}),
    },
    signer,
    ...defined({ relation, stability, retired: retiredAt === undefined ? undefined : { at: retiredAt, why } }),
    blockTimes: new Map(times),
    isReproduced: told !== null,
  }
}

/** What was asked, of what, and how much of it came. */
function answerMembers(answer: OfflineSuccess['answer']): Parameters<typeof objectOf>[0] {
  const { query, parameters, dialect, datasets, rows, extent } = answer
  return {
    query,
    parameters,
    dialect,
    datasets: new Map(datasets.map(({ id, alias, blockHash }) => [alias ?? id, blockHash ?? null])),
    answer: extentText(answer),
    rows,
    extent,
  }
}

export const outcomeCodes: Readonly<Record<OfflineFailure['outcome'] | BundleFault['outcome'], ExitCode>> = {
  noProof: exitCodes.refused,
  noBundle: exitCodes.refused,
  impossible: exitCodes.verificationImpossible,
  failed: exitCodes.verificationFailed,
}

/** Why a saved answer is not good, as a failure of the command. */
export function offlineFailure(verdict: OfflineFailure, file: string): CommandFailure {
  const { position } = verdict
  return new CommandFailure(outcomeCodes[verdict.outcome], verdict.message, {
    kind: verdict.kind,
    ...(position === undefined ? {} : { facts: [`at line ${position.line}, column ${position.column}`] }),
    ...(verdict.kind === 'InvalidRequest::RewrittenOutput'
      ? { hint: `Check the bytes as they were received; ${file} was printed anew.` }
      : {}),
    ...(verdict.outcome === 'noProof'
      ? { hint: `A proof is what 'proofstream query … --proof FILE' saves; is ${file} one?` }
      : {}),
  })
}
