// Jars from Maven Central that tests and benchmarks run beside us, with all that they need at run time: fetched once, kept
// in the cache of node_modules.

import { execFileSync, type ExecFileSyncOptions, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const leastJava = 17
const staleLockMs = 120_000

/** What of Java is missing on this machine, or undefined. */
export function missingJava(): string | undefined {
  const java = spawnSync('java', ['-version'], { encoding: 'utf8' })
  const major = Number(/version "(\d+)/.exec(`${java.stderr}${java.stdout}`)?.[1])
  return java.error !== undefined || !(major >= leastJava) ? `Java ${leastJava} or newer` : undefined
}

export function missingMaven(): string | undefined {
  return spawnSync('mvn', ['-v'], { encoding: 'utf8' }).error === undefined ? undefined : 'Maven'
}

/** Directory with the jars that `pom` asks for; `name` is that of their folder in the cache. */
export async function mavenJars(pom: string, name: string): Promise<string> {
  const cache = fileURLToPath(new URL(`../../node_modules/.cache/proofstream-${name}/`, import.meta.url))
  const digest = createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 8)
  const home = join(cache, digest)
  const jars = join(home, 'jars')
  const complete = join(home, '.complete')
  if (existsSync(complete)) return jars
  mkdirSync(home, { recursive: true })
  const lock = join(home, 'lock')
  while (!takeLock(lock)) {
    await sleep(500)
    if (existsSync(complete)) return jars
  }
  try {
    const fresh = join(home, 'jars.tmp')
    rmSync(fresh, { recursive: true, force: true })
    copyJars(pom, fresh)
    rmSync(jars, { recursive: true, force: true })
    renameSync(fresh, jars)
    writeFileSync(complete, '')
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
  return jars
}

function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    const held = statSync(lock, { throwIfNoEntry: false })
    if (held !== undefined && Date.now() - held.mtimeMs > staleLockMs) rmSync(lock, { recursive: true, force: true })
    return false
  }
}

/** Offline first, so that a machine that has them asks nobody. */
function copyJars(pom: string, directory: string): void {
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${directory}`]
  const flags = ['-B', '-ntp', '-q', '-f', pom]
  const options: ExecFileSyncOptions = { stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 }
  try {
    execFileSync('mvn', ['-o', ...flags, ...goal], options)
  } catch {
    rmSync(directory, { recursive: true, force: true })
    execFileSync('mvn', [...flags, ...goal], options)
  }
}
