// `preset list | show | test`: what the presets of ingest stand for, and what a file would become by one; no node is asked.

import { type Preset, presetNames, presets } from '../../formats/presets.ts'
import { NodeError, parseJson } from '../../index.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { openSource } from '../ingest-source.ts'
import { objectOf } from '../json-values.ts'
import { printObject, printObjects } from '../output.ts'
import { problemFailure } from '../problem.ts'

/** The presets of this version of the program. */
export function listPresets(context: CommandContext): number {
  const rows = presetNames.map((name) =>
    objectOf({ name, mediaType: presets[name].mediaType, about: presets[name].about }),
  )
  printObjects(context.form, ['name', 'mediaType', 'about'], rows)
  return exitCodes.done
}

/** What a preset stands for, with a body as its producer's documentation shows it. */
export function showPreset(context: CommandContext, [name = '']: Args): number {
  const { about, source, mediaType, readAs, parameters, example } = presetNamed(name)
  const types = readAs === undefined ? {} : { readAs: objectOf(readAs) }
  const said = objectOf({ name, about, source, mediaType, ...types, parameters: objectOf(parameters), example })
  printObject(context.form, said)
  return exitCodes.done
}

/** Prints the rows that a body in a file would become. */
export async function testPreset(context: CommandContext, [name = '', file = '-']: Args): Promise<number> {
  const { mediaType } = presetNamed(name)
  const { tryBody } = await import('../../try-body.ts')
  const { contentEncoding, open, label } = await openSource(file, 'json')
  const encoded = contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }
  try {
    const headers = { 'content-type': mediaType, ...encoded }
    const tried = await tryBody(
      open(() => {}),
      headers,
      { preset: name },
    )
    const lines = Buffer.concat(tried.ndjson).toString('utf8').split('\n').slice(0, -1)
    printObjects(
      context.form,
      tried.columns,
      lines.map((line) => parseJson(Buffer.from(line))),
    )
    note(`${label}: ${tried.rows} ${tried.rows === 1 ? 'row' : 'rows'}; nothing was stored`)
    return exitCodes.done
  } catch (error) {
    throw error instanceof NodeError ? refusal(error) : error
  }
}

/** What a node would have answered. */
function refusal({ kind, message, details }: NodeError): CommandFailure {
  const { hint, candidates, errors, errorsTotal } = details
  const body = JSON.stringify({ message, error: { kind }, hint, candidates, errors, errorsTotal })
  return problemFailure({ status: 422, headers: {}, bytes: Buffer.from(body) })
}

function presetNamed(name: string): Preset {
  const known = presetNames.find((one) => one === name)
  if (known !== undefined) return presets[known]
  throw new CommandFailure(exitCodes.notFound, `There is no preset '${name}'.`, {
    hint: `There are ${presetNames.join(', ')}.`,
  })
}
