// `dataset delete | restore`.

import { createInterface } from 'node:readline/promises'
import { datasetPath, openClient } from '../client.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { objectOf, textAt } from '../json-values.ts'
import { printObject } from '../output.ts'

export interface DeleteOptions {
  readonly yes?: boolean
  /** A duration, such as `24h`. */
  readonly grace?: string
  readonly ifMatch?: string
}

/** Deletes a dataset, after its name was typed once more on a terminal. */
export async function deleteDataset(
  context: CommandContext,
  [name = '']: Args,
  { yes = false, grace, ifMatch = '*' }: DeleteOptions,
): Promise<number> {
  const path = datasetPath(name)
  if (!yes) await confirm(name)
  const client = await openClient(context)
  const call = { method: 'DELETE', path, query: { grace }, headers: { 'if-match': ifMatch } }
  const deleted = (await client.call(call)).json()
  const id = textAt(deleted, 'id') ?? ''
  note(`deleted dataset ${name}; until ${textAt(deleted, 'removedAfter')}: proofstream dataset restore ${id}`)
  if (deleted instanceof Map) printObject(context.form, deleted)
  return exitCodes.done
}

async function confirm(name: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CommandFailure(exitCodes.usage, 'Nobody is here to ask.', { hint: `Add --yes to delete ${name}.` })
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const typed = await terminal.question(`Type ${name} to delete it: `).finally(() => terminal.close())
  if (typed.trim() !== name) throw new CommandFailure(exitCodes.usage, 'The name does not match. Nothing was deleted.')
}

export interface RestoreOptions {
  /** Another name than it had. */
  readonly as?: string
}

/** Takes a deletion back. */
export async function restoreDataset(
  context: CommandContext,
  [id = '']: Args,
  { as: alias }: RestoreOptions,
): Promise<number> {
  const client = await openClient(context)
  const path = `/datasets/${encodeURIComponent(id)}/restore`
  const restored = (await client.call({ method: 'POST', path, json: objectOf({ alias }) })).json()
  note(`restored dataset ${textAt(restored, 'alias')}`)
  if (restored instanceof Map) printObject(context.form, restored)
  return exitCodes.done
}
