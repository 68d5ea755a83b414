// How many files and connections this process may have open at a time, beside what a node comes to need: each of its
// connections is one, and so is each file of the log and the store that is being read or written.

import { readFile } from 'node:fs/promises'
import type { Limits } from '../lib/limits.ts'
import { hasCode } from './files.ts'

/** Files, sockets between processes, connections of readers. */
const otherFiles = 1024

/** How many may be open, and why that is too few; undefined where this system does not say. */
export interface OpenFiles {
  /** In one sentence. */
  readonly found: string
  /** The command that raises the limit, where it is lower than what the limits of the node let in. */
  readonly hint: string | undefined
}

/** Reads the limit of this process, which Node.js has raised as far as it may when it began. */
export async function openFiles(limits: Limits): Promise<OpenFiles | undefined> {
  const limit = await openFilesLimit()
  if (limit === undefined) return undefined
  const needed = limits.listeners + limits.streamsPerCaller + limits.openIngestRequests + otherFiles
  const found = `${limit.toLocaleString('en')} files and connections may be open.`
  if (limit >= needed) return { found, hint: undefined }
  return {
    found: `${found} With its limits the node may come to need ${needed.toLocaleString('en')}; those beyond are refused.`,
    hint: `Raise the limit before the start: ulimit -n ${needed} (LimitNOFILE=${needed} for systemd, --ulimit nofile=${needed} for Docker).`,
  }
}

async function openFilesLimit(): Promise<number | undefined> {
  const text = await readFile('/proc/self/limits', 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
  const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(text ?? '') ?? []
  return soft === undefined ? undefined : soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}
