// `completion`: prints the script with which a shell completes this command.

import { readFile } from 'node:fs/promises'
import type { Args } from '../context.ts'
import { exitCodes } from '../failure.ts'
import { print } from '../terminal.ts'

/** Prints the script that scripts/completion-scripts.ts has made for the shell. Zsh reads that of bash. */
export async function printCompletion([shell]: Args): Promise<number> {
  const name = `completion.${shell === 'fish' ? 'fish' : 'bash'}`
  print(await readFile(new URL(`../../../texts/${name}`, import.meta.url), 'utf8'))
  return exitCodes.done
}
