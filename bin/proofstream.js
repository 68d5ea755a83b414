#!/usr/bin/env node
// The command. Runs the build where there is one, else the sources, on a Node.js that can: this one, or the one that
// is installed beside the packages. Plain JavaScript that parses on Node.js 18.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants, cpus, totalmem } from 'node:os'
import { fileURLToPath, pathToFileURL } from 'node:url'

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url))

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const canRun = major > 22 || (major === 22 && minor >= 18)
const program = ['../dist/main.js', '../src/main.ts'].map(pathOf).find(existsSync)
const otherNode = pathOf('../node_modules/.bin/node')
// What V8 is told for a node (docs/decisions/operations.md), which can be said only where a process begins: a few helper
// threads, where four stand in the way of what they help; and, while it knows the flag and there is memory, to collect
// garbage by the sum of its memory and not at each 32 MiB of arrays.
const poolFlag = '--v8-pool-size'
const isServing = process.argv[2] === 'serve'
const isPoolSet = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((text) => text.includes(poolFlag))
const memory = Math.min(totalmem(), process.constrainedMemory?.() || Number.POSITIVE_INFINITY)
const isKnown = process.versions.v8.startsWith('13.6.') && memory >= 2 * 1024 ** 3
const arrayFlags = isKnown ? ['--external-memory-accounted-in-global-limit'] : []
const poolSize = Math.min(4, Math.max(1, cpus().length >> 1))
const nodeFlags = isServing && !isPoolSet ? [`${poolFlag}=${poolSize}`, ...arrayFlags] : []

if (program === undefined) {
  process.stderr.write('error: Neither dist/main.js nor src/main.ts is here: the installation is incomplete.\n')
  process.exitCode = 9
} else if (canRun) {
  // In place of this process, so that signals and the one who waits for it find the node; Windows has no such call.
  if (nodeFlags.length > 0 && process.platform !== 'win32') {
    process.execve(process.execPath, [process.execPath, ...process.execArgv, ...nodeFlags, program, ...process.argv.slice(2)])
  }
  process.argv[1] = program
  await import(pathToFileURL(program).href)
} else if (!existsSync(otherNode)) {
  process.stderr.write(
    `error: Proofstream needs Node.js 22.18 or newer; this is ${process.versions.node} (${process.execPath}).\n` +
      'hint: Install a newer Node.js, or run npm ci in the checkout, which brings its own.\n',
  )
  process.exitCode = 9
} else {
  const child = spawn(otherNode, [program, ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends SIGINT to both processes; every other signal is sent to this one and meant for the child.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`error: ${otherNode} cannot be started: ${error.message}\n`)
    process.exitCode = 9
  })
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal ?? 'SIGTERM']
  })
}
