// `doctor`: looks at an installation and says of each thing whether it is well, and what to do where it is not.
// Nothing is changed.

import { fail, type Finding, ok, warn } from '../../doctor/finding.ts'
import { type Config, type JsonValue, packageVersion, systemClock } from '../../index.ts'
import { cleanText } from '../../lib/clean-text.ts'
import { type Answer, type Call, type NodeClient, openClient } from '../client.ts'
import type { CommandContext, NodeOptions } from '../context.ts'
import { CommandFailure, exitCodes, failureOf } from '../failure.ts'
import { itemsAt, memberAt, objectOf, textAt, textsAt } from '../json-values.ts'
import { createStatusLine, printObjects, type StatusLine } from '../output.ts'
import { print } from '../terminal.ts'

/** Runs all checks. Resolves to 0 when none fails, 6 when only what is elsewhere does, else 9. */
export async function doctor(context: CommandContext, options: NodeOptions): Promise<number> {
  const status = createStatusLine()
  const findings = await allFindings(context, options, status).finally(() => status.clear())
  if (context.form === 'table') print(lines(findings).join(''))
  else
    printObjects(
      context.form,
      ['check', 'status', 'found', 'hint'],
      findings.map(({ check, status, found, hint }) => objectOf({ check, status, found, hint })),
    )
  const failed = findings.filter((finding) => finding.status === 'fail')
  if (failed.length === 0) return exitCodes.done
  return failed.every(({ isRemote }) => isRemote === true) ? exitCodes.unreachable : exitCodes.environment
}

async function allFindings(context: CommandContext, options: NodeOptions, status: StatusLine): Promise<Finding[]> {
  const config = readConfig(context, options)
  if ('found' in config) return [config]
  const { inspect } = await import('../../doctor/inspect.ts')
  const { findings, isRunning } = await inspect(config, (name) => status.show(`looking at ${name}`, true))
  const all = [ok('options', 'All options are valid.'), ...findings]
  const asked = context.server ?? context.environment.server
  const server = asked ?? (isRunning ? addressOf(config) : undefined)
  if (server === undefined) return isRunning ? [...all, unknownAddress] : all
  status.show(`asking ${server}`, true)
  // The token of a node on this machine lies in the data directory that the options name.
  const environment = { ...context.environment, dataDir: config.dataDir }
  return [...all, ...(await checkNode({ ...context, environment }, server))]
}

function readConfig(context: CommandContext, { flags, configFile }: NodeOptions): Config | Finding {
  try {
    return context.entry.loadConfig(flags, configFile)
  } catch (error) {
    const hint = 'See every option and where its value comes from: proofstream config.'
    return fail('options', failureOf(error).message, hint)
  }
}

/** Where the node of these options can be asked from here; undefined where the system chose its port. */
function addressOf({ listenHost, listenPort }: Config): string | undefined {
  if (listenPort === 0) return undefined
  const host = /^(?:0\.0\.0\.0|::)$/.test(listenHost) ? '127.0.0.1' : listenHost
  return `http://${host.includes(':') ? `[${host}]` : host}:${listenPort}`
}

const unknownAddress = warn(
  'server',
  'The node that runs here was not asked: its options take a free port.',
  'Name its address with --server.',
)

function lines(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings.flatMap(({ check, status, found, hint }) => [
    `${status.padEnd(4)}  ${check.padEnd(width)}  ${cleanText(found)}\n`,
    ...(hint === undefined ? [] : [`${' '.repeat(width + 6)}  → ${cleanText(hint)}\n`]),
  ])
}

/** A node that takes longer for one of these questions is as good as none. */
const answerWithinMs = 10_000
/** HTTP tells seconds; less than this is no difference. */
const clockToleranceMs = 5_000

/** Asks the node at `server`: whether it answers and is ready, its version, its clock, the token. Never throws. */
async function checkNode(context: CommandContext, server: string): Promise<readonly Finding[]> {
  try {
    const client = await openClient({ ...context, server })
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
    const finding = fail('server', message, details.hint ?? 'Look at the log of the node.')
    return [{ ...finding, isRemote: exitCode === exitCodes.unreachable }]
  }
}

/** Asks, and takes a node that does not answer in time for one that cannot be reached. */
async function ask(client: NodeClient, call: Call): Promise<Answer> {
  const signal = AbortSignal.timeout(answerWithinMs)
  try {
    return await client.call({ ...call, signal })
  } catch (error) {
    if (!signal.aborted) throw error
    const message = `${client.server} does not answer within ${answerWithinMs / 1000} s.`
    const hint = 'The process may be stopped or overloaded: look at it and at its log.'
    throw new CommandFailure(exitCodes.unreachable, message, { hint })
  }
}

function nodeFindings(server: string, info: Answer): Finding[] {
  const facts = info.json()
  const version = textAt(facts, 'version')
  const did = textAt(facts, 'did') ?? 'an unknown node'
  const roles = textsAt(facts, 'roles').join(', ')
  const found = `${server} is ${did}, version ${version ?? 'unknown'}, with the roles ${roles}.`
  const ours = packageVersion()
  const caution = textAt(facts, 'log', 'caution')
  return [
    version === ours ? ok('server', found) : warn('server', found, `This program is ${ours}: use one version.`),
    ...(caution === undefined ? [] : [warn('server log', `${caution}.`, 'Run three brokers or more.')]),
  ]
}

function clockFinding({ headers }: Answer, askedMs: number): Finding {
  const theirsMs = Date.parse(headers.date ?? '')
  if (Number.isNaN(theirsMs)) return ok('clock', 'The node does not send its time.')
  const apartMs = Math.abs(theirsMs - askedMs)
  if (apartMs <= clockToleranceMs) return ok('clock', 'The clocks of this machine and the node agree.')
  const found = `The clocks of this machine and the node are ${Math.round(apartMs / 1000)} s apart.`
  return warn('clock', found, 'Set both by NTP.')
}

async function readyFinding(client: NodeClient): Promise<Finding> {
  const answer = await ask(client, { path: '/readyz', isAnonymous: true, accepts: [503] })
  if (answer.status === 200) return ok('ready', 'The node takes rows and answers queries.')
  const reasons = memberAt(answer.json(), 'reasons')
  const textOf = (reason: JsonValue): string => (typeof reason === 'string' ? reason : 'no reason is told')
  const told = reasons instanceof Map ? [...reasons].map(([part, reason]) => `${part}: ${textOf(reason)}`) : []
  const hint = 'Look at the log of the node; docs/errors.md says what a halt asks for.'
  return fail('ready', `The node is not ready. ${told.join('; ')}`, hint)
}

/** What the token may do: the list of tokens names its scopes to an admin; others learn that it is valid. */
async function tokenFinding(client: NodeClient): Promise<Finding> {
  const check = 'token of client'
  const { token } = client
  if (token === undefined) {
    const hint = 'Name one with --token-file or PROOFSTREAM_TOKEN where more than public data is wanted.'
    return warn(check, 'There is no token to send.', hint)
  }
  const answer = await ask(client, { path: '/tokens', accepts: [401, 403, 404] })
  if (answer.status === 401) {
    const hint = 'Make another with: proofstream token create. PROOFSTREAM_DATA is where a local node keeps its own.'
    return fail(check, 'The node does not know the token, or it has ended.', hint)
  }
  if (answer.status !== 200) {
    return ok(check, 'The node takes the token; it is not an admin token, so its scopes are not shown.')
  }
  const own = itemsAt(answer.json(), 'tokens').find((one) => textAt(one, 'lastFour') === token.slice(-4))
  const scopes = textsAt(own, 'scopes').join(', ')
  return ok(check, `The node takes the token '${textAt(own, 'name') ?? ''}' (${scopes}).`)
}
