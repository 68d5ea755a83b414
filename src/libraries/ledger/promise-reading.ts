// The ledger of a promise as anybody may read it: which of its entries answer the promise, what its statements and those of ledgers
// that took its place say of keys, and what of this others need to see that a promise was broken. It reads by ports.

import { fromBase64 } from '../base/base64.ts'
import { parseJson } from '../base/json/json.ts'
import type { JsonObject, JsonValue } from '../base/json/value.ts'
import type { Auditor } from './audit.ts'
import { entryBytes, type StatementEntry } from './entry.ts'
import {
  type Absent,
  answersPromise,
  type Beside,
  keepsPromise,
  type Placed,
  type PromiseVerdict,
  type Stated,
} from './judge-receipt.ts'
import type { HeadFacts } from './open-head.ts'
import { proofJson } from './proof-document.ts'
import { type BrokenPromise, brokenPromiseJson, type LedgerPromise } from './signed-receipt.ts'
import { statementEntry } from './statement.ts'

/** The newest statements of a ledger are asked for; the last one names all keys. */
const mostStatements = 1_000

/** A ledger that is open at a head which is good by the policy of the reader. */
export interface OpenLedger {
  readonly auditor: Auditor
  readonly note: Uint8Array
  readonly head: HeadFacts
  /** To throw where what it has contradicts what was signed. */
  readonly altered: (reason: string) => Error
}

export interface LedgersOfPolicy {
  /** Throws where it cannot be read. */
  readonly open: (origin: string) => Promise<OpenLedger>
  /** Names of the ledgers that the policy knows. */
  readonly origins: readonly string[]
  /** Whether the fault of a ledger that may have taken the place is one of all; else that ledger is unread. */
  readonly isFatal: (error: unknown) => boolean
  /** Told how many entries are read, of how many. */
  readonly onSize: (done: number, of: number) => void
}

/** What a ledger shows of a promise, and those that took its place. */
export interface Reading {
  readonly beside: Beside
  /** Ledgers of the policy that could not be read, and may have taken its place. */
  readonly unread: readonly string[]
  readonly own: OpenLedger
  readonly sources: readonly OpenLedger[]
  /** Bytes of the statements that were read. */
  readonly texts: ReadonlyMap<Stated, Uint8Array>
}

/** Reads all entries. Throws what the ports throw. */
export async function readLedgers(promise: LedgerPromise, ledgers: LedgersOfPolicy): Promise<Reading> {
  const own = await ledgers.open(promise.ledger)
  const { next, unread } = await successorsOf(promise.ledger, ledgers)
  const { onSize } = ledgers
  const texts = new Map<Stated, Uint8Array>()
  const places: Placed[] = []
  const each = (entry: Uint8Array, index: number): void => {
    if (answersPromise(promise, entry)) places.push({ head: own.head, index, entry })
  }
  await readAll(own, texts, { each, onSize })
  for (const source of next) await readAll(source, texts, { each: () => {}, onSize })
  // Where both are there, the promise was kept, whatever else is wrong.
  const [place] = [...places.filter(({ entry }) => keepsPromise(promise, entry)), ...places]
  const absent = place === undefined ? [{ head: own.head }, ...(await endsOf(own, texts.keys()))] : []
  const beside = { statements: [...texts.keys()], places: place ? [place] : [], absent }
  return { beside, unread, own, sources: [own, ...next], texts }
}

/** The ledgers of the policy that say, one after another, that they took the place. What they say is judged later. */
async function successorsOf(
  origin: string,
  ledgers: LedgersOfPolicy,
): Promise<{ readonly next: OpenLedger[]; readonly unread: string[] }> {
  const unread: string[] = []
  const claims: { readonly of: string; readonly source: OpenLedger }[] = []
  for (const other of new Set(ledgers.origins.filter((name) => name !== origin))) {
    try {
      const source = await ledgers.open(other)
      const first = await source.auditor.first(source.head.ledger)
      const claim =
        first?.kind === 'statement' ? (await source.auditor.statement(first, 0)).statement.previous : undefined
      if (claim !== undefined) claims.push({ of: claim.origin, source })
    } catch (error) {
      if (ledgers.isFatal(error)) throw error
      unread.push(other)
    }
  }
  const next: OpenLedger[] = []
  for (const origins = [origin]; origins.length > 0;) {
    const at = origins.pop()
    const found = claims.filter(({ of, source }) => of === at && !next.includes(source))
    next.push(...found.map(({ source }) => source))
    origins.push(...found.map(({ source }) => source.head.ledger.origin))
  }
  return { next, unread }
}

/** Takes the statements of a ledger into `texts`. */
async function readAll(
  { auditor, head, altered }: OpenLedger,
  texts: Map<Stated, Uint8Array>,
  on: { readonly each: (entry: Uint8Array, index: number) => void; readonly onSize: LedgersOfPolicy['onSize'] },
): Promise<void> {
  const found: { readonly entry: StatementEntry; readonly index: number }[] = []
  await auditor.scan({
    head: head.ledger,
    each: (entry, index, bytes) => {
      if (entry.kind === 'statement') found.push({ entry, index })
      if (found.length > mostStatements) found.shift()
      on.each(bytes, index)
    },
    onSize: (done) => on.onSize(done, head.ledger.size),
  })
  for (const { entry, index } of found) {
    const { bytes, statement } = await auditor.statement(entry, index)
    const { origin } = statement.ledger
    if (origin !== head.ledger.origin) throw altered(`the statement that is entry ${index} is of ${origin}`)
    texts.set({ head, index, statement }, bytes)
  }
}

/** The trees with which a ledger ended, as those say that took its place, where its entries lead to them. */
async function endsOf({ auditor, head }: OpenLedger, all: Iterable<Stated>): Promise<Absent[]> {
  const ends = new Map<string, Absent>()
  for (const { statement } of all) {
    const { previous } = statement
    const root = previous && fromBase64(previous.root)
    if (previous?.origin !== head.ledger.origin || root === undefined) continue
    const end = { size: previous.size, root }
    const name = `${previous.size} ${previous.root}`
    if (!ends.has(name) && (await auditor.goesOn(end, head.ledger))) ends.set(name, { head, end })
  }
  return [...ends.values()]
}

/** The file by which others see that the promise of the receipt was broken. Throws what the ports throw. */
export async function evidenceOf(
  { by }: PromiseVerdict & { readonly verdict: 'promise broken' },
  receipt: JsonObject,
  { own, sources, texts }: Reading,
): Promise<JsonValue> {
  const proofs: JsonObject[] = []
  let found: BrokenPromise['found']
  for (const one of new Set(by)) {
    const { index, proof } = one
    if (proof?.document !== undefined && proof.document.kind !== 'newer') {
      proofs.push(proofJson(proof.document, proof.proof))
      continue
    }
    const source = sources.find(({ head }) => head === one.head) ?? own
    const hashes = await source.auditor.inclusion(index, source.head.ledger.size)
    if ('entry' in one) found = { entry: one.entry, index, hashes }
    const bytes = 'statement' in one ? texts.get(one) : undefined
    if (bytes === undefined) continue
    const statement = parseJson(bytes) as JsonObject // of a statement that was read
    const document = { kind: 'statement', entry: entryBytes(statementEntry(bytes)), statement } as const
    proofs.push(proofJson(document, { index, hashes, head: source.note }))
  }
  const isShown = found === undefined && by.some((one) => 'entry' in one)
  return brokenPromiseJson({ receipt, ...(!isShown && { head: own.note }), ...(found && { found }), proofs })
}
