// What a process has one of: its logger (structured lines through pino to stderr; stdout belongs to data), and the
// version of its package, read from the manifest.

import { readFileSync } from 'node:fs'
import { destination, pino, stdTimeFunctions } from 'pino'
import type { Logger } from '../lib/logger.ts'

/** Logger that writes JSON lines to stderr. `level`: debug, info, warn, error, silent. */
export function createLogger(level: string): Logger {
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, destination({ dest: 2, sync: false }))
}

let held: string | undefined

/** `0.1.0`. */
export function packageVersion(): string {
  held ??= String(
    (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version,
  ) // our manifest
  return held
}
