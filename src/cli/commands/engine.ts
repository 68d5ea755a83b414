// `engine list` and `engine add`: the engines on which proofs of other versions are run again. No node is asked.

import type { CommandContext, NodeOptions } from '../context.ts'
import { exitCodes, note } from '../failure.ts'
import { objectOf } from '../json-values.ts'
import { printObject, printObjects } from '../output.ts'

/** Prints the versions that this release knows, and which are on this machine. */
export async function listEngines(context: CommandContext, { flags, configFile }: NodeOptions): Promise<number> {
  const { listEngines: list } = await import('../../node/upkeep/engines.ts')
  const config = context.entry.loadConfig({ 'log-level': 'warn', ...flags }, configFile)
  const engines = await list(config)
  printObjects(
    context.form,
    ['version', 'state', 'package', 'digest'],
    engines.map(({ version, digest, fault, ...one }) => {
      const here = one.default ? 'default' : 'here'
      const missing = fault === undefined ? 'not here' : 'not usable'
      const state = digest === undefined ? missing : here
      return objectOf({ version, state, package: one.package, digest, reason: fault })
    }),
  )
  for (const { fault } of engines) if (fault !== undefined) note(fault)
  return exitCodes.done
}

/** Prints the engine that is there now. */
export async function addEngine(
  context: CommandContext,
  { flags, configFile, version, files }: NodeOptions & { readonly version: string; readonly files: readonly string[] },
): Promise<number> {
  const { addEngine: add } = await import('../../node/upkeep/engines.ts')
  const config = context.entry.loadConfig({ 'log-level': 'warn', ...flags }, configFile)
  const { digest, default: isDefault } = await add(config, version, files)
  printObject(context.form, objectOf({ version, digest }))
  note(`proofs of DuckDB ${version} run on it from now on, in ${config.dataDir}`)
  if (isDefault) note('statements run on it in nodes that start from now on')
  return exitCodes.done
}
