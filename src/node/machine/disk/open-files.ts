// How many files and connections this process may have open at a time, beside what a node comes to need: each of its
// connections is one, and so is each file of the log and the store that is being read or written.

import { readFile } from 'node:fs/promises'
import type { Limits } from '../../../libraries/base/limits.ts'
import { hasCode } from './files.ts'

/** Files, sockets between processes, connections of readers. */
const otherFiles = 1024

/**
 * What to warn of where this process may open fewer than its limits let in, with the command that raises that; undefined where
 * they are enough, and where this system does not say. Node.js has raised the limit as far as it may when it began.
 */
export async function openFilesWarning(limits: Limits): Promise<string | undefined> {
  const limit = await openFilesLimit()
  const needed = limits.listeners + limits.streamsPerCaller + limits.openIngestRequests + otherFiles
  if (limit === undefined || limit >= needed) return undefined
  const [may, need] = [limit, needed].map((count) => count.toLocaleString('en'))
  return `${may} files and connections may be open. With its limits the node may come to need ${need}; those beyond are refused. Raise the limit before the start: ulimit -n ${needed} (LimitNOFILE=${needed} for systemd, --ulimit nofile=${needed} for Docker).`
}

async function openFilesLimit(): Promise<number | undefined> {
  const text = await readFile('/proc/self/limits', 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
  const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(text ?? '') ?? []
  return soft === undefined ? undefined : soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}
