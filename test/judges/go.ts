// The judges that others wrote in Go, built once a run from go.mod of this folder. Without Go they are skipped, and said so.

import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'

// Where its installer puts it, which is not always on PATH.
const env = { ...process.env, PATH: [process.env['PATH'], '/usr/local/go/bin'].join(delimiter) }

const found = spawnSync('go', ['version'], { env, encoding: 'utf8' })

/** Whether the judges can be built: Go 1.21 and newer fetch the release that go.mod names. */
export const hasGo = canBuild()

function canBuild(): boolean {
  const [, minor = '0'] = /go1\.(\d+)/.exec(found.stdout ?? '') ?? []
  if (Number(minor) >= 21) return true
  const message = 'What Go programs would judge of the ledger is not judged: they need Go 1.21 or newer.'
  if (process.env['CI'] === 'true') throw new Error(message)
  console.warn(message)
  return false
}

export interface Judges {
  /** Answers questions of main.go, one line each. */
  readonly judge: string
  /** Tessera's check of a directory of tiles. */
  readonly fsck: string
  /** A witness over HTTP. */
  readonly litewitness: string
  /** Tessera's ledger in a directory, to which one run adds entries. */
  readonly oneshot: string
}

/** Builds them into a folder. Takes minutes where Go has not built them before. */
export function buildJudges(folder: string): Judges {
  const tessera = 'github.com/transparency-dev/tessera/cmd'
  const litewitness = 'filippo.io/torchwood/cmd/litewitness'
  const built = spawnSync(
    'go',
    ['build', '-o', `${folder}/`, '.', `${tessera}/fsck`, `${tessera}/examples/posix-oneshot`, litewitness],
    {
      cwd: import.meta.dirname,
      env,
      encoding: 'utf8',
    },
  )
  if (built.status !== 0) throw new Error(`The judges cannot be built: ${built.stderr}`)
  const path = (name: string): string => join(folder, name)
  return { judge: path('judges'), fsck: path('fsck'), litewitness: path('litewitness'), oneshot: path('posix-oneshot') }
}

/** Runs a judge to its end, or to `seconds`. */
export function run(
  program: string,
  args: readonly string[],
  { input, seconds = 600 }: { readonly input?: string; readonly seconds?: number } = {},
): SpawnSyncReturns<string> {
  return spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    timeout: 1000 * seconds,
    ...(input !== undefined && { input }),
  })
}
