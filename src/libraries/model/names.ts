// Names of accounts and datasets: grammar, reserved words, folding; and of the roles of a process. Pure.
// Source: Open Data Fabric specification, DatasetName: labels of letters, digits and inner hyphens, joined by dots.

import { NodeError } from '../base/errors.ts'

const namePattern = /^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*(?:\.[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*)*$/
const maxNameChars = 100

const reservedAccounts: ReadonlySet<string> = new Set(
  (
    'accounts api assets console datasets errors events graphql healthz iceberg info ledger limits login main memory metrics ' +
    'odata ogc openapi platform presets q query readyz receipts sign swagger system temp tokens ui-config verify ' +
    'well-known write'
  ).split(' '),
)

/** An alias as written, and folded to lower-case ASCII for comparison. */
export interface Alias {
  readonly account: string
  readonly dataset: string
  /** `account/dataset` as written. */
  readonly text: string
  /** `account/dataset` in lower case: the identity of a name. */
  readonly folded: string
}

/** Lower-cases ASCII letters only, as names are compared. */
export function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** True for an account name that is a route of the node, or may become one. */
export function isReservedAccount(account: string): boolean {
  return reservedAccounts.has(foldAscii(account))
}

/** True when `name` follows the grammar of account and dataset names. */
export function isName(name: string): boolean {
  return name.length <= maxNameChars && namePattern.test(name)
}

/** What is wrong with a name, where one thing is. */
function nameHint(name: string): string {
  const rule = 'Use ASCII letters, digits and single inner hyphens, in labels joined by dots, at most 100 characters.'
  if (name.length > maxNameChars) return `It has ${name.length} characters. ${rule}`
  const spelled = name.replaceAll(/[_ ]+/g, '-')
  const fault = name.includes('_') ? "'_' is not allowed in names" : 'Spaces are not allowed in names'
  return spelled !== name && isName(spelled) ? `${fault}: write '${spelled}'. ${rule}` : rule
}

/** The alias of two path segments. Throws NodeError `InvalidName`, `ReservedName`. */
export function parseAlias(account: string, dataset: string): Alias {
  for (const name of [account, dataset]) {
    if (!isName(name)) {
      throw new NodeError('InvalidName', `'${name.slice(0, 100)}' is not a valid name.`, { hint: nameHint(name) })
    }
  }
  if (isReservedAccount(account)) {
    throw new NodeError('ReservedName', `The account name '${account}' is reserved.`, {
      hint: 'Choose another account name.',
    })
  }
  const text = `${account}/${dataset}`
  return { account, dataset, text, folded: foldAscii(text) }
}

/** The alias written as `account/dataset`. Throws NodeError `InvalidName`, `ReservedName`. */
export function parseAliasText(text: string): Alias {
  const slash = text.indexOf('/')
  if (slash < 0) {
    throw new NodeError('InvalidName', `'${text.slice(0, 100)}' is not a dataset name.`, {
      hint: 'Write account/dataset.',
    })
  }
  return parseAlias(text.slice(0, slash), text.slice(slash + 1))
}

/** The roles of a node: the gateway writes the log, the builder turns it into chains, the replica reads chains. */
export const nodeRoles = ['gateway', 'builder', 'replica'] as const
/** The roles of a process: some of a node, or that of a witness alone, which cosigns ledgers of others. */
export const roles = [...nodeRoles, 'witness'] as const

export type Role = (typeof roles)[number]
