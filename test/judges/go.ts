// The judges that others wrote in Go, built from go.mod of this folder and of those below it. Without Go they are skipped, and said so.

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
  build('.', folder, ['.', `${tessera}/fsck`, `${tessera}/examples/posix-oneshot`, litewitness])
  const path = (name: string): string => join(folder, name)
  return { judge: path('judges'), fsck: path('fsck'), litewitness: path('litewitness'), oneshot: path('posix-oneshot') }
}

/** The witness of transparency-dev, and what makes its keys. */
export function buildOmniwitness(folder: string): { readonly omniwitness: string; readonly generateKeys: string } {
  const commands = 'github.com/transparency-dev/witness/cmd'
  build('omniwitness', folder, [`${commands}/omniwitness`, `${commands}/generate_keys`])
  return { omniwitness: join(folder, 'omniwitness'), generateKeys: join(folder, 'generate_keys') }
}

/** The time-stamp authority of Sigstore, `timestamp-server`. */
export function buildAuthority(folder: string): void {
  build('authority', folder, ['github.com/sigstore/timestamp-authority/v2/cmd/timestamp-server'])
}

/** By the go.mod of a folder here, so that no program's modules change another's. */
function build(module: string, folder: string, packages: readonly string[]): void {
  const cwd = join(import.meta.dirname, module)
  const built = spawnSync('go', ['build', '-o', `${folder}/`, ...packages], { cwd, env, encoding: 'utf8' })
  if (built.status !== 0) throw new Error(`The judges cannot be built: ${built.stderr}`)
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
