// `ledger status | prove | renew`: how the ledger of a node is doing, a proof as a file, and another ledger in the place of one
// that cannot go on, for which no node may run.

import { writeFile } from 'node:fs/promises'
import type { JsonObject } from '../../index.ts'
import { type Answer, datasetPath, type NodeClient, openClient } from '../client.ts'
import type { Args, CommandContext, NodeOptions } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { objectOf, textAt } from '../../libraries/base/json/members.ts'
import { printObject } from '../output.ts'
import { pagesOf } from '../pages.ts'
import { problemFailure } from '../problem.ts'
import { print } from '../terminal.ts'

/** How the ledger is doing, as the node says it. */
export async function ledgerStatus(context: CommandContext): Promise<number> {
  const client = await openClient(context)
  const about = (await client.call({ path: '/ledger', isAnonymous: true })).json()
  if (!(about instanceof Map)) return exitCodes.done
  const { form } = context
  // A person reads neither the signatures nor the root.
  const shown = form === 'table' ? new Map([...about].filter(([name]) => name !== 'head' && name !== 'root')) : about
  printObject(form, shown as JsonObject) // names of members are strings
  return exitCodes.done
}

const hashForm = /^f1620[0-9a-f]{64}$/

/** Saves or prints the proof of a batch by its receipt, of a block, or of a row. Throws CommandFailure. */
export async function prove(context: CommandContext, [what = '']: Args): Promise<number> {
  const { path: target, file } = context
  if (file !== undefined && !/\.json$/i.test(file.path)) {
    throw new CommandFailure(exitCodes.usage, 'A proof is a file that ends in .tlog-proof or .json.')
  }
  const isJson = file !== undefined || (context.isFormSaid && context.form === 'json')
  const client = await openClient(context)
  const format = isJson ? 'json' : 'tlog-proof'
  for await (const path of pathsOf(client, what)) {
    const answer = await askForProof(client, path, format).catch((error: unknown) => {
      if (hashForm.test(what) && isElsewhere(error)) return undefined
      throw error
    })
    if (answer === undefined) continue
    const quorum = answer.headers['ledger-quorum']
    if (target === undefined) print(answer.bytes)
    else await writeFile(target, answer.bytes)
    const about = typeof quorum === 'string' ? `; witness quorum: ${quorum}` : ''
    note(
      `${target === undefined ? 'this proof' : `saved ${target}, which`} is checked by: proofstream verify FILE --policy FILE${about}`,
    )
    return exitCodes.done
  }
  throw new CommandFailure(exitCodes.notFound, `No dataset that you may read has a block ${what}.`)
}

/** The dataset that was asked has no such block. One that has it, but no proof of it, says so. */
function isElsewhere(error: unknown): boolean {
  if (!(error instanceof CommandFailure) || error.exitCode !== exitCodes.notFound) return false
  return error.details.kind?.endsWith('NoSuchProof') !== true
}

/** A proof as the node has it. Throws CommandFailure, which says when there will be one. */
export async function askForProof(client: NodeClient, path: string, format: 'json' | 'tlog-proof'): Promise<Answer> {
  const answer = await client.call({ path, query: { format }, headers: { accept: '*/*' }, accepts: [404, 409] })
  if (answer.status < 400) return answer
  throw notYet(problemFailure(answer, { server: client.server }), answer.headers['retry-after'])
}

/** Where the proof is. A hash by itself may be of any dataset. */
async function* pathsOf(client: NodeClient, what: string): AsyncGenerator<string> {
  const at = what.indexOf('@')
  if (at > 0) {
    const [dataset, place] = [datasetPath(what.slice(0, at)), what.slice(at + 1)]
    if (hashForm.test(place)) return yield `${dataset}/blocks/${place}/proof`
    if (/^\d{1,16}$/.test(place)) return yield `${dataset}/rows/${place}/proof`
    throw new CommandFailure(exitCodes.usage, `'${place}' is neither an offset nor the hash of a block.`)
  }
  if (what.includes('/')) {
    throw new CommandFailure(exitCodes.usage, `'${what}' names no row: write it as account/dataset@offset.`)
  }
  if (!hashForm.test(what)) return yield `/receipts/${encodeURIComponent(what)}/proof`
  for await (const page of pagesOf(client, { path: '/datasets' }, { items: 'datasets', cursor: 'after' })) {
    for (const dataset of page) yield `${datasetPath(textAt(dataset, 'alias') ?? '')}/blocks/${what}/proof`
  }
}

/** What is not in the ledger yet will be: the hint says when. */
function notYet(failure: CommandFailure, retryAfter: string | undefined): CommandFailure {
  if (failure.details.kind?.endsWith('NotYetInLedger') !== true || retryAfter === undefined) return failure
  return new CommandFailure(failure.exitCode, failure.message, {
    ...failure.details,
    hint: `Try again in ${retryAfter} s.`,
  })
}

export interface RenewCommand extends NodeOptions {
  readonly origin: string | undefined
  readonly reason: string
}

/** The identity of the new ledger goes to stdout. */
export async function renewLedger(context: CommandContext, command: RenewCommand): Promise<number> {
  const { withStore } = await import('../../app/upkeep/repair.ts')
  const { renewLedger: renew } = await import('../../features/ledger/put-back.ts')
  const config = context.entry.loadConfig({ 'log-level': 'warn', ...command.flags }, command.configFile)
  const { origin, key, previous, keyFile } = await withStore(config, (store) => renew(store, config, command))
  printObject(context.form, objectOf({ origin, key, keyFile, previous: previous?.origin, size: previous?.size }))
  note(
    `nodes over this store keep ${origin} from their next start; ${previous?.origin ?? 'the old one'} stays readable`,
  )
  return exitCodes.done
}
