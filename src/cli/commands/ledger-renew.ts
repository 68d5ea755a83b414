// `ledger renew`: another ledger in the place of one that cannot go on. No node is asked, and none may run.

import type { CommandContext, NodeOptions } from '../context.ts'
import { exitCodes, note } from '../failure.ts'
import { objectOf } from '../json-values.ts'
import { printObject } from '../output.ts'

export interface RenewCommand extends NodeOptions {
  readonly origin: string | undefined
  readonly reason: string
}

/** Who the new ledger is goes to stdout. */
export async function renewLedger(context: CommandContext, command: RenewCommand): Promise<number> {
  const { withStore } = await import('../../node/upkeep/repair.ts')
  const { renewLedger: renew } = await import('../../features/ledger/renew.ts')
  const config = context.entry.loadConfig({ 'log-level': 'warn', ...command.flags }, command.configFile)
  const { origin, key, previous, keyFile } = await withStore(config, (store) => renew(store, config, command))
  printObject(context.form, objectOf({ origin, key, keyFile, previous: previous?.origin, size: previous?.size }))
  note(
    `nodes over this store keep ${origin} from their next start; ${previous?.origin ?? 'the old one'} stays readable`,
  )
  return exitCodes.done
}
