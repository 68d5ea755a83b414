// `doctor`: looks at an installation and says of each thing whether it is well, and what to do where it is not.
// Nothing is changed.

import type { Config, JsonValue } from '../../index.ts'
import type { CommandContext } from '../context.ts'
import { exitCodes, failureOf } from '../failure.ts'
import { objectOf } from '../json-values.ts'
import { printObjects } from '../output.ts'
import { createStatusLine, type StatusLine } from '../status-line.ts'
import { cleanText } from '../table.ts'
import type { Finding } from '../../doctor/finding.ts'


/** Runs all checks. Resolves to 0 when none fails, 6 when only what is elsewhere does, else 9. */
export async function doctor(context: CommandContext, options: NodeOptions): Promise<number> {
  const status = createStatusLine()
  const findings = await allFindings(context, options, status).finally(() => status.clear())
  if (context.form === 'table') process.stdout.write(lines(findings).join(''))
  else printObjects(context.form, ['check', 'status', 'found', 'hint'], findings.map(rowOf))
  const failed = findings.filter((finding) => finding.status === 'fail')
  if (failed.length === 0) return exitCodes.done
  return failed.every(({ isRemote }) => isRemote === true) ? exitCodes.unreachable : exitCodes.environment
}

async function allFindings(context: CommandContext, options: NodeOptions, status: StatusLine): Promise<Finding[]> {
  const config = readConfig(context, options)
  if ('found' in config) return [config]
  const { inspect } = await import('../../doctor/inspect.ts')
  const { findings, isRunning } = await inspect(config, (name) => status.show(`looking at ${name}`, true))
  const all = [{ check: 'options', status: 'ok', found: 'All options are valid.' } as const, ...findings]
  const asked = context.server ?? context.environment.server
  const server = asked ?? (isRunning ? addressOf(config) : undefined)
  if (server === undefined) return isRunning ? [...all, unknownAddress] : all
  status.show(`asking ${server}`, true)
  const { checkNode } = await import('./doctor-node.ts')
  return [...all, ...(await checkNode({ ...context, server, environment: tokenPlace(context, config) }))]
}

function readConfig(context: CommandContext, { flags, configFile }: NodeOptions): Config | Finding {
  try {
    return context.entry.loadConfig(flags, configFile)
  } catch (error) {
    const hint = 'See every option and where its value comes from: proofstream config.'
    return { check: 'options', status: 'fail', found: failureOf(error).message, hint }
  }
}

/** Where the node of these options can be asked from here; undefined where the system chose its port. */
function addressOf({ listenHost, listenPort }: Config): string | undefined {
  if (listenPort === 0) return undefined
  const host = /^(?:0\.0\.0\.0|::)$/.test(listenHost) ? '127.0.0.1' : listenHost
  return `http://${host.includes(':') ? `[${host}]` : host}:${listenPort}`
}

const unknownAddress: Finding = {
  check: 'server',
  status: 'warn',
  found: 'The node that runs here was not asked: its options take a free port.',
  hint: 'Name its address with --server.',
}

/** The token of a node on this machine lies in the data directory that the options name. */
function tokenPlace({ environment }: CommandContext, { dataDir }: Config): CommandContext['environment'] {
  return { ...environment, dataDir }
}

function rowOf({ check, status, found, hint }: Finding): JsonValue {
  return objectOf({ check, status, found, hint })
}

function lines(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings.flatMap(({ check, status, found, hint }) => [
    `${status.padEnd(4)}  ${check.padEnd(width)}  ${cleanText(found)}\n`,
    ...(hint === undefined ? [] : [`${' '.repeat(width + 6)}  → ${cleanText(hint)}\n`]),
  ])
}
