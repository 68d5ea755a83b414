#!/usr/bin/env node
// The command. Runs the sources where they are, else the build, which is what a package has. Plain JavaScript that parses
// on Node.js 18: an older one hands over to one that npm fetches. What a process has to begin with is said here
// (docs/decisions/operations.md).

import { existsSync } from 'node:fs'
import module from 'node:module'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath, pathToFileURL } from 'node:url'

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url))

const { env, execArgv, execPath, argv, versions } = process
const [major = 0, minor = 0] = versions.node.split('.').map(Number)
const canRun = major > 22 || (major === 22 && minor >= 18)
const program = ['../src/main.ts', '../dist/main.js'].map(pathOf).find(existsSync)

/**
 * What V8 is told for a node: a few helper threads, where four stand in the way of what they help; and, while it knows the
 * flag and there is memory, to collect garbage by the sum of its memory and not at each 32 MiB of arrays.
 */
function nodeFlags(isRoomy) {
  const poolFlag = '--v8-pool-size'
  if ([...execArgv, env.NODE_OPTIONS ?? ''].some((text) => text.includes(poolFlag))) return []
  const isKnown = versions.v8.startsWith('13.6.') && isRoomy
  // Node.js 22 warns of the SQLite that it has.
  const quietFlags = major === 22 ? ['--disable-warning=ExperimentalWarning'] : []
  const poolSize = Math.min(4, Math.max(1, cpus().length >> 1))
  const arrayFlags = isKnown ? ['--external-memory-accounted-in-global-limit'] : []
  return [`${poolFlag}=${poolSize}`, ...arrayFlags, ...quietFlags]
}

if (program === undefined) {
  process.stderr.write('error: Neither dist/main.js nor src/main.ts is here: the installation is incomplete.\n')
  process.exitCode = 9
} else if (canRun) {
  // Compiled code is kept beside the program, by those alone who could write the program itself; threads and processes of
  // a node inherit it.
  env.NODE_COMPILE_CACHE ??= pathOf('../.cache')
  // In place of this process, so that signals and the one who waits for it find the node. Windows has no such call; a
  // channel to the one who started it would not be handed on.
  if (argv[2] === 'serve' && process.platform !== 'win32' && process.send === undefined) {
    // glibc then takes memory of 64 KiB and more from the system piece by piece, and gives it back so.
    env.MALLOC_MMAP_THRESHOLD_ ??= '65536'
    const isRoomy = Math.min(totalmem(), process.constrainedMemory?.() || Number.POSITIVE_INFINITY) >= 2 * 1024 ** 3
    // Each thread would keep free memory of its own, up to eight for each core.
    if (!isRoomy) env.MALLOC_ARENA_MAX ??= '2'
    process.execve(execPath, [execPath, ...execArgv, ...nodeFlags(isRoomy), program, ...argv.slice(2)])
  }
  module.enableCompileCache?.(env.NODE_COMPILE_CACHE)
  argv[1] = program
  await import(pathToFileURL(program).href)
} else {
  // Its arguments are those of a program, and what runs it.
  argv.splice(1, 1, pathOf('on-node.js'), argv[1])
  await import('./on-node.js')
}
