// Files of evidence, several at once and of any kind, judged by what is in them, by what lies beside them, and by whom the reader
// trusts. Nobody is asked. Bundles are read in pieces, elsewhere (bundle.ts).

import { defined } from '../base/collections.ts'
import { DecodeError } from '../base/errors.ts'
import { parseJson } from '../base/json/json.ts'
import { textForm } from '../base/text-form.ts'
import { kindOfFile } from '../ledger/file-kind.ts'
import { judgeFile } from '../ledger/judge-file.ts'
import { besideOf } from '../ledger/judge-receipt.ts'
import type { Head } from '../ledger/head.ts'
import type { Policy } from '../ledger/policy.ts'
import { type OfflineVerdict, verifyOffline } from '../proof/verify.ts'
import { answerReport, failedReport, findingsAlone } from './answer-report.ts'
import type { NamedKeys } from './keys.ts'
import { ledgerReport, unsignedRemarks } from './ledger-report.ts'
import { isOpenPromise } from './receipt-report.ts'
import { otherReport } from './other-file.ts'
import type { Report } from './report.ts'
import { signedHeadOf, withHistories } from './two-histories.ts'

/** As deep as saved answers of deployed nodes nest. */
const maxDepth = 128

/** Whom the reader trusts. Nothing of it comes from the files. */
export interface Reader {
  readonly policy?: Policy | undefined
  /** did:key that must have signed. */
  readonly signer?: string | undefined
  readonly nowMs: number
  /** Address of the node that the reader is at, and whose keys it names. */
  readonly node?: string
  readonly keys?: NamedKeys | undefined
}

export interface Judged {
  readonly report: Report
  /** What a ledger of the policy has signed. */
  readonly head?: Head
  /** Id of a receipt whose promise nothing here settles. */
  readonly due?: string
  /** Of an answer that holds: what was checked, and its bytes. */
  readonly answer?: { readonly verdict: OfflineVerdict & { readonly ok: true }; readonly bytes: Uint8Array }
}

/** A report for each file, in order. Of an answer whose rows were saved apart, both are one: the file of the rows has none. */
export function judgeEvidence(files: readonly Uint8Array[], reader: Reader): (Judged | undefined)[] {
  const kinds = files.map((bytes) => kindOfFile(bytes))
  const proofs = files.filter((_, at) => kinds[at]?.kind === 'proof')
  const { policy } = reader
  const known = { node: reader.node, keys: reader.keys, isNamed: reader.signer !== undefined }
  const beside = besideOf(proofs, policy)
  const apart = new Set<Uint8Array>()
  const judged = files.map((bytes, at): Judged => {
    const verdict = judgeFile(bytes, reader, { ...(kinds[at] && { file: kinds[at] }), beside })
    if (verdict.kind === 'other') return judgeOther(bytes, files, { reader, apart })
    const remarks = kinds[at] && unsignedRemarks(kinds[at])
    const report = ledgerReport(verdict, {
      ...known,
      changes: textForm(bytes).changes,
      ...defined({ beside: remarks }),
    })
    const due = isOpenPromise(verdict) ? verdict.facts.receiptId : undefined
    return { report, ...defined({ due, head: signedHeadOf(verdict) }) }
  })
  return withHistories(judged).map((one, at) => (apart.has(files[at] ?? new Uint8Array()) ? undefined : one))
}

/** An answer, perhaps with its rows in another of the files, or none of what is known. */
function judgeOther(
  bytes: Uint8Array,
  files: readonly Uint8Array[],
  { reader, apart }: { readonly reader: Reader; readonly apart: Set<Uint8Array> },
): Judged {
  const { signer } = reader
  const options = signer === undefined ? {} : { signer }
  const verdict = verifyOffline(bytes, options)
  if (!verdict.ok) {
    return {
      report: verdict.outcome === 'noProof' ? (otherReport(bytes) ?? failedReport(verdict)) : failedReport(verdict),
    }
  }
  const whole = verdict.output === undefined ? (withRows(bytes, files, { options, apart }) ?? verdict) : verdict
  if (!whole.ok) return { report: failedReport(whole) }
  const findings = findingsAlone(whole, { isNamed: signer !== undefined })
  return { report: answerReport({ verdict: whole, findings, keys: reader.keys }), answer: { verdict: whole, bytes } }
}

/** Whether a file is rows that were saved apart: an answer without what signs it. */
function isOutput(bytes: Uint8Array): boolean {
  try {
    const outline = parseJson(bytes, { maxDepth, keep: 'outermost' })
    return outline instanceof Map && (outline.has('data') || outline.has('output')) && !outline.has('proof')
  } catch (error) {
    if (error instanceof DecodeError) return false
    throw error
  }
}

/** The answer with its rows out of the file beside it that has them; undefined where none is said to. */
function withRows(
  bytes: Uint8Array,
  files: readonly Uint8Array[],
  { options, apart }: { readonly options: { readonly signer?: string }; readonly apart: Set<Uint8Array> },
): OfflineVerdict | undefined {
  const outputs = files.filter((one) => one !== bytes && isOutput(one))
  const tried = outputs.map((output) => ({ output, verdict: verifyOffline(bytes, { ...options, output }) }))
  // Of two files the one with rows is meant to belong to the other.
  const found = tried.find(({ verdict }) => verdict.ok) ?? (files.length === 2 ? tried[0] : undefined)
  if (found !== undefined) apart.add(found.output)
  return found?.verdict
}
