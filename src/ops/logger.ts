// Structured log lines for operators, through pino to stderr (stdout belongs to data).

import { destination, pino, stdTimeFunctions } from 'pino'
import type { Logger } from '../lib/logger.ts'

/** Logger that writes JSON lines to stderr. `level`: debug, info, warn, error, silent. */
export function createLogger(level: string): Logger {
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, destination({ dest: 2, sync: false }))
}
