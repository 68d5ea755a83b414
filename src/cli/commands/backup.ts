// `backup` copies all that is committed to a directory, while nodes run; `restore` makes a data directory out of it, and
// checks it.

import type { CopyProgress, CopyReport } from '../../index.ts'
import type { CommandContext, StoredOptions } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { objectOf } from '../../libraries/base/json/members.ts'
import { createStatusLine, printObject } from '../output.ts'
import { fsck } from './fsck.ts'

export interface BackupCommand extends StoredOptions {
  readonly dir: string
}

/** Prints what was copied. Throws CommandFailure (verification failed) where a dataset is damaged. */
export async function backup(context: CommandContext, { dir, config }: BackupCommand): Promise<number> {
  const { backup: copy } = await import('../../app/upkeep/repair.ts')
  const report = await withProgress('backing up', (onProgress) => copy(config, dir, onProgress))
  tell(context, report)
  note(`${dir} holds the key of the node and the admin token: keep it from others`)
  note(`to check it: proofstream fsck ${dir}`)
  return exitCodes.done
}

export interface RestoreCommand extends BackupCommand {
  readonly sameLog?: boolean
}

/** Prints what was copied, then what a check of it finds. Throws CommandFailure (verification failed) where it is not whole. */
export async function restore(
  context: CommandContext,
  { dir, sameLog = false, config }: RestoreCommand,
): Promise<number> {
  const { restore: copy } = await import('../../app/upkeep/repair.ts')
  const report = await withProgress('restoring', (onProgress) =>
    copy({ ...config, logLevel: 'error' }, dir, { sameLog, onProgress }),
  )
  tell(context, report)
  for (const log of report.leftLogs) {
    note(`log ${log} is left: records that were accepted and in no block when the backup was made are not in it`)
  }
  return fsck({ ...context, form: 'table' }, [config.dataDir], {})
}

async function withProgress<T>(
  what: string,
  work: (onProgress: (now: CopyProgress) => void) => Promise<T>,
): Promise<T> {
  const status = createStatusLine()
  const onProgress = ({ alias, dataset, datasets, objects, bytes }: CopyProgress): void =>
    status.show(`${what} ${alias} (${dataset} of ${datasets})  ${objects} objects, ${(bytes / 1e6).toFixed(1)} MB`)
  return work(onProgress).finally(() => status.clear())
}

function tell(context: CommandContext, { datasets, objects, bytes, damaged }: CopyReport): void {
  printObject(context.form, objectOf({ datasets, objects, bytes }))
  if (damaged.length === 0) return
  throw new CommandFailure(exitCodes.verificationFailed, `${damaged.length} datasets could not be copied whole.`, {
    facts: damaged.map(({ alias, message }) => `${alias}: ${message}`),
    hint: 'proofstream fsck lists all faults. Earlier copies are unchanged.',
  })
}
