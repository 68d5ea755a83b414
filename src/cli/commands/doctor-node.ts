// What `doctor` asks of a node over HTTP: whether it answers and is ready, its version, its clock, the token.

import { type JsonValue, packageVersion, systemClock } from '../../index.ts'
import type { Finding } from '../../doctor/finding.ts'
import { type Answer, type Call, type NodeClient, openClient } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, failureOf } from '../failure.ts'
import { itemsAt, memberAt, textAt } from '../json-values.ts'

/** A node that takes longer for one of these questions is as good as none. */
const answerWithinMs = 10_000
/** HTTP tells seconds; less than this is no difference. */
const clockToleranceMs = 5_000

/** Asks the node of `context.server`. Never throws. */
export async function checkNode(context: CommandContext): Promise<readonly Finding[]> {
  const server = context.server ?? ''
  try {
    const client = await openClient(context)
    const askedMs = systemClock.nowMs()
    const info = await ask(client, { path: '/info', isAnonymous: true })
    return [
      ...nodeFindings(server, info),
      clockFinding(info, askedMs),
      await readyFinding(client),
      await tokenFinding(client),
    ]
  } catch (error) {
    const { message, details, exitCode } = failureOf(error)
    const hint = details.hint ?? 'Look at the log of the node.'
    return [{ check: 'server', status: 'fail', found: message, hint, isRemote: exitCode === exitCodes.unreachable }]
  }
}

/** Asks, and takes a node that does not answer in time for one that cannot be reached. */
async function ask(client: NodeClient, call: Call): Promise<Answer> {
  const signal = AbortSignal.timeout(answerWithinMs)
  try {
    return await client.call({ ...call, signal })
  } catch (error) {
    if (!signal.aborted) throw error
    throw new CommandFailure(
      exitCodes.unreachable,
      `${client.server} does not answer within ${answerWithinMs / 1000} s.`,
      { hint: 'The process may be stopped or overloaded: look at it and at its log.' },
    )
  }
}

function nodeFindings(server: string, info: Answer): Finding[] {
  const facts = info.json()
  const version = textAt(facts, 'version')
  const roles = itemsAt(facts, 'roles').filter((role) => typeof role === 'string')
  const did = textAt(facts, 'did') ?? 'an unknown node'
  const found = `${server} is ${did}, version ${version ?? 'unknown'}, with the roles ${roles.join(', ')}.`
  const caution = textAt(facts, 'log', 'caution')
  return [
    version === packageVersion()
      ? { check: 'server', status: 'ok', found }
      : { check: 'server', status: 'warn', found, hint: `This program is ${packageVersion()}: use one version.` },
    ...(caution === undefined
      ? []
      : [{ check: 'server log', status: 'warn', found: `${caution}.`, hint: 'Run three brokers or more.' } as const]),
  ]
}

function clockFinding({ headers }: Answer, askedMs: number): Finding {
  const check = 'clock'
  const theirsMs = Date.parse(headers.date ?? '')
  if (Number.isNaN(theirsMs)) return { check, status: 'ok', found: 'The node does not tell its time.' }
  const apartMs = Math.abs(theirsMs - askedMs)
  if (apartMs <= clockToleranceMs)
    return { check, status: 'ok', found: 'The clocks of this machine and the node agree.' }
  const found = `The clocks of this machine and the node are ${Math.round(apartMs / 1000)} s apart.`
  return { check, status: 'warn', found, hint: 'Set both by NTP.' }
}

async function readyFinding(client: NodeClient): Promise<Finding> {
  const check = 'ready'
  const answer = await ask(client, { path: '/readyz', isAnonymous: true, accepts: [503] })
  if (answer.status === 200) return { check, status: 'ok', found: 'The node takes rows and answers queries.' }
  const reasons = memberAt(answer.json(), 'reasons')
  const told = reasons instanceof Map ? [...reasons].map(([part, reason]) => `${part}: ${textOf(reason)}`) : []
  const found = `The node is not ready. ${told.join('; ')}`
  return {
    check,
    status: 'fail',
    found,
    hint: 'Look at the log of the node; docs/errors.md says what a halt asks for.',
  }
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : 'no reason is told'
}

/** What the token may do: the list of tokens names its scopes to an admin; others learn that it is valid. */
async function tokenFinding(client: NodeClient): Promise<Finding> {
  const check = 'token of client'
  const { token } = client
  if (token === undefined) {
    const hint = 'Name one with --token-file or PROOFSTREAM_TOKEN where more than public data is wanted.'
    return { check, status: 'warn', found: 'There is no token to send.', hint }
  }
  const answer = await ask(client, { path: '/tokens', accepts: [401, 403, 404] })
  if (answer.status === 401) {
    const hint = 'Make another with: proofstream token create. PROOFSTREAM_DATA is where a local node keeps its own.'
    return { check, status: 'fail', found: 'The node does not know the token, or it has ended.', hint }
  }
  if (answer.status !== 200) {
    return {
      check,
      status: 'ok',
      found: 'The node takes the token; it is none of an admin, so its scopes are not told.',
    }
  }
  const own = itemsAt(answer.json(), 'tokens').find((one) => textAt(one, 'lastFour') === token.slice(-4))
  const scopes = itemsAt(own, 'scopes').filter((scope) => typeof scope === 'string')
  return {
    check,
    status: 'ok',
    found: `The node takes the token '${textAt(own, 'name') ?? ''}' (${scopes.join(', ')}).`,
  }
}
