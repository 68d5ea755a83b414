// Signed receipts as `verify` judges them: was the promise kept? The ledger says, read by anybody: the entry is there under a head
// that enough have signed, or a broken promise is shown in a form that others can check.

import type { JsonObject } from '../../index.ts'
import { equalBytes } from '../../libraries/base/bytes.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { parseEntry, promisedBytes } from '../../libraries/ledger/entry.ts'
import {
  answersPromise,
  brokenPromiseJson,
  type LedgerPromise,
  type Looked,
  lookedIn,
  openReceipt,
  parseBrokenPromise,
  type SignedReceipt,
} from '../../libraries/ledger/judge-receipt.ts'
import { judgePromised } from '../../libraries/ledger/judge-file.ts'
import { parseStatement } from '../../libraries/ledger/statement.ts'
import { CommandFailure, exitCodes } from '../failure.ts'
import { type Judged, type Judging, openedHead, told } from '../judged.ts'
import { type KnownPolicy, tilesFor } from '../ledger-policy.ts'
import type { LedgerTiles } from '../ledger-tiles.ts'
import { createStatusLine } from '../output.ts'

/** Entries are looked for in so many bundles at the end before all are read: what is promised is young, mostly. */
const bundlesAtEnd = 8
/** More statements are not asked for. */
const mostStatements = 100

type OpenHead = Looked['opened']

/** What was read of a ledger for a promise. */
interface Reading {
  readonly looked: Looked
  /** Hashes of the statements among the entries; undefined where not all entries were read. */
  readonly statements: readonly Uint8Array[] | undefined
}

/** A receipt that is signed, and whose ledger the policy knows. */
export async function judgeReceipt(document: JsonObject, judging: Known): Promise<Judged> {
  const receipt = promisingReceipt(document)
  const { promise } = receipt
  const tiles = await tilesFor(judging.context, judging.known, promise.ledger)
  let head: Uint8Array
  try {
    head = await tiles.head()
  } catch (error) {
    // Before it is due nothing is wrong with a ledger that has not begun, or cannot be reached.
    const judged = judgedPromise(receipt, undefined, judging)
    if (judged.code === exitCodes.done) return judged
    throw error
  }
  const reading = await read(tiles, openedFor(promise, head, judging.known), promise)
  return await withEvidence({ receipt, document, head, reading, tiles }, judging)
}

/** A file that says that a promise was broken, and does not contradict itself: the ledger is read anew. */
export async function judgeBroken(document: JsonObject, judging: Known): Promise<Judged> {
  const { receipt: signed, head } = parseBrokenPromise(document)
  const receipt = promisingReceipt(signed)
  const { promise } = receipt
  const tiles = await tilesFor(judging.context, judging.known, promise.ledger)
  const reading = await readAll(tiles, openedFor(promise, head, judging.known), promise)
  return await withEvidence({ receipt, document: signed, head, reading, tiles }, judging)
}

function promisingReceipt(document: JsonObject): Promising {
  const { promise, ...receipt } = openReceipt(document)
  if (promise === undefined) throw new DecodeError('receipt', 'promises nothing')
  return { ...receipt, promise }
}

type Promising = SignedReceipt & { readonly promise: LedgerPromise }

interface Source {
  readonly receipt: Promising
  readonly document: JsonObject
  readonly head: Uint8Array
  readonly reading: Reading
  readonly tiles: LedgerTiles
}

/** The verdict; that a promise was broken only where the signer is the node of the ledger, and with what shows it. */
async function withEvidence({ receipt, document, head, reading, tiles }: Source, judging: Known): Promise<Judged> {
  const { looked, statements = [] } = reading
  const judged = judgedPromise(receipt, looked, judging)
  if (judged.code !== exitCodes.promiseBroken) return judged
  const isKnown = judging.options.signer !== undefined || (await isNodeOf(receipt, tiles, statements))
  if (!isKnown) return unknownSigner(receipt)
  const { opened, found } = looked
  const shown = found && { ...found, hashes: await tiles.inclusion(found.index, opened.head.size) }
  const evidence = brokenPromiseJson({ receipt: document, head, ...(shown && { found: shown }) })
  return { ...judged, facts: { ...judged.facts, evidence } }
}

type Known = Judging & { readonly known: KnownPolicy }

function judgedPromise(receipt: Promising, looked: Looked | undefined, { known, nowMs }: Known): Judged {
  return told({ kind: 'receipt', ...judgePromised(receipt, looked, { policy: known.policy, nowMs }) }, known.name)
}

/** Anybody can sign a promise in the name of a ledger. */
function unknownSigner({ signer }: SignedReceipt): Judged {
  const reason = `The promise is not kept, but no statement of the ledger names its signer: if ${signer} is the node, say so with --signer.`
  return { verdict: 'impossible', code: exitCodes.verificationImpossible, reason }
}

function openedFor({ ledger }: LedgerPromise, head: Uint8Array, known: KnownPolicy): OpenHead {
  const opened = openedHead(head, known)
  if (opened.head.origin === ledger) return opened
  throw new DecodeError('ledger head', `is of ${opened.head.origin}, not of ${ledger}`)
}

/** Looks at the end of the ledger first; that the promised entry is not there takes all of it. */
async function read(tiles: LedgerTiles, opened: OpenHead, promise: LedgerPromise): Promise<Reading> {
  const { size } = opened.head
  const last = Math.ceil(size / 256) - 1
  for (let at = last; at >= 0 && at > last - bundlesAtEnd; at--) {
    const entries = await tiles.bundle(size, at)
    const place = entries.findIndex((entry) => equalBytes(entry.subarray(0, promisedBytes), promise.entry))
    const entry = entries[place]
    if (entry === undefined) continue
    const index = at * 256 + place
    const hashes = await tiles.inclusion(index, size)
    const looked = lookedIn({ receipt: new Map(), head: new Uint8Array(), found: { entry, index, hashes } }, opened)
    if (looked !== undefined) return { looked, statements: undefined }
  }
  return await readAll(tiles, opened, promise)
}

async function readAll(tiles: LedgerTiles, opened: OpenHead, promise: LedgerPromise): Promise<Reading> {
  let found: Looked['found']
  const statements: Uint8Array[] = []
  const status = createStatusLine()
  const { size } = opened.head
  try {
    await tiles.scan({
      head: opened.head,
      each: (entry, index) => {
        if (answersPromise(promise, entry)) {
          const isKept = equalBytes(entry.subarray(0, promisedBytes), promise.entry)
          // Where both are there, the promise was kept, whatever else is wrong.
          if (found === undefined || isKept) found = { entry, index }
        } else if (entry[0] === 2 && statements.length < mostStatements) {
          const parsed = parseEntry(entry)
          if (parsed.kind === 'statement') statements.push(parsed.hash)
        }
      },
      onSize: (done) => status.show(`ledger: ${done} of ${size} entries`),
    })
  } finally {
    status.clear()
  }
  return { looked: { opened, ...(found !== undefined && { found }) }, statements }
}

/** A statement that is an entry of the ledger names the signer of the receipt as its node. */
async function isNodeOf(
  { signer, promise }: SignedReceipt,
  tiles: LedgerTiles,
  statements: readonly Uint8Array[],
): Promise<boolean> {
  for (const hash of statements) {
    try {
      const { node, ledger } = parseStatement(await tiles.statement(hash))
      if (node === signer && ledger.origin === promise?.ledger) return true
    } catch (error) {
      // One that cannot be had names nobody.
      if (!(error instanceof DecodeError) && !(error instanceof CommandFailure)) throw error
    }
  }
  return false
}
