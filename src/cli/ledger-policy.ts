// Whom a check trusts: the policy of a file, else that of the server that is asked, and never anything of what is checked.

import { DecodeError } from '../libraries/base/errors.ts'
import { parsePolicy, type Policy } from '../libraries/ledger/policy.ts'
import { type NodeClient, openClient } from './client.ts'
import type { CommandContext } from './context.ts'
import { readNamed } from './given-file.ts'
import { CommandFailure, exitCodes, failureOf } from './failure.ts'
import { itemsAt, textAt } from '../libraries/base/json/members.ts'
import { LedgerTiles } from './ledger-tiles.ts'

export interface KnownPolicy {
  readonly policy: Policy
  /** The file, or whose it is. */
  readonly name: string
}

/** The policy of the file. Throws CommandFailure. */
export async function policyOfFile(file: string): Promise<KnownPolicy> {
  return { policy: parsed(await readNamed(file), { name: file, code: exitCodes.refused }), name: file }
}

/** The policy that a node says of itself. Throws CommandFailure (notJudged). */
export async function policyOfNode(client: NodeClient): Promise<KnownPolicy> {
  const name = `of ${client.server}`
  const hint = 'Name one with --policy FILE; its author says whom to trust.'
  try {
    const answer = await client.call({ path: '/ledger/policy', isAnonymous: true, headers: { accept: 'text/plain' } })
    return { policy: parsed(answer.bytes, { name, code: exitCodes.notJudged }), name }
  } catch (error) {
    const { message } = failureOf(error)
    throw new CommandFailure(exitCodes.notJudged, `There is no policy to judge by. ${message}`, {
      hint,
      cause: error,
    })
  }
}

/** `--policy`, else what the server says; without a server (`--offline`) there is none. Throws CommandFailure. */
export async function policyFor(
  context: CommandContext,
  { policy, offline }: { readonly policy?: string; readonly offline?: boolean },
): Promise<KnownPolicy> {
  if (policy !== undefined) return await policyOfFile(policy)
  if (offline !== true) return await policyOfNode(await openClient(context))
  throw new CommandFailure(exitCodes.notJudged, 'There is no policy to judge by.', {
    hint: 'Name one with --policy FILE.',
  })
}

/** Where a ledger is read: at the address that the policy has for it, else where the server shows it. */
export async function tilesFor(context: CommandContext, { policy }: KnownPolicy, origin: string): Promise<LedgerTiles> {
  const url = policy.logs.find(({ key }) => key.name === origin)?.url
  return url === undefined ? await tilesOf(await openClient(context), [origin]) : new LedgerTiles(url)
}

/** The newest ledger of a node with one of these names, else its first: that is at `/ledger`, the n-th at `/ledger/<n>`. */
export async function tilesOf(client: NodeClient, names: readonly string[]): Promise<LedgerTiles> {
  // Who cannot say it has one ledger: what is read there says whose it is.
  const about = await client.call({ path: '/ledger', isAnonymous: true }).then(
    (answer) => answer.json(),
    () => undefined,
  )
  const origins = [...itemsAt(about, 'former').map((former) => textAt(former, 'origin')), textAt(about, 'origin')]
  const number = 1 + origins.findLastIndex((origin) => origin !== undefined && names.includes(origin))
  return new LedgerTiles(`${client.server}/ledger${number > 1 ? `/${number}` : ''}`)
}

function parsed(bytes: Uint8Array, { name, code }: { readonly name: string; readonly code: 5 | 14 }): Policy {
  try {
    return parsePolicy(bytes)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new CommandFailure(code, `The policy ${name} cannot be read: ${error.message}.`, {
      hint: 'Its form is https://c2sp.org/tlog-policy.',
      cause: error,
    })
  }
}
