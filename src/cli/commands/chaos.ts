// `chaos`: repeats the evidence on this machine. A node of this very program, on a new temporary directory, is killed
// again and again under load; then the history of all callers and the store are judged.

import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChaosReport, runChaos } from '../../history/chaos.ts'
import type { JsonValue } from '../../index.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { numberOf } from '../json-values.ts'
import { createStatusLine, printObject } from '../output.ts'

export interface ChaosOptions {
  readonly cycles: number
  /** Repeats the choices of a run, not its times. */
  readonly seed?: number
}

/** Kills a node of its own `cycles` times. Throws CommandFailure (verification failed) when a promise was broken. */
export async function chaos(context: CommandContext, options: ChaosOptions): Promise<number> {
  const seed = options.seed ?? randomInt(2 ** 31)
  const dir = await mkdtemp(join(tmpdir(), 'proofstream-chaos-'))
  // Otherwise a terminated run would leave its node behind.
  process.once('SIGTERM', () => process.exit(exitCodes.interrupted))
  const status = createStatusLine()
  const report = await runChaos({
    dir,
    cycles: options.cycles,
    seed,
    onCycle: (done) => status.show(`killed ${done} of ${options.cycles} times`),
  }).finally(() => status.clear())
  const wrong = textsOf(report)
  const counts = Object.entries(report.counts).map(([name, count]): [string, JsonValue] => [name, numberOf(count)])
  printObject(context.form, new Map<string, JsonValue>([['ok', wrong.length === 0], ...counts, ['wrong', wrong]]))
  const failure = failureOfReport(report)
  if (failure === undefined) {
    await rm(dir, { recursive: true, force: true })
    return exitCodes.done
  }
  note(`What the node left is in ${dir}.`)
  throw failure
}

/** What a report comes to: undefined when no promise was broken, else the failure that names what was found. */
export function failureOfReport(findings: Findings): CommandFailure | undefined {
  const wrong = textsOf(findings)
  if (wrong.length === 0) return undefined
  return new CommandFailure(exitCodes.verificationFailed, `${wrong.length} findings: a promise was broken.`, {
    facts: wrong.slice(0, 20),
    hint: 'Please report it with the lines above.',
  })
}

type Findings = Pick<ChaosReport, 'verdicts' | 'problems'>

function textsOf({ verdicts, problems }: Findings): string[] {
  return [...verdicts.map(({ kind, message }) => `${kind}  ${message}`), ...problems]
}
