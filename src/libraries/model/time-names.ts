// Names of columns that may hold the time of their record: warnings name such a column where nothing else was taken.

import { foldAscii } from './names.ts'

const likely: ReadonlySet<string> = new Set('timestamp time date ts datetime created_at received_at tst'.split(' '))

export function maybeTimeName(name: string): boolean {
  return likely.has(foldAscii(name))
}
