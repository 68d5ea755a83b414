// What the options say of the ledger: its name, its key, how late it may be.

import { base64Text } from '../../libraries/base/base64.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import { durationMs } from '../../libraries/base/clock.ts'
import { invalidOption, type OptionGroup, type OptionRow, type OptionValues } from '../../node/options.ts'

const leastDelayMs = 1_000
const leastIntervalMs = 1_000
const usualIntervalMs = 3_600_000
/** Narrower than what names of keys may be: no white space, no plus. */
export const originForm = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$/

const rows: readonly OptionRow[] = [
  {
    name: 'ledger-origin',
    type: 'text',
    text: 'name of the ledger, such as data.example.org/ledger, which the store remembers (default: the first of --public-url and --allowed-hosts, and /ledger)',
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
  {
    name: 'ledger-policy',
    type: 'text',
    text: 'file with the witnesses that are asked to cosign the ledger and how many of them count, and with the ledgers that this node is a witness of (C2SP tlog-policy)',
  },
  {
    name: 'ledger-wait',
    type: 'text',
    default: '30s',
    text: "how long a head waits for its witnesses before it is shown without them, or 'never' to show none without",
  },
  {
    name: 'tsa',
    type: 'text',
    isSecret: true,
    text: 'address of a time-stamp authority (RFC 3161) that says when heads of the ledger were there: https://tsa.example or https://user:password@tsa.example',
  },
  {
    name: 'tsa-interval',
    type: 'duration-ms',
    default: usualIntervalMs,
    text: 'time from one time stamp to the next, at least 1s',
  },
]

/** An authority, and how often it is asked. */
export interface TsaOptions {
  /** Without what it takes to be let in. */
  readonly url: string
  /** Header of that name; a secret. */
  readonly authorization: string | undefined
  readonly intervalMs: number
}

export interface LedgerOptions {
  /** Undefined: as the store has it, if it has a ledger. */
  readonly origin: string | undefined
  /** Undefined: that of the data directory. */
  readonly keyFile: string | undefined
  readonly delayMs: number
  readonly policyFile: string | undefined
  /** How long a head waits for its quorum; undefined: until it is met. */
  readonly waitMs: number | undefined
  readonly tsa: TsaOptions | undefined
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
  const policyFile = values.get('ledger-policy') as string | undefined // text by its row
  const waitMs = readWait(values.get('ledger-wait') as string) // text by its row
  return { origin, delayMs, keyFile, policyFile, waitMs, tsa: readTsa(values) }
}

function readTsa(values: OptionValues): TsaOptions | undefined {
  const address = values.get('tsa') as string | undefined // text by its row
  const intervalMs = values.get('tsa-interval') as number // milliseconds by its row
  if (intervalMs < leastIntervalMs) {
    throw invalidOption(`Option 'tsa-interval' is shorter than 1s. A number alone is milliseconds.`)
  }
  if (address === undefined) {
    if (intervalMs === usualIntervalMs) return undefined
    throw invalidOption("Option 'tsa-interval' needs an authority: --tsa https://tsa.example.")
  }
  const url = URL.canParse(address) ? new URL(address) : undefined
  // An address with a password in it is not repeated.
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hash !== '') {
    throw invalidOption("Option 'tsa' is not the address of an authority; expected https://tsa.example or http://….")
  }
  const [user, password] = [url.username, url.password].map(decoded)
  url.username = url.password = ''
  const authorization = user === '' && password === '' ? undefined : basicAuthorization(`${user}:${password}`)
  return { url: url.href, authorization, intervalMs }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw invalidOption("Option 'tsa' has a user or a password with a % that is no escape; write %25.")
  }
}

function basicAuthorization(login: string): string {
  return `Basic ${base64Text(utf8(login))}`
}

function readWait(text: string): number | undefined {
  if (text === 'never') return undefined
  const waitMs = durationMs(/^\d+$/.test(text) ? `${text}ms` : text)
  if (waitMs === undefined) {
    throw invalidOption(`Option 'ledger-wait' is '${text}'; expected a duration such as 30s or 2m, or never.`)
  }
  return waitMs
}
