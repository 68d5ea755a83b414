// `doctor`: looks at an installation and says of each thing whether it is well, and what to do where it is not. First come the
// options that are set.
// Nothing is changed.

import { isDirectoryStore } from '../../app/open-storage.ts'
import { type Config, readOptions, refuseIdleOptions, variableOf } from '../../index.ts'
import { type Finding, ok } from '../../node/upkeep/finding.ts'
import { cleanText } from '../../libraries/base/clean-text.ts'
import type { CommandContext, NodeOptions, StoredOptions } from '../context.ts'
import { asTyped, exitCodes, note } from '../failure.ts'
import { objectOf } from '../../libraries/base/json/members.ts'
import { createStatusLine, printObjects } from '../output.ts'
import { print } from '../terminal.ts'
import { shellWord } from '../../libraries/formats/flags.ts'

/** Runs all checks. Resolves to 0 when none fails, 6 when only what is elsewhere does, else 9. Throws where `serve` would. */
export async function doctor(context: CommandContext, options: StoredOptions): Promise<number> {
  const { config } = options
  const set = optionsSet(options)
  const { inspect } = await import('../../app/upkeep/inspect.ts')
  const status = createStatusLine()
  const show = (name: string): void => status.show(`looking at ${name}`, true)
  const places = [storeOf(config), placeOf(options)] as const
  const found = await inspect(config, show).finally(() => status.clear())
  const findings = [...set, ...found].map((one) =>
    one.hint === undefined ? one : { ...one, hint: hintAt(one.hint, ...places) },
  )
  if (context.form === 'table') {
    print(lines(findings).join(''))
    const odd = findings.filter(({ status }) => status !== 'ok').length
    note(odd === 0 ? 'All is well.' : `${odd} of ${findings.length} are not well; what to do is behind the arrows.`)
  } else
    printObjects(
      context.form,
      ['check', 'status', 'found', 'hint'],
      findings.map(({ check, status, found, hint }) => objectOf({ check, status, found, hint })),
    )
  const failed = findings.filter((finding) => finding.status === 'fail')
  if (failed.length === 0) return exitCodes.done
  return failed.every(({ isRemote }) => isRemote === true) ? exitCodes.unreachable : exitCodes.environment
}

/** Each option that is set, and where. The others are as docs/configuration.md has them. */
function optionsSet({ flags, configFile }: NodeOptions): Finding[] {
  const options = readOptions(flags, configFile)
  refuseIdleOptions(options)
  return options.flatMap(({ row, value, source }) => {
    if (source === 'default') return []
    const from = source === 'environment' ? variableOf(row) : source === 'file' ? configFile : 'flag'
    const shown = row.isSecret === true ? '********' : String(value)
    return ok('option', `${row.name} is ${shown} (${from})`)
  })
}

/** A command of a hint looks at the same installation. */
function hintAt(hint: string, store: string, place: string): string {
  return hint
    .replace(/\bproofstream fsck\b/g, (command) => `${command} ${shellWord(store)}`)
    .replace(/\bproofstream log (?:adopt|reject)\b/g, (command) => command + place)
}

/** As `fsck` takes it. */
function storeOf(config: Config): string {
  const { dataDir, storeDir, storeUrl = dataDir } = config
  return storeDir ?? (isDirectoryStore(config) ? dataDir : storeUrl)
}

/** The options that say where the store is, as they were given: what the environment says, the command finds by itself. */
function placeOf({ flags, configFile }: NodeOptions): string {
  const given = ['data', 'store'].map((name) => [name, flags[name]] as const)
  return [['config', configFile] as const, ...given]
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` --${name} ${shellWord(String(value))}`)
    .join('')
}

function lines(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings.flatMap(({ check, status, found, hint }) => [
    `${status.padEnd(4)}  ${check.padEnd(width)}  ${cleanText(found)}\n`,
    ...(hint === undefined ? [] : [`${' '.repeat(width + 6)}  → ${cleanText(asTyped(hint))}\n`]),
  ])
}
