// Names of columns that say that they hold the time of their record.

import { foldAscii } from './names.ts'

const times: ReadonlySet<string> = new Set(['timestamp', 'time', 'date', 'ts'])
const likely: ReadonlySet<string> = new Set(['datetime', 'created_at', 'received_at', 'tst'])

/** True for a name that hardly means anything else: where its column holds times it is taken as the event time. */
export function isTimeName(name: string): boolean {
  return times.has(foldAscii(name))
}

/** True for a name that may mean something else: it is told. */
export function maybeTimeName(name: string): boolean {
  return isTimeName(name) || likely.has(foldAscii(name))
}
