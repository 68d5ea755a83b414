// `fsck`: checks all that a data directory stores, without a node; `--sweep` then removes what failed creations left.

import {
  checkStore,
  type DatasetReport,
  type FsckProgress,
  type JsonValue,
  sweepStore,
  systemClock,
} from '../../index.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { numberOf, objectOf } from '../json-values.ts'
import { createStatusLine, printObject, printObjects } from '../output.ts'

const columns = ['dataset', 'blocks', 'slices', 'rows', 'bytes', 'orphans', 'ok']

/** Checks the store of `dir`. Throws CommandFailure (verification failed) when anything in it is wrong. */
export async function fsck(
  context: CommandContext,
  dir: string | undefined,
  { sweep = false }: { readonly sweep?: boolean },
): Promise<number> {
  const status = createStatusLine()
  const dataDir = dir ?? context.environment.dataDir
  const report = await checkStore(dataDir, {
    onProgress: (progress) => status.show(progressText(progress)),
  }).finally(() => status.clear())
  const datasets = report.datasets.map(datasetRow)
  const problems = [
    ...report.datasets.flatMap((dataset) =>
      dataset.problems.map(({ kind, message }) => ({ dataset: nameOf(dataset), kind, message })),
    ),
    ...report.problems.map(({ kind, message }) => ({ dataset: undefined, kind, message })),
  ]
  if (context.form === 'json') {
    const listed = problems.map((problem): JsonValue => objectOf(problem))
    printObject('json', objectOf({ ok: report.ok, datasets, problems: listed, orphans: numberOf(report.orphans) }))
  } else printObjects(context.form, columns, datasets)
  for (const dataset of report.datasets) for (const text of dataset.notes) note(`note: ${nameOf(dataset)}: ${text}`)
  if (sweep && report.ok) {
    const swept = await sweepStore(dataDir, report, systemClock.nowMs())
    for (const { id, blocks } of swept) note(`swept: ${id}, ${blocks} blocks without rows`)
    note(`${swept.length} ${swept.length === 1 ? 'chain' : 'chains'} that no name leads to removed`)
  }
  if (report.ok) return exitCodes.done
  if (sweep) note('nothing was swept: under a damaged name a real dataset would look like one that no name leads to')
  throw new CommandFailure(
    exitCodes.verificationFailed,
    `The store has ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}.`,
    {
      facts: problems.map(
        ({ dataset, kind, message }) => `${kind}  ${dataset === undefined ? '' : `${dataset}: `}${message}`,
      ),
    },
  )
}

function nameOf(dataset: DatasetReport): string {
  return dataset.alias ?? dataset.id
}

function datasetRow(dataset: DatasetReport): JsonValue {
  const { blocks, slices, rows, bytes, orphans } = dataset
  return objectOf({
    dataset: nameOf(dataset),
    id: dataset.id,
    head: dataset.head,
    blocks: numberOf(blocks),
    slices: numberOf(slices),
    rows: numberOf(rows),
    bytes: numberOf(bytes),
    orphans: numberOf(orphans),
    ok: dataset.ok,
  })
}

function progressText(progress: FsckProgress): string {
  const { dataset, datasets, blocksDone, blocks } = progress
  return `checking ${progress.alias ?? progress.id} (${dataset + 1} of ${datasets})  ${blocksDone}/${blocks} blocks`
}
