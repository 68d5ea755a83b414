// The order of system calls in a trace, and what must hold of it: a file is fsynced before it is linked or renamed to
// its name, the directory of a new name before anything is said, the log's last write before anything is said.

import { dirname } from 'node:path'

export interface TracedCall {
  readonly name: string
  /** Of a call on an open file: its path. Of link and rename: the new path. */
  readonly path: string
  /** Of link and rename. */
  readonly from?: string
  /** Place among the calls of that name of its thread, from 1: what strace counts. */
  readonly nth: number
  /** On a file of the node. */
  readonly ours: boolean
  /** A write that is durable when it returns. */
  readonly isDurable: boolean
  /** A line of the process for whoever started it. */
  readonly isSaid: boolean
}

/** The calls in the order in which they ended. */
export function parseTrace(lines: readonly string[]): TracedCall[] {
  const calls: TracedCall[] = []
  const counts = new Map<string, number>()
  const begun = new Map<string, TracedCall>()
  const durable = new DurableDescriptors()
  for (const line of lines) {
    durable.look(line)
    const [, thread = '', resumed, plain] = /^(\d+)\s+(?:<\.\.\. (\w+) resumed|(\w+)\()/.exec(line) ?? []
    if (resumed !== undefined) {
      const call = begun.get(thread)
      if (call !== undefined && !line.includes('= -1')) calls.push(call)
      begun.delete(thread)
      continue
    }
    if (plain === undefined) continue
    const name = plain === 'linkat' ? 'link' : (/^(?:rename|unlink|mkdir)/.exec(plain)?.[0] ?? plain)
    const nth = (counts.get(`${thread} ${name}`) ?? 0) + 1
    counts.set(`${thread} ${name}`, nth)
    const call = { ...callOf(name, line, nth), isDurable: durable.has(line), isSaid: line.includes('write(1<') }
    if (line.includes('<unfinished ...>')) begun.set(thread, call)
    else if (!line.includes('= -1')) calls.push(call)
  }
  return calls
}

/** Descriptors that were opened with O_DSYNC, as `<number>` and `<path>`. */
class DurableDescriptors {
  readonly #opening = new Set<string>()
  readonly #open = new Set<string>()

  look(line: string): void {
    if (!line.includes('openat')) return
    const [, thread = ''] = /^(\d+)/.exec(line) ?? []
    const isDurable = line.includes('O_DSYNC') || (line.includes('resumed') && this.#opening.has(thread))
    if (line.includes('<unfinished ...>')) {
      if (isDurable) this.#opening.add(thread)
      return
    }
    this.#opening.delete(thread)
    const [, number, path] = / = (\d+)<([^>]*)>$/.exec(line) ?? []
    if (number === undefined) return
    if (isDurable) this.#open.add(`${number} ${path}`)
    else this.#open.delete(`${number} ${path}`)
  }

  has(line: string): boolean {
    const [, number, path] = /\((\d+)<([^>]*)>/.exec(line) ?? []
    return number !== undefined && this.#open.has(`${number} ${path}`)
  }
}

function callOf(name: string, line: string, nth: number): Omit<TracedCall, 'isDurable' | 'isSaid'> {
  const quoted = [...line.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text)
  const path = /link|rename|openat|mkdir/.test(name) ? quoted.at(-1) : /\(\d+<([^>]*)>/.exec(line)?.[1]
  const [from] = quoted
  const ours = path?.includes('proofstream-syscalls-') === true
  return { name, path: path ?? '', nth, ours, ...(name === 'link' || name === 'rename' ? { from: from ?? '' } : {}) }
}

/** What breaks the order of a trace. */
export function orderFaults(calls: readonly TracedCall[]): string[] {
  const faults: string[] = []
  /** Files written since their last fsync; directories with new names since theirs. */
  const unsynced = new Set<string>()
  for (const { name, path, from, ours, isDurable, isSaid } of calls) {
    if (isSaid) {
      // Only a commit that is told must have its directory synced: what is being built meanwhile need not.
      for (const file of unsynced)
        if (file.endsWith('.segment')) faults.push(`said something while ${file} is not durable`)
    } else if (!ours) continue
    else if (name === 'write' || name === 'pwrite64') {
      if (!isDurable) unsynced.add(path)
    } else if (name === 'fsync' || name === 'fdatasync') unsynced.delete(path)
    else if (name === 'link' || name === 'rename') {
      if (unsynced.has(from ?? '')) faults.push(`${from} is named ${path} before it is durable`)
      unsynced.add(dirname(path))
      const commit = /(.*)\/commits\/\d+$/.exec(path)?.[1]
      if (commit === undefined) continue
      // The commit names blocks, slice and checkpoint: all of their directories are durable by now.
      for (const folder of ['blocks', 'data', 'checkpoints']) {
        if (unsynced.has(`${commit}/${folder}`)) faults.push(`${path} comes before the names in ${folder} are durable`)
      }
    }
  }
  return faults
}
