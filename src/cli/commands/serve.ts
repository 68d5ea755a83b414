// `serve`: runs a node in this process until a signal stops it.

import { flushCompileCache } from 'node:module'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import { readOptions, refuseIdleOptions, type RunningNode } from '../../index.ts'
import type { CommandContext, NodeOptions } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { print } from '../terminal.ts'

/** For the end of a node that cannot go on. */
const stopWithinMs = 30_000

/** Runs a node. Resolves when it was stopped by a signal; rejects when it cannot start or cannot go on. */
export async function serve(context: CommandContext, options: NodeOptions): Promise<number> {
  refuseIdleOptions(readOptions(options.flags, options.configFile))
  const config = context.entry.loadConfig(options.flags, options.configFile)
  const { startNode } = await import('../../app/node.ts')
  const node = await startNode(config)
  const stopped = stopSignal()
  announce(node, context.environment.dataDir)
  // A node may be killed in the end: what was compiled for it is kept for the next one now.
  flushCompileCache()
  const failure = await Promise.race([stopped.then(() => undefined), node.failed.then((error) => ({ error }))])
  if (failure === undefined) {
    await node.stop()
    return exitCodes.done
  }
  // A node that cannot go on may not be able to close either.
  await Promise.race([node.stop().catch(() => {}), sleep(stopWithinMs, undefined, { ref: false })])
  const reason = failure.error instanceof Error ? failure.error.message : String(failure.error)
  throw new CommandFailure(exitCodes.failed, `The node stopped by itself: ${reason}`, { cause: failure.error })
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
function stopSignal(): Promise<void> {
  let asked = false
  return new Promise((stop) => {
    const onSignal = (): void => {
      if (asked) process.exit(exitCodes.interrupted)
      asked = true
      if (process.stderr.isTTY) note('\nStopping: finishing what is in flight. Press again to stop at once.')
      stop()
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}

/** A few lines for a person, or one line of JSON for a program. */
function announce(node: RunningNode, clientDataDir: string): void {
  if (process.stdout.isTTY) note(bannerLines(node, clientDataDir).join('\n'))
  else print(`${JSON.stringify(readyEvent(node, process.pid))}\n`)
}

/** One line for a program. In a container it also says where a person finds the pages and the token. */
export function readyEvent(
  { url, did, roles, tokenFile, keys }: Pick<RunningNode, 'url' | 'did' | 'roles' | 'tokenFile' | 'keys'>,
  pid: number,
): Readonly<Record<string, string | number>> {
  const isContainer = pid === 1 && roles.includes('gateway')
  return {
    event: 'ready',
    url,
    did,
    ...keys,
    pid,
    ...(isContainer && {
      next: `Open the published port in a browser, mostly http://localhost:${new URL(url).port}/. The admin token: docker exec CONTAINER node -p 'fs.readFileSync("${tokenFile}","utf8")'`,
    }),
  }
}

type Facts = Pick<
  RunningNode,
  'url' | 'did' | 'version' | 'roles' | 'dataDir' | 'tokenFile' | 'logKind' | 'anonymousRead' | 'keys'
>

/**
 * At most 12 aligned lines: what runs, where, who may do what, what to do next. `clientDataDir`: where commands look
 * for the token.
 */
export function bannerLines(node: Facts, clientDataDir: string): string[] {
  const label = (text: string): string => styleText('dim', text.padEnd(9), { stream: process.stderr })
  const { url, dataDir } = node
  const client = url === 'http://127.0.0.1:8080' ? 'proofstream' : `proofstream --server ${url}`
  const access = node.anonymousRead
    ? 'anyone may read public datasets; writing needs a token'
    : 'everything needs a token'
  const finding =
    resolve(clientDataDir) === resolve(dataDir)
      ? 'commands that run here find it'
      : `commands find it with PROOFSTREAM_DATA=${dataDir}`
  const common = [
    `${styleText('bold', 'Proofstream', { stream: process.stderr })} ${node.version}`,
    `${label('URL')}  ${url}`,
    `${label('Swagger')}  ${url}/swagger`,
    `${label('Data')}  ${dataDir}`,
    `${label('Node')}  ${node.did}`,
    `${label('Log')}  ${node.logKind}`,
    `${label('Access')}  ${access}`,
    ...Object.entries(node.keys).map(([name, key]) => `${label(name[0]?.toUpperCase() + name.slice(1))}  ${key}`),
  ]
  // The token and what to do next are told where all of it can be done.
  if (node.roles.length < 3) return [...common, `${label('Roles')}  ${node.roles.join(', ')}`]
  return [
    ...common,
    `${label('Token')}  ${node.tokenFile} (admin; ${finding})`,
    `${label('Next')}  ${client} demo`,
    `${label('')}  ${client} ingest me/lab readings.csv`,
    `${label('')}  ${client} query 'select count(*) from "me/lab"' --proof answer.json`,
  ]
}
