// A memory cgroup of Linux, of version 1 or 2: what runs in it gets no more memory, and the kernel ends a process of it where
// that does not do. As root, or with a sudo that asks nothing, as the machines of CI have it.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

const versions = [
  {
    root: '/sys/fs/cgroup/memory',
    mark: 'memory.limit_in_bytes',
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
    kills: 'memory.oom_control',
  },
  {
    root: '/sys/fs/cgroup',
    mark: 'cgroup.controllers',
    limit: 'memory.max',
    peak: 'memory.peak',
    kills: 'memory.events',
  },
]

export interface MemoryCgroup {
  /** What runs a program in the group, before the program and its arguments. */
  readonly command: readonly string[]
  /** Most bytes that it had at once, files that the kernel keeps in memory among them. */
  peakBytes(): number
  /** Processes that the kernel has ended. */
  kills(): number
  /** When none of its processes is left. */
  remove(): void
}

let groups = 0

/** A group that may have so many bytes; undefined, and said on stderr, where there can be none. Throws on CI then. */
export function memoryCgroup(bytes: number): MemoryCgroup | undefined {
  try {
    return makeGroup(bytes)
  } catch (error) {
    const text = `NOT TESTED: no memory cgroup can be made here: ${String(error)}`
    if (process.env['CI'] === 'true') throw new Error(text, { cause: error })
    process.stderr.write(`${text}\n`)
    return undefined
  }
}

function makeGroup(bytes: number): MemoryCgroup {
  const version = versions.find(({ root, mark }) => existsSync(`${root}/${mark}`))
  if (version === undefined) throw new Error('neither version 1 nor version 2 has a memory controller')
  const sudo = process.getuid?.() === 0 ? '' : 'sudo -n '
  const asRoot = (script: string): void => {
    execFileSync('sh', ['-c', `${sudo}sh -ec "$0"`, script], { stdio: ['ignore', 'ignore', 'pipe'] })
  }
  const dir = `${version.root}/proofstream-test-${process.pid}-${++groups}`
  if (version.mark === 'cgroup.controllers') asRoot(`echo +memory > ${dirname(dir)}/cgroup.subtree_control`)
  asRoot(`mkdir ${dir} && echo ${bytes} > ${dir}/${version.limit}`)
  // Where memory can go to disk, that is no limit.
  asRoot(`for one in memory.memsw.limit_in_bytes memory.swap.max; do
    if [ -e ${dir}/$one ]; then echo ${version.limit === 'memory.max' ? 0 : bytes} > ${dir}/$one; fi
  done`)
  const enter = `${sudo}sh -c "echo $$ > ${dir}/cgroup.procs" && exec "$@"`
  return {
    command: ['/bin/sh', '-c', enter, 'sh'],
    peakBytes: () => Number(readFileSync(`${dir}/${version.peak}`, 'utf8')),
    kills: () => Number(/^oom_kill (\d+)$/m.exec(readFileSync(`${dir}/${version.kills}`, 'utf8'))?.[1]),
    remove: () => asRoot(`rmdir ${dir}`),
  }
}
