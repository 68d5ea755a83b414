// Access: principals, scopes, patterns, visibility. Pure rules (docs/decisions/http.md#access), asked by every
// dataset route before it answers anything about a dataset.

import type { Visibility } from '../../libraries/odf/chain/records.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'

export const scopes = ['read', 'ingest', 'create', 'admin'] as const
export type Scope = (typeof scopes)[number]

/** What may be done with a dataset. `admin` implies all of them and is itself no right over a dataset. */
export type Right = Exclude<Scope, 'admin'>

/** The caller. `anonymousRead` is the node's setting: public datasets are readable without any token. */
export interface Principal {
  /** Id of the token; absent for an anonymous caller. */
  readonly tokenId?: string
  readonly scopes: ReadonlySet<Scope>
  /** Patterns that bind the scopes; absent: every dataset. */
  readonly datasets?: readonly string[]
  readonly anonymousRead: boolean
}

/** What the rules need to know of an existing dataset. */
export interface DatasetFacts {
  /** `account/dataset`, any ASCII case. */
  readonly alias: string
  readonly visibility: Visibility
}

export function anonymousPrincipal(anonymousRead: boolean): Principal {
  return { scopes: new Set(), anonymousRead }
}

/** True when a pattern of the principal covers the name (always without patterns). */
export function covers(principal: Principal, alias: string): boolean {
  return principal.datasets === undefined || principal.datasets.some((pattern) => matchesPattern(pattern, alias))
}

/** True when `principal` may do `right` to the dataset. */
export function can(principal: Principal, right: Right, dataset: DatasetFacts): boolean {
  if (right === 'read' && dataset.visibility === 'public' && principal.anonymousRead) return true
  return holds(principal, right) && covers(principal, dataset.alias)
}

/** True when the dataset exists for the principal: it may do anything at all to it. */
export function canSee(principal: Principal, dataset: DatasetFacts): boolean {
  return can(principal, 'read', dataset) || can(principal, 'ingest', dataset) || can(principal, 'create', dataset)
}

/**
 * Before a name is looked up: throws NodeError `Unauthenticated` when only a token could help, whatever is under the
 * name. Called with the right that the route needs.
 */
export function demandToken(principal: Principal, right: Right): void {
  if (principal.tokenId !== undefined || (right === 'read' && principal.anonymousRead)) return
  throw new NodeError('Unauthenticated', right === 'read' ? 'Reading here needs a token.' : 'This needs a token.', {
    hint: 'Send the header Authorization: Bearer <token>. The first token is in the file token of the data directory.',
  })
}

/**
 * After the name is looked up (undefined: nothing there): throws NodeError `Unauthenticated`, `DatasetNotFound` (the
 * same for a missing dataset and one that does not exist for the principal), `Forbidden`.
 */
export function demand<T extends DatasetFacts>(
  principal: Principal,
  right: Right,
  alias: string,
  dataset: T | undefined,
): asserts dataset is T {
  demandToken(principal, right)
  if (dataset === undefined || !canSee(principal, dataset)) throw datasetNotFound(alias)
  if (!can(principal, right, dataset)) throw forbidden(right, alias)
}

/** Throws NodeError `Unauthenticated`, `Forbidden` unless a dataset may be made under this name. */
export function demandCreate(principal: Principal, alias: string): void {
  demandToken(principal, 'create')
  if (!holds(principal, 'create') || !covers(principal, alias)) throw forbidden('create', alias)
}

/**
 * Throws NodeError `Unauthenticated`, `Forbidden` unless the principal manages tokens: that takes `admin` that no pattern
 * binds, for tokens could otherwise outgrow the one that makes them.
 */
export function demandAdmin(principal: Principal): void {
  demandToken(principal, 'create')
  if (principal.scopes.has('admin') && principal.datasets === undefined) return
  throw new NodeError('Forbidden', 'This needs a token with the scope admin that is not bound to datasets.')
}

/** True when the principal decides how an existing dataset is kept. */
export function keeps(principal: Principal, { alias }: Pick<DatasetFacts, 'alias'>): boolean {
  return principal.scopes.has('admin') && covers(principal, alias)
}

/** Throws NodeError `Forbidden` unless the principal keeps the dataset. */
export function demandKeeper(principal: Principal, { alias }: Pick<DatasetFacts, 'alias'>): void {
  if (keeps(principal, { alias })) return
  throw new NodeError('Forbidden', `This token may not decide how ${alias} is kept.`, {
    hint: `Use a token with the scope admin that covers ${alias}.`,
  })
}

/** The error for a dataset that is not there, or not for this caller. */
export function datasetNotFound(alias: string): NodeError {
  return new NodeError('DatasetNotFound', `There is no dataset ${alias}.`, {
    hint: `Create it: PUT /${alias}, or send records with create=true.`,
  })
}

function forbidden(right: Right, alias: string): NodeError {
  return new NodeError('Forbidden', `This token may not ${verbs[right]} ${alias}.`, {
    hint: `Use a token with the scope ${right} that covers ${alias}.`,
  })
}

const verbs: Readonly<Record<Right, string>> = { read: 'read', ingest: 'send records to', create: 'create or extend' }

function holds(principal: Principal, scope: Scope): boolean {
  return principal.scopes.has(scope) || principal.scopes.has('admin')
}

/** True for `account/dataset` with `*` for any run of characters of one part, at most 201 characters. */
export function isPattern(text: string): boolean {
  return text.length <= 201 && /^[A-Za-z0-9.*-]+\/[A-Za-z0-9.*-]+$/.test(text)
}

/** True when the alias fits the pattern, ASCII case aside; `*` stops at the slash. */
export function matchesPattern(pattern: string, alias: string): boolean {
  const patterns = foldAscii(pattern).split('/')
  const parts = foldAscii(alias).split('/')
  return patterns.length === parts.length && patterns.every((part, index) => matchesPart(part, parts[index] ?? ''))
}

/** True when the pieces between the stars stand in the text in their order; the first match of each is as good as any. */
function matchesPart(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const piece of rest) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return text.length - at >= last.length && text.endsWith(last)
}
