// Names of columns that say that they may hold the time of their record: where nobody named one, that is told.

import { foldAscii } from './names.ts'

const likely: ReadonlySet<string> = new Set('timestamp time date ts datetime created_at received_at tst'.split(' '))

export function maybeTimeName(name: string): boolean {
  return likely.has(foldAscii(name))
}
