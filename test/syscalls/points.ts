// The points of the way from a batch to its block at which a process can die, as calls of a trace.

import type { TracedCall } from './order.ts'

const kinds = ['data', 'checkpoints', 'blocks', 'commits', 'names', 'logs', 'progress'] as const
const words: Readonly<Record<(typeof kinds)[number], string>> = {
  data: 'slice',
  checkpoints: 'checkpoint',
  blocks: 'block',
  commits: 'commit',
  names: 'name',
  logs: 'log record',
  progress: 'floor',
}

/** Where in the store a path is, in words. */
function wordOf(path: string): string | undefined {
  const kind = kinds.find((one) => new RegExp(`/(?:store|datasets/[^/]+)/${one}(?:/|$)`).test(path))
  return kind === undefined ? undefined : words[kind]
}

/** For each point its calls; the process dies when it makes one of them. */
export function crashPoints(calls: readonly TracedCall[]): Map<string, TracedCall[]> {
  const points = new Map<string, TracedCall[]>()
  // What a temporary file becomes is known when it is named.
  const becomes = new Map<string, string>()
  for (const call of calls.toReversed()) {
    const { name, path, from } = call
    if ((name === 'link' || name === 'rename') && from !== undefined) {
      becomes.set(from, path.endsWith('/refs/head') ? 'head' : (wordOf(path) ?? 'other file'))
    }
    const point = pointOf(call, becomes)
    if (point !== undefined) points.set(point, [call, ...(points.get(point) ?? [])])
  }
  return new Map([...points].reverse())
}

function pointOf({ name, path, from }: TracedCall, becomes: ReadonlyMap<string, string>): string | undefined {
  if (path.endsWith('.segment')) {
    if (name === 'pwrite64') return 'frame being written'
    if (name === 'fdatasync') return 'frame written, not durable'
    return name === 'unlink' ? 'segments being deleted' : undefined
  }
  const temporary = becomes.get(path)
  if (temporary !== undefined) {
    if (name === 'write' || name === 'pwrite64') return `${temporary} being written`
    return name === 'fsync' ? `${temporary} written, not durable` : undefined
  }
  if (name === 'link' || name === 'rename') return `${becomes.get(from ?? '') ?? ''} durable, not named`
  if (name !== 'fsync') return undefined
  const word = path.endsWith('/refs') ? 'head' : wordOf(path)
  return word === undefined ? undefined : `${word} named, name not durable`
}
