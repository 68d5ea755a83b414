// `engine add`: the engines on which proofs of other versions are run again. No node is asked.

import type { CommandContext, StoredOptions } from '../context.ts'
import { exitCodes, note } from '../failure.ts'
import { objectOf } from '../../libraries/base/json/members.ts'
import { printObject } from '../output.ts'

/** Prints the engine that is there now. */
export async function addEngine(
  context: CommandContext,
  {
    config,
    version,
    file: files = [],
  }: StoredOptions & { readonly version: string; readonly file?: readonly string[] },
): Promise<number> {
  const { addEngine: add } = await import('../../app/upkeep/engines.ts')
  const { digest, default: isDefault } = await add(config, version, files)
  printObject(context.form, objectOf({ version, digest }))
  note(`proofs of DuckDB ${version} run on it from now on, in ${config.dataDir}`)
  if (isDefault) note('statements run on it in nodes that start from now on')
  return exitCodes.done
}
