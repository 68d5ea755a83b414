// `--version`, `receipt`, `token create | list | revoke`: small questions to a node.

import { type JsonValue, packageVersion, systemClock } from '../../index.ts'
import { type NodeClient, openClient } from '../client.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { itemsAt, memberAt, objectOf, textsAt } from '../../libraries/base/json/members.ts'
import { printObject, printObjects, rowPrinter } from '../output.ts'
import { print } from '../terminal.ts'

/** What became of a batch. A batch that was rejected is a conflict, as it was for its sender; so is one that was lost. */
export async function showReceipt(context: CommandContext, [id = '']: Args): Promise<number> {
  const client = await openClient(context)
  const receipt = (await client.call({ path: `/receipts/${encodeURIComponent(id)}` })).json()
  if (receipt instanceof Map) printObject(context.form, receipt)
  const status = memberAt(receipt, 'status')
  return status === 'rejected' || status === 'lost' ? exitCodes.conflict : exitCodes.done
}

/** Prints the versions of this program and of what it runs on; no node is asked. */
export function showVersion(): number {
  print(`proofstream ${packageVersion()} (Node.js ${process.versions.node}, ${process.platform})\n`)
  return exitCodes.done
}

export interface TokenOptions {
  readonly scope?: readonly string[]
  /** Patterns such as `acme/*`. */
  readonly dataset?: readonly string[]
  /** RFC 3339, or a duration from now such as `30d`. */
  readonly expires?: string
  /** More than one, under names with numbers. */
  readonly count?: number
  /** Patterns in which `{name}` stands for the name of the token; with `count`. */
  readonly datasets?: readonly string[]
}

export async function createToken(context: CommandContext, [name]: Args, options: TokenOptions): Promise<number> {
  const { scope, dataset, count, expires } = options
  const expiresAt = expires === undefined ? undefined : expiry(expires)
  if (count !== undefined) {
    const datasets = options.datasets ?? dataset
    return createTokens(context, { count, name: name ?? 'device', scopes: scope ?? ['ingest'], datasets, expiresAt })
  }
  if (name === undefined || scope === undefined) throw incomplete()
  const datasets = (dataset ?? options.datasets)?.map((pattern) => pattern.replaceAll('{name}', name))
  const body = objectOf({ name, scopes: [...scope], datasets, expiresAt })
  const client = await openClient(context)
  const made = (await client.call({ method: 'POST', path: '/tokens', json: body })).json()
  if (made instanceof Map) printObject(context.form, made)
  note('The text of the token is shown this once: keep it now.')
  if (datasets === undefined) note('It is good for every dataset; --dataset limits it to some.')
  return exitCodes.done
}

function incomplete(): CommandFailure {
  return new CommandFailure(exitCodes.usage, 'A token takes a name and a --scope, or a --count.', {
    hint: "For instance: token create reader --scope read, or token create --count 500 --datasets 'fleet/{name}'.",
  })
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** RFC 3339 of a duration from now; anything else is for the node to judge. */
function expiry(text: string): string {
  const match = /^(\d{1,5})([mhd])$/.exec(text)
  if (match !== null) {
    return new Date(systemClock.nowMs() + Number(match[1]) * (unitMs[match[2] ?? ''] ?? 0)).toISOString()
  }
  if (/^\d{4}-/.test(text)) return text
  throw new CommandFailure(exitCodes.usage, `'${text}' is not a time at which a token can expire.`, {
    hint: 'Say --expires 30d, 12h, 90m or a time such as 2030-01-31T00:00:00Z.',
  })
}

interface ManyTokens {
  readonly count: number
  /** Of the tokens, before their numbers. */
  readonly name: string
  readonly scopes: readonly string[]
  /** `{name}` stands for the name of the token. */
  readonly datasets: readonly string[] | undefined
  readonly expiresAt: string | undefined
}

const fleetColumns = ['name', 'token', 'id', 'datasets']
/** Requests at the same time. */
const mostUnderWay = 8

/** Makes the tokens `<name>-0001` and so on, and prints each as it is made, so that what an interruption leaves is known. */
async function createTokens(context: CommandContext, asked: ManyTokens): Promise<number> {
  const { count, name } = asked
  const client = await openClient(context)
  const printRow = rowPrinter(context.isFormSaid ? context.form : 'csv')
  const digits = Math.max(4, String(count).length)
  let made = 0
  try {
    while (made < count) {
      const numbers = Array.from({ length: Math.min(mostUnderWay, count - made) }, (_, i) => made + i + 1)
      const names = numbers.map((number) => `${name}-${String(number).padStart(digits, '0')}`)
      const outcomes = await Promise.allSettled(names.map((one) => createOne(client, asked, one)))
      const rows = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      printRow({ columns: fleetColumns, rows })
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      made += rows.length
    }
  } catch (error) {
    note('The tokens that are printed were made; proofstream token revoke ends one.')
    throw error
  }
  note(`${count} tokens. Their texts are shown this once: keep them now.`)
  return exitCodes.done
}

async function createOne(client: NodeClient, asked: ManyTokens, name: string): Promise<readonly JsonValue[]> {
  const { scopes, datasets, expiresAt } = asked
  const own = datasets?.map((pattern) => pattern.replaceAll('{name}', name))
  const json = objectOf({ name, scopes: [...scopes], datasets: own, expiresAt })
  const made = (await client.call({ method: 'POST', path: '/tokens', json })).json()
  const token = memberAt(made, 'token')
  if (typeof token !== 'string') throw new CommandFailure(exitCodes.failed, 'The node answered without a token.')
  const bound = textsAt(made, 'datasets')
  return [name, token, memberAt(made, 'id') ?? null, bound.length === 0 ? null : bound.join(' ')]
}

const columns = ['id', 'name', 'scopes', 'datasets', 'expiresAt', 'createdAt', 'lastFour']

export async function listTokens(context: CommandContext): Promise<number> {
  const client = await openClient(context)
  const tokens: readonly JsonValue[] = itemsAt((await client.call({ path: '/tokens' })).json(), 'tokens')
  printObjects(context.form, columns, tokens)
  return exitCodes.done
}

export async function revokeToken(context: CommandContext, [id = '']: Args): Promise<number> {
  const client = await openClient(context)
  await client.call({ method: 'DELETE', path: `/tokens/${encodeURIComponent(id)}` })
  note(`token ${id} revoked`)
  return exitCodes.done
}
