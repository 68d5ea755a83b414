// `verify` for an evidence pack: nobody is asked, and whom to trust is what `--policy` and `--signer` say, not what the pack holds.

import { createReadStream } from 'node:fs'
import { fromPlain, systemClock } from '../../index.ts'
import { judgePack } from '../../libraries/evidence/pack/judge-pack.ts'
import { verdictCodes } from '../../libraries/evidence/report.ts'
import type { Judged } from '../judged.ts'
import { policyOfFile } from '../ledger-policy.ts'
import { reportJson } from '../report.ts'
import type { VerifyOptions } from './verify-answer.ts'

/** Throws CommandFailure for a policy that cannot be read. */
export async function checkPackFile(file: string, { policy, signer }: VerifyOptions): Promise<Judged> {
  const known = policy === undefined ? undefined : await policyOfFile(policy)
  const trust = { policy: known?.policy, signer, nowMs: systemClock.nowMs() }
  const { report, parts, ...shown } = await judgePack(createReadStream(file), trust)
  const { verdict, why } = report
  const files = parts.map((one) => ({ file: one.path, verdict: one.report.verdict, report: reportJson(one.report) }))
  const reason = why.length === 0 ? undefined : why.join(' ')
  return { verdict, code: verdictCodes[verdict], reason, report, parts, ...shown, facts: { files: fromPlain(files) } }
}
