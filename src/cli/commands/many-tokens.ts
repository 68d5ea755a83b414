// `token create --count`: tokens for a fleet, a line of CSV each as it is made, so that what an interruption leaves is known.

import type { JsonValue } from '../../index.ts'
import { type NodeClient, openClient } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { memberAt, objectOf, textsAt } from '../json-values.ts'
import { rowPrinter } from '../output.ts'

export interface ManyTokens {
  readonly count: number
  /** Of the tokens, before their numbers. */
  readonly name: string
  readonly scopes: readonly string[]
  /** `{name}` stands for the name of the token. */
  readonly datasets: readonly string[] | undefined
  readonly expiresAt: string | undefined
}

const columns = ['name', 'token', 'id', 'datasets']
/** Requests at the same time. */
const mostUnderWay = 8

/** Makes the tokens `<name>-0001` and so on, and prints them in this order. */
export async function createTokens(context: CommandContext, asked: ManyTokens): Promise<number> {
  const { count, name } = asked
  const client = await openClient(context)
  const print = rowPrinter(context.isFormSaid ? context.form : 'csv')
  const digits = Math.max(4, String(count).length)
  let made = 0
  try {
    while (made < count) {
      const numbers = Array.from({ length: Math.min(mostUnderWay, count - made) }, (_, i) => made + i + 1)
      const names = numbers.map((number) => `${name}-${String(number).padStart(digits, '0')}`)
      const outcomes = await Promise.allSettled(names.map((one) => createToken(client, asked, one)))
      const rows = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      print({ columns, rows })
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

async function createToken(client: NodeClient, asked: ManyTokens, name: string): Promise<readonly JsonValue[]> {
  const { scopes, datasets, expiresAt } = asked
  const own = datasets?.map((pattern) => pattern.replaceAll('{name}', name))
  const json = objectOf({ name, scopes: [...scopes], datasets: own, expiresAt })
  const made = (await client.call({ method: 'POST', path: '/tokens', json })).json()
  const token = memberAt(made, 'token')
  if (typeof token !== 'string') throw new CommandFailure(exitCodes.failed, 'The node answered without a token.')
  const bound = textsAt(made, 'datasets')
  return [name, token, memberAt(made, 'id') ?? null, bound.length === 0 ? null : bound.join(' ')]
}
