// `export`: all rows of a dataset, or those of a condition, in offset order, to a file or stdout; and how `query` and `tail`
// put theirs into files.

import { defined } from '../../libraries/base/collections.ts'
import { datasetPath, openClient } from '../client.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes } from '../failure.ts'
import { type FileForm, fileFormNames, fileFormOf } from '../file-forms.ts'
import { save, type Target } from '../save.ts'

export interface ExportOptions {
  /** Name of a form, or `iceberg`; default: that of the file's name. */
  readonly format?: string
  /** Hash of a block; of a table its sequence, too. */
  readonly at?: string
  /** Of a table: URI of the directory where engines will find it; default: where it is. */
  readonly base?: string
  /** Comma list. */
  readonly columns?: string
  /** A condition in SQL. */
  readonly where?: string
  /** west,south,east,north */
  readonly bbox?: string
  /** from/to */
  readonly datetime?: string
  /** Whether system columns go out; default: as the format has it. */
  readonly system?: boolean
  /** Column that holds the geometry. */
  readonly geometry?: string
}

/** Saves the rows of a dataset, as one file or as a table. */
export async function exportDataset(
  context: CommandContext,
  [dataset = '']: Args,
  options: ExportOptions,
): Promise<number> {
  if (options.format === 'iceberg') return await exportTable(context, dataset, options)
  if (options.base !== undefined) throw new CommandFailure(exitCodes.usage, '--base is for --format iceberg alone.')
  const path = `${datasetPath(dataset)}/export`
  const target = targetOf(context, options.format)
  const { at, columns, where, bbox, datetime, system, geometry } = options
  const query = {
    format: target.form.dataFormat,
    at,
    columns,
    where,
    bbox,
    datetime,
    system: system === undefined ? undefined : String(system),
    geometry,
  }
  const client = await openClient(context)
  await save(client, { path, query, ...defined({ sql: where }) }, target)
  return exitCodes.done
}

async function exportTable(context: CommandContext, dataset: string, options: ExportOptions): Promise<number> {
  const other = Object.keys(options).find((name) => !/^(?:format|at|base)$/.test(name))
  if (other !== undefined) {
    throw new CommandFailure(exitCodes.usage, `--format iceberg takes all rows and columns: no --${other}.`)
  }
  if (context.path === undefined) {
    throw new CommandFailure(exitCodes.usage, 'An Iceberg table is a directory.', {
      hint: 'Name it, such as -o ./lake.',
    })
  }
  const { exportIceberg } = await import('./export-iceberg.ts')
  return await exportIceberg(context, { dataset, dir: context.path, at: options.at, base: options.base })
}

/**
 * Where rows go, and in which form: `format`, else as the file is named, else as stdout shows data. Throws CommandFailure
 * (usage) for a table, which is not for many rows, and for bytes on a terminal.
 */
export function targetOf({ path, file, form }: CommandContext, format?: string): Target {
  if (path !== undefined && file === undefined) throw usage(`'${path}' is neither a form nor a file of rows.`)
  const named = format === undefined ? file?.form : formNamed(format)
  const fileForm = named ?? fileFormOf(form)
  if (fileForm === undefined) {
    throw usage('All rows are too many for a table.')
  }
  if (file === undefined && fileForm.isBinary && process.stdout.isTTY) {
    throw usage(`${fileForm.dataFormat} is nothing to show on a terminal.`)
  }
  return { form: fileForm, path: file?.path }
}

function formNamed(name: string): FileForm {
  const form = fileFormOf(name)
  if (form !== undefined) return form
  throw new CommandFailure(exitCodes.usage, `'${name}' is not a form of rows: ${fileFormNames.join(', ')}.`)
}

function usage(message: string): CommandFailure {
  return new CommandFailure(exitCodes.usage, message, {
    hint: 'Name a file, such as -o rows.parquet or -o rows.csv, or ask for -o ndjson.',
  })
}
