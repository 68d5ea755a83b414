// `fsck`: checks all that a store holds, without a node; `--sweep` then removes what failed creations left. With `--pack` it
// packs the long chains instead; `--sweep` then removes the loose copies of what is packed.

import {
  checkStore,
  type DatasetReport,
  type FsckProgress,
  type JsonValue,
  sweepStore,
  systemClock,
} from '../../index.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { objectOf } from '../../libraries/base/json/members.ts'
import { createStatusLine, printObject, printObjects } from '../output.ts'

const columns = ['dataset', 'blocks', 'slices', 'packs', 'rows', 'bytes', 'orphans', 'ok']

export interface FsckCommand {
  readonly sweep?: boolean
  readonly pack?: boolean
  /** With `pack`: this one alone. */
  readonly dataset?: string
}

/**
 * Checks the store in a directory or at a URL, or packs it. Throws CommandFailure (verification failed) when anything in it is
 * wrong, or a chain that should be packed is.
 */
export async function fsck(
  context: CommandContext,
  [place]: Args,
  { sweep = false, pack = false, dataset }: FsckCommand,
): Promise<number> {
  const dataDir = place ?? context.environment.dataDir
  if (pack) return await packStore(context, dataDir, { alias: dataset, sweep })
  if (dataset !== undefined) throw new CommandFailure(exitCodes.usage, '--dataset is for --pack alone.')
  const status = createStatusLine()
  const report = await checkStore(dataDir, { onProgress: (progress) => status.show(progressText(progress)) }).finally(
    () => status.clear(),
  )
  const datasets = report.datasets.map(datasetRow)
  const problems = [
    ...report.datasets.flatMap((dataset) =>
      dataset.problems.map(({ kind, message }) => ({ dataset: nameOf(dataset), kind, message })),
    ),
    ...report.problems.map(({ kind, message }) => ({ dataset: undefined, kind, message })),
  ]
  if (context.form === 'json') {
    const listed = problems.map((problem): JsonValue => objectOf(problem))
    printObject('json', objectOf({ ok: report.ok, datasets, problems: listed, orphans: report.orphans }))
  } else printObjects(context.form, columns, datasets)
  for (const dataset of report.datasets) for (const text of dataset.notes) note(`note: ${nameOf(dataset)}: ${text}`)
  if (sweep && report.ok) {
    const swept = await sweepStore(dataDir, report, systemClock.nowMs())
    for (const { id, blocks } of swept) note(`swept: ${id}, ${blocks} blocks without rows`)
    note(`${swept.length} ${swept.length === 1 ? 'chain' : 'chains'} that no name leads to removed`)
  }
  if (report.ok) return exitCodes.done
  if (sweep) note('nothing was swept: under a damaged name a real dataset would look like one that no name leads to')
  const count = `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`
  throw new CommandFailure(exitCodes.verificationFailed, `The store has ${count}.`, {
    facts: problems.map(
      ({ dataset, kind, message }) => `${kind}  ${dataset === undefined ? '' : `${dataset}: `}${message}`,
    ),
  })
}

async function packStore(
  context: CommandContext,
  place: string,
  asked: { readonly alias: string | undefined; readonly sweep: boolean },
): Promise<number> {
  const [{ optionsOfStore }, { packDatasets }] = await Promise.all([
    import('../../app/open-storage.ts'),
    import('../../app/upkeep/repair.ts'),
  ])
  const config = context.entry.loadConfig({ 'log-level': 'warn', ...(await optionsOfStore(place)) })
  const packed = await packDatasets(config, asked)
  printObjects(
    context.form,
    ['dataset', 'packs', 'swept'],
    packed.map(({ dataset: name, packs, swept }) => objectOf({ dataset: name, packs, swept })),
  )
  const damaged = packed.filter(({ fault }) => fault !== undefined)
  if (damaged.length === 0) return exitCodes.done
  throw new CommandFailure(exitCodes.verificationFailed, `${damaged.length} of ${packed.length} are damaged.`, {
    facts: damaged.map(({ dataset: name, fault = '' }) => `${name}: ${fault}`),
    hint: 'proofstream fsck lists all faults. The packs already made are intact.',
  })
}

function nameOf(dataset: DatasetReport): string {
  return dataset.alias ?? dataset.id
}

function datasetRow(dataset: DatasetReport): JsonValue {
  const { id, head, blocks, slices, packs, rows, bytes, orphans, ok } = dataset
  return objectOf({ dataset: nameOf(dataset), id, head, blocks, slices, packs, rows, bytes, orphans, ok })
}

function progressText(progress: FsckProgress): string {
  const { dataset, datasets, blocksDone, blocks } = progress
  return `checking ${progress.alias ?? progress.id} (${dataset + 1} of ${datasets})  ${blocksDone}/${blocks} blocks`
}
