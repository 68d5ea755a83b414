// What the inside needs of a logger. The real one (pino to stderr) is made by node/machine/ops/logger.ts.

type Fields = Readonly<Record<string, unknown>>

/** Each call writes one line: an event sentence and its fields. */
export interface Logger {
  debug(fields: Fields, message: string): void
  info(fields: Fields, message: string): void
  warn(fields: Fields, message: string): void
  error(fields: Fields, message: string): void
}

/** Drops everything; for tests and libraries. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
