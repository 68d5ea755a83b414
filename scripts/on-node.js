// Runs a program of this checkout on a Node.js that can: this one, or, where it is too old, one that npm fetches and keeps
// outside of the checkout. Plain JavaScript that parses on Node.js 18.
// Usage: node scripts/on-node.js [options of Node.js] FILE [arguments]

import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const newer = 'node@24.21.0'
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const canRun = major > 22 || (major === 22 && minor >= 18)
const args = process.argv.slice(2)

if (canRun && process.platform !== 'win32') process.execve(process.execPath, [process.execPath, ...args])
if (!canRun)
  process.stderr.write(
    `note: Proofstream needs Node.js 22.18 or newer; this is ${process.versions.node}: npm runs it on ${newer}.\n`,
  )
const child = canRun
  ? spawn(process.execPath, args, { stdio: 'inherit' })
  : spawn('npm', ['exec', '--yes', `--package=${newer}`, '--', 'node', ...args], { stdio: 'inherit' })
// A terminal sends SIGINT to both processes.
process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + constants.signals[signal ?? 'SIGTERM']
})
