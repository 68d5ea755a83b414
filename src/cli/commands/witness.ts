// `ledger witness`: cosigns heads of other ledgers in this process, without a node, until a signal stops it.

import type { AloneOptions } from '../../features/witness/alone.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { stopSignal } from '../stop-signal.ts'
import { print } from '../terminal.ts'

/** Runs a witness. Prints its address and its key, then resolves when it was stopped. */
export async function runWitness(_context: CommandContext, options: AloneOptions): Promise<number> {
  const { startWitness } = await import('../../features/witness/alone.ts')
  const witness = await startWitness(options)
  const stopped = stopSignal()
  const { url, key, ledgers } = witness
  if (process.stdout.isTTY) note(`Witness of ${ledgers} ledgers at ${url}\nKey  ${key}`)
  else print(`${JSON.stringify({ event: 'ready', url, key, ledgers, pid: process.pid })}\n`)
  const failure = await Promise.race([stopped.then(() => undefined), witness.failed.then((error) => ({ error }))])
  await witness.stop()
  if (failure === undefined) return exitCodes.done
  throw new CommandFailure(exitCodes.failed, 'The witness stopped: nothing can be stored any more.', {
    cause: failure.error,
  })
}
