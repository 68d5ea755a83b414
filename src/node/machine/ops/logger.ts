// Structured log lines for operators, through pino to stderr (stdout belongs to data). What others have sent stands in them:
// on a terminal nothing of it is obeyed.

import { destination, pino, stdTimeFunctions } from 'pino'
import { cleanText } from '../../../libraries/base/clean-text.ts'
import type { Logger } from '../../../libraries/base/logger.ts'

/** Logger that writes JSON lines to stderr. `level`: debug, info, warn, error, silent. */
export function createLogger(level: string): Logger {
  const toTerminal = { write: (line: string) => process.stderr.write(cleanText(line, '\n')) }
  const to = process.stderr.isTTY ? toTerminal : destination({ dest: 2, sync: false })
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, to)
}
