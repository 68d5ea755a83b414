// Notes on disk of large blocks that are being built: a build that takes the process with it (no memory left) leaves its
// note behind. After two such deaths the block halts its dataset, so that the others go on; a later start tries it again.

import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HaltError } from '../model/errors.ts'
import type { DataPlan } from './dataset-state.ts'

/** Blocks of more logged bytes than this are noted: no smaller one takes the memory of a process. */
export const notedBytes = 32 * 1024 * 1024
const deathsMost = 2
const MiB = 1024 * 1024

/** What is known of blocks whose building may end the process. */
export interface BuildNotes {
  /** Notes that the block is being built now; durable when it resolves. Resolves with how often that was so before. */
  begin(name: string, text: string): Promise<number>
  /** It has been built, or not: the process is alive. */
  end(name: string): Promise<void>
}

/** Notes in `dir`, which is made when there is one; a file for each block. */
export function openBuildNotes(dir: string): BuildNotes {
  return {
    async begin(name, text) {
      const path = join(dir, name)
      const before = Number((await readFile(path, 'utf8').catch(() => '0')).split(' ')[0])
      const deaths = Number.isSafeInteger(before) ? before : 0
      await mkdir(dir, { recursive: true, mode: 0o700 })
      const file = await open(path, 'w', 0o600)
      try {
        await file.writeFile(`${deaths + 1} ${text}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await syncDirectory(dirname(path))
      return deaths
    },
    end: (name) => rm(join(dir, name), { force: true }),
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/**
 * Runs `build` of a block, noted while it runs if it is large. Throws HaltError `PoisonBlock` when the process has died of
 * it twice, and what notes and `build` throw.
 */
export async function noted<T>(notes: BuildNotes | undefined, plan: DataPlan, build: () => Promise<T>): Promise<T> {
  if (notes === undefined || plan.payloadBytes <= notedBytes) return build()
  const { dataset, sequence, firstChange, next, payloadBytes } = plan
  const name = `${dataset.replaceAll(':', '-')}-${sequence}-${firstChange}`
  const deaths = await notes.begin(name, `${dataset} block ${sequence}, messages ${firstChange} to ${next - 1}`)
  try {
    if (deaths >= deathsMost) {
      throw new HaltError(
        'PoisonBlock',
        `the process ended twice while block ${sequence} was built from ${Math.ceil(payloadBytes / MiB)} MiB; ` +
          'start it again with more memory, or reject its message',
      )
    }
    return await build()
  } finally {
    await notes.end(name)
  }
}
