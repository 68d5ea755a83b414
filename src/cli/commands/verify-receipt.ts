// The ledger of a promise as anybody may read it, for `verify`: which of its entries answer the promise, what its statements and those of
// ledgers that took its place say of keys, and what of this others need to see that a promise was broken.

import type { JsonObject, JsonValue } from '../../index.ts'
import { fromBase64 } from '../../libraries/base/base64.ts'
import { parseJson } from '../../libraries/base/json/json.ts'
import { entryBytes, type StatementEntry } from '../../libraries/ledger/entry.ts'
import {
  type Absent,
  answersPromise,
  type Beside,
  headFacts,
  keepsPromise,
  type Placed,
  type PromiseVerdict,
  type Stated,
} from '../../libraries/ledger/judge-receipt.ts'
import type { HeadFacts } from '../../libraries/ledger/open-head.ts'
import { proofJson } from '../../libraries/ledger/proof-document.ts'
import { type BrokenPromise, brokenPromiseJson, type LedgerPromise } from '../../libraries/ledger/signed-receipt.ts'
import { statementEntry } from '../../libraries/ledger/statement.ts'
import { CommandFailure, exitCodes, failureOf } from '../failure.ts'
import { type Judging, openedHead } from '../judged.ts'
import { type KnownPolicy, tilesFor } from '../ledger-policy.ts'
import type { LedgerTiles } from '../ledger-tiles.ts'
import { createStatusLine } from '../output.ts'

/** The newest statements of a ledger are asked for; the last one names all keys. */
const mostStatements = 1_000

type Known = Judging & { readonly known: KnownPolicy }

/** A ledger that is open at a head. */
interface Source {
  readonly tiles: LedgerTiles
  readonly note: Uint8Array
  readonly head: HeadFacts
}

/** What a ledger shows of a promise, and those that took its place. */
export interface Reading {
  readonly beside: Beside
  /** Ledgers of the policy that could not be read, and may have taken its place. */
  readonly unread: readonly string[]
  readonly own: Source
  readonly sources: readonly Source[]
  /** Bytes of the statements that were read. */
  readonly texts: ReadonlyMap<Stated, Uint8Array>
}

/** Reads all entries. Throws CommandFailure. */
export async function readLedgers(promise: LedgerPromise, judging: Known): Promise<Reading> {
  const own = await sourceOf(promise.ledger, judging)
  const { next, unread } = await successorsOf(promise.ledger, judging)
  const texts = new Map<Stated, Uint8Array>()
  const places: Placed[] = []
  await readAll(own, texts, (entry, index) => {
    if (answersPromise(promise, entry)) places.push({ head: own.head, index, entry })
  })
  for (const source of next) await readAll(source, texts)
  // Where both are there, the promise was kept, whatever else is wrong.
  const [place] = [...places.filter(({ entry }) => keepsPromise(promise, entry)), ...places]
  const absent = place === undefined ? [{ head: own.head }, ...(await endsOf(own, texts.keys()))] : []
  const beside = { statements: [...texts.keys()], places: place ? [place] : [], absent }
  return { beside, unread, own, sources: [own, ...next], texts }
}

async function sourceOf(origin: string, { context, known }: Known): Promise<Source> {
  const tiles = await tilesFor(context, known, origin)
  const note = await tiles.head()
  const head = headFacts(openedHead(note, known))
  if (head.ledger.origin === origin) return { tiles, note, head }
  throw new CommandFailure(
    exitCodes.verificationImpossible,
    `At ${tiles.address} is ${head.ledger.origin}, not ${origin}.`,
  )
}

/** The ledgers of the policy that say, one after another, that they took the place. What they say is judged later. */
async function successorsOf(
  origin: string,
  judging: Known,
): Promise<{ readonly next: Source[]; readonly unread: string[] }> {
  const others = judging.known.policy.logs.map(({ key }) => key.name).filter((name) => name !== origin)
  const unread: string[] = []
  const claims: { readonly of: string; readonly source: Source }[] = []
  for (const other of new Set(others)) {
    try {
      const source = await sourceOf(other, judging)
      const first = await source.tiles.auditor.first(source.head.ledger)
      const claim =
        first?.kind === 'statement' ? (await source.tiles.auditor.statement(first, 0)).statement.previous : undefined
      if (claim !== undefined) claims.push({ of: claim.origin, source })
    } catch (error) {
      if (failureOf(error).exitCode === exitCodes.verificationFailed) throw error
      unread.push(other)
    }
  }
  const next: Source[] = []
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
  { tiles, head }: Source,
  texts: Map<Stated, Uint8Array>,
  each: (entry: Uint8Array, index: number) => void = () => {},
): Promise<void> {
  const found: { readonly entry: StatementEntry; readonly index: number }[] = []
  const status = createStatusLine()
  try {
    await tiles.auditor.scan({
      head: head.ledger,
      each: (entry, index, bytes) => {
        if (entry.kind === 'statement') found.push({ entry, index })
        if (found.length > mostStatements) found.shift()
        each(bytes, index)
      },
      onSize: (done) => status.show(`ledger: ${done} of ${head.ledger.size} entries`),
    })
  } finally {
    status.clear()
  }
  for (const { entry, index } of found) {
    const { bytes, statement } = await tiles.auditor.statement(entry, index)
    const { origin } = statement.ledger
    if (origin !== head.ledger.origin) throw tiles.altered(`the statement that is entry ${index} is of ${origin}`)
    texts.set({ head, index, statement }, bytes)
  }
}

/** The trees with which a ledger ended, as those say that took its place, where its entries lead to them. */
async function endsOf({ tiles, head }: Source, all: Iterable<Stated>): Promise<Absent[]> {
  const ends = new Map<string, Absent>()
  for (const { statement } of all) {
    const { previous } = statement
    const root = previous && fromBase64(previous.root)
    if (previous?.origin !== head.ledger.origin || root === undefined) continue
    const end = { size: previous.size, root }
    const name = `${previous.size} ${previous.root}`
    if (!ends.has(name) && (await tiles.auditor.goesOn(end, head.ledger))) ends.set(name, { head, end })
  }
  return [...ends.values()]
}

/** The file by which others see that the promise of the receipt was broken. Throws CommandFailure. */
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
    const hashes = await source.tiles.auditor.inclusion(index, source.head.ledger.size)
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
