// The version of the package, read from its manifest. Apart from the logger, so that the command line and the public
// interface do not load pino.

import { readFileSync } from 'node:fs'

let held: string | undefined

/** `0.1.0`. */
export function packageVersion(): string {
  const manifest = new URL('../../package.json', import.meta.url)
  held ??= (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version // our manifest
  return held
}
