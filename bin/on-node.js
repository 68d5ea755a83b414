// Runs a program on a Node.js that can: this one, or, where it is too old, one that npm fetches and keeps outside of this
// folder. Plain JavaScript that parses on Node.js 18.
// Usage: node bin/on-node.js [options of Node.js] FILE [arguments]

import { spawn, spawnSync } from 'node:child_process'
import { constants } from 'node:os'

const newer = 'node@24.21.0'
const { argv, execPath, platform, stderr, stdin, versions } = process
const [major = 0, minor = 0] = versions.node.split('.').map(Number)
const canRun = major > 22 || (major === 22 && minor >= 18)
const args = argv.slice(2)

/** The newer one, as npm finds or fetches it. It is run without npm in between, so that it gets the signals. */
function fetched() {
  const needs = `Proofstream needs Node.js 22.18 or newer; this is ${versions.node}`
  stderr.write(`note: ${needs}: npm runs it on ${newer}.\n`)
  const asked = ['exec', '--yes', '--prefer-offline', `--package=${newer}`, '--', 'node', '-p', 'process.execPath']
  const { status, stdout, error } = spawnSync('npm', asked, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' })
  if (status === 0) return stdout.trim()
  const why = error === undefined ? `npm ended with ${status}` : error.message
  stderr.write(`error: ${needs} (${execPath}), and npm fetches no other (${why}).\nhint: Install a newer Node.js.\n`)
  process.exit(9)
}

if (canRun && platform !== 'win32') process.execve(execPath, [execPath, ...args])
const child = spawn(canRun ? execPath : fetched(), args, { stdio: 'inherit' })
// A terminal sends SIGINT to both processes.
process.on('SIGINT', () => stdin.isTTY || child.kill('SIGINT'))
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + constants.signals[signal ?? 'SIGTERM']
})
