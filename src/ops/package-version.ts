// The version of the package, read from its manifest.

import { readFileSync } from 'node:fs'

let held: string | undefined

/** `0.1.0`. */
export function packageVersion(): string {
  held ??= String(
    (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version,
  ) // our manifest
  return held
}
