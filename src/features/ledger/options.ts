// What the options say of the ledger: its name, its key, how late it may be.

import { invalidOption, type OptionGroup, type OptionRow, type OptionValues } from '../../node/options.ts'

const leastDelayMs = 1_000
/** Narrower than what names of keys may be: no white space, no plus. */
const originForm = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$/

const rows: readonly OptionRow[] = [
  {
    name: 'ledger-origin',
    type: 'text',
    text: 'name of the ledger, such as data.example.org/ledger. It begins one; the store remembers it',
  },
  {
    name: 'ledger-key',
    type: 'text',
    text: 'file of the key that signs the ledger, the same for all builders (default: <data>/keys/ledger.json)',
  },
  {
    name: 'ledger-delay',
    type: 'duration-ms',
    default: 60_000,
    text: 'time in which a committed block is an entry of the ledger, at least 1s',
  },
]

export interface LedgerOptions {
  /** Undefined: as the store has it, if it has a ledger. */
  readonly origin: string | undefined
  /** Undefined: that of the data directory. */
  readonly keyFile: string | undefined
  readonly delayMs: number
}

export const ledgerOptions: OptionGroup<LedgerOptions> = {
  name: 'ledger',
  rows,
  needs: 'a name for the ledger: --ledger-origin data.example.org/ledger',
  read: readLedger,
}

/** Throws NodeError `InvalidParameter`. */
function readLedger(values: OptionValues): LedgerOptions | undefined {
  const keyFile = values.get('ledger-key') as string | undefined // text by its row
  const origin = values.get('ledger-origin') as string | undefined // text by its row
  const delayMs = values.get('ledger-delay') as number // milliseconds by its row
  if (origin !== undefined && !originForm.test(origin)) {
    throw invalidOption(`Option 'ledger-origin' is '${origin}'; expected a name such as data.example.org/ledger.`)
  }
  if (delayMs < leastDelayMs)
    throw invalidOption(`Option 'ledger-delay' is shorter than 1s. A number alone is milliseconds.`)
  return { origin, delayMs, keyFile }
}
