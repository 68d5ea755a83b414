// The tree of commands, continued: those about ledgers. Declarations only, as in tree.ts.

import type { Command } from 'commander'
import type { AuditOptions } from './commands/ledger-audit.ts'
import type { Runner } from './context.ts'

/** The code of commands, loaded when one of them runs. */
const code = {
  audit: () => import('./commands/ledger-audit.ts'),
  ledger: () => import('./commands/ledger.ts'),
} as const

/** Adds to the group `ledger`. */
export function addLedgerCommands(ledger: Command, runner: Runner): void {
  ledger
    .command('status')
    .description('show how the ledger of a node is doing: its size, its witnesses, how late it is')
    .action(runner(async (context) => (await code.ledger()).ledgerStatus(context)))
  ledger
    .command('prove <what>')
    .description(
      'save the proof that something is in the ledger (-o FILE.tlog-proof or FILE.json), or print it. It takes the id of a receipt, the hash of a block, or account/dataset@offset for a row',
    )
    .action(runner(async (context, args) => (await code.ledger()).prove(context, args)))
  ledger
    .command('audit <url>')
    .description(
      'recompute the ledger of a node from its entries, check its head by the policy, compare it with the chains that you may read, and list what the node has said of itself',
    )
    .option('--policy <file>', 'which ledgers and witnesses count (default: the policy of the node, which is named)')
    .option('--state <file>', 'keep the head here, and check that the ledger goes on from the one that is there')
    .action(runner<AuditOptions>(async (...given) => (await code.audit()).auditLedger(...given)))
}
