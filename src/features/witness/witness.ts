// A witness of ledgers: it cosigns a head when it goes on from the last head that it has cosigned of that ledger, and keeps what
// a ledger has signed beside its one tree. What was cosigned is durable before it is answered, and the first record of a
// number stands, so that any number of processes over one store sign one tree. Source: https://c2sp.org/tlog-witness

import { base64Text } from '../../libraries/base/base64.ts'
import { boundedPieces, BodyTooLong } from '../../libraries/base/bounded-body.ts'
import { concatBytes, toHex, utf8 } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import type { Logger } from '../../libraries/base/logger.ts'
import { cosignedAt } from '../../libraries/ledger/cosignature.ts'
import {
  isBy,
  noteOf,
  type NoteSignature,
  parseNote,
  parseSignatures,
  signatureLine,
} from '../../libraries/ledger/note.ts'
import { type Head, parseHead } from '../../libraries/ledger/head.ts'
import {
  signatureTypes,
  type Signer,
  type VerifierKey,
  verifierKey,
  verifierKeyText,
} from '../../libraries/ledger/verifier-key.ts'
import {
  type AddCheckpoint,
  decideAddCheckpoint,
  maxAddCheckpointBytes,
  parseAddCheckpoint,
  type WitnessDecision,
} from '../../libraries/ledger/witness.ts'
import { evidenceKey, evidencePrefix, witnessedKey, witnessedPrefix } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { listNumbers } from '../../node/store/records.ts'
import type { EntryFault } from '../../libraries/ledger/checked.ts'
import { type Evidence, evidenceCodec } from '../../libraries/ledger/evidence.ts'

/** Cosigned heads that stay of each ledger. */
const recordsKept = 8
/** Evidence that is kept of each ledger. */
const evidenceMost = 100
/** And so much of it that others than the ledger can fill with heads that it has signed: a larger head with a wrong proof. */
const unprovenMost = 50
/** A repeated request for the head that was cosigned last gets the same line for so long: repeats cost a witness nothing. */
const sameLineSeconds = 60
/** A request that others are faster than so often is told so. */
const triesMost = 20

/** An entry below a head that is not what it says. */
export interface Contradiction extends EntryFault {
  /** To be kept; undefined where it is. */
  readonly evidence: Pick<Evidence, 'signed' | 'entry'> | undefined
}

/** Judges what is below a head. */
export interface Vouching {
  /** Undefined where all of it is good; `signed` is the head with its signatures. Throws NodeErrors while that is not known. */
  vouch(head: Head, signed: string): Promise<Contradiction | undefined>
  /** Told when the evidence of a contradiction is kept. */
  settled(): Promise<void>
}

export interface WitnessDeps {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly logger: Logger
  readonly name: string
  readonly signer: Signer
  /** Keys of the ledgers whose heads are cosigned. */
  readonly logs: readonly VerifierKey[]
  /** Of a follower, by the name of the ledger: asked before a head is cosigned. */
  readonly vouching?: ReadonlyMap<string, Vouching>
}

/** An answer to `add-checkpoint`: cosignature or size. All else is thrown. */
export interface WitnessAnswer {
  readonly status: 200 | 409
  readonly mediaType: string
  readonly body: Uint8Array
}

/** What is known of the ledger of a request. */
interface Place {
  readonly originHash: string
  readonly last: Last | undefined
}

/** The head that was cosigned last. */
interface Last {
  readonly number: number
  readonly bytes: Uint8Array
  readonly head: Head
}

export class Witness {
  readonly #deps: WitnessDeps
  readonly #key: VerifierKey
  /** Its public key, as a policy has it. */
  readonly key: string
  /** Numbers of the last heads that are known to be durable, by the hash of the origin. */
  readonly #durable = new Map<string, number>()
  #cosigned = 0
  #evidence = 0

  constructor(deps: WitnessDeps) {
    this.#deps = deps
    this.#key = verifierKey(deps.name, signatureTypes.cosignature, deps.signer.publicKey)
    this.key = verifierKeyText(this.#key)
  }

  /** Heads that this process has cosigned, and those that it has kept as evidence. */
  get counts(): { readonly cosigned: number; readonly evidence: number } {
    return { cosigned: this.#cosigned, evidence: this.#evidence }
  }

  /**
   * Answers a request. Throws NodeErrors `MalformedBody`, `Forbidden`, `ObjectNotFound`, `InvalidRequest`, which have the status
   * codes of the specification, `Saturated` and `StorageFull`; what the store throws.
   */
  async answer(request: AddCheckpoint): Promise<WitnessAnswer> {
    const originHash = toHex(sha256(utf8(request.head.origin)))
    const isKnown = this.knows(request.head.origin)
    for (let tries = 0; tries < triesMost; tries++) {
      const last = isKnown ? await this.#last(originHash) : undefined
      const first = this.#decide(request, last)
      if (first.status !== 200) return await this.#refuse(request, first, { originHash, last })
      const line = last && (await this.#lineOf(originHash, last, request))
      if (line !== undefined) return cosignedBy(signatureLine(line))
      await this.#demandGood(request, { originHash, last })
      // That takes time, and the cosignature says when it was made.
      const decision = this.#deps.vouching === undefined ? first : this.#decide(request, last)
      if (decision.status !== 200) continue
      if (await this.#keep(originHash, (last?.number ?? 0) + 1, this.#cosignedNote(request, decision.body))) {
        this.#cosigned++
        return cosignedBy(decision.body)
      }
    }
    throw new NodeError('Saturated', 'Others ask this witness for the same ledger at once.', { hint: 'Ask again.' })
  }

  knows(origin: string): boolean {
    return this.#deps.logs.some(({ name }) => name === origin)
  }

  /** Throws NodeError `InvalidRequest` where an entry below the head is not what it says; evidence of it is kept first. */
  async #demandGood(request: AddCheckpoint, at: Place): Promise<void> {
    const vouching = this.#deps.vouching?.get(request.head.origin)
    const found = await vouching?.vouch(request.head, this.#signed(request))
    if (found === undefined) return
    if (found.evidence !== undefined) {
      await this.#keepEvidence(request, at, found)
      await vouching?.settled()
    }
    // Everybody may ask: what it is of is said to the log alone.
    throw new NodeError('InvalidRequest', `Entry ${found.index} of the ledger is not what it says.`)
  }

  /** The head that was cosigned last of the ledger with this hash of its origin, with its signatures; undefined before the first. */
  async head(originHash: string): Promise<Uint8Array | undefined> {
    const last = await this.#last(originHash)
    if (last !== undefined) await this.#makeDurable(originHash, last)
    return last?.bytes
  }

  /** It may be found before it is durable, and its readers rely on it. */
  async #makeDurable(originHash: string, { number }: Last): Promise<void> {
    if (this.#durable.get(originHash) === number) return
    await this.#deps.store.makeDurable(witnessedPrefix(originHash))
    this.#durable.set(originHash, number)
  }

  /** The line with which this very head was cosigned a moment ago, durable by now. */
  async #lineOf(originHash: string, last: Last, { note }: AddCheckpoint): Promise<NoteSignature | undefined> {
    const { text, signatures } = parseNote(last.bytes)
    if (text !== note.text) return undefined
    const nowSeconds = this.#deps.clock.nowMs() / 1000
    const found = signatures.find((line) => {
      const at = isBy(line, this.#key) ? cosignedAt(text, this.#key, line.signature) : undefined
      return at !== undefined && at <= nowSeconds && nowSeconds - at < sameLineSeconds
    })
    if (found !== undefined) await this.#makeDurable(originHash, last)
    return found
  }

  #decide(request: AddCheckpoint, last: Last | undefined): WitnessDecision {
    const { logs, clock, name, signer } = this.#deps
    const seconds = Math.floor(clock.nowMs() / 1000)
    return decideAddCheckpoint(request, { keys: logs, name, signer, seconds, ...(last && { last: last.head }) })
  }

  /** Throws NodeError `StoreUnavailable` where the last record is damaged: no earlier one counts in its place. */
  async #last(originHash: string): Promise<Last | undefined> {
    const { store } = this.#deps
    for (;;) {
      const number = (await listNumbers(store, witnessedPrefix(originHash))).at(-1)
      if (number === undefined) return undefined
      const key = witnessedKey(originHash, number)
      const bytes = await store.get(key)
      // Gone since it was listed: so many newer ones have come.
      if (bytes === undefined) continue
      try {
        return { number, bytes, head: parseHead(parseNote(bytes).text) }
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error
        this.#deps.logger.error({ key, reason: error.message }, 'A record of this witness is damaged; it signs no more')
        throw new NodeError('StoreUnavailable', `${key} is damaged.`, { cause: error })
      }
    }
  }

  /** The head with the lines of its ledger's keys and that of this witness; lines of others say nothing here. */
  #cosignedNote(request: AddCheckpoint, line: string): Uint8Array {
    const signatures = [...this.#ownLines(request), ...parseSignatures(line)]
    return utf8(noteOf({ text: request.note.text, signatures }))
  }

  /** The head with the lines of its ledger alone. */
  #signed(request: AddCheckpoint): string {
    return noteOf({ text: request.note.text, signatures: this.#ownLines(request) })
  }

  /** The line of each key of the ledger that has signed. */
  #ownLines({ note, head }: AddCheckpoint): NoteSignature[] {
    const keys = this.#deps.logs.filter(({ name }) => name === head.origin)
    return keys.flatMap((key) => note.signatures.find((line) => isBy(line, key)) ?? [])
  }

  /** True when the record is durable and the last one: only then may its cosignature be told. */
  async #keep(originHash: string, number: number, record: Uint8Array): Promise<boolean> {
    const { store } = this.#deps
    if ((await store.put(witnessedKey(originHash, number), record)) === 'exists') return false
    const numbers = await listNumbers(store, witnessedPrefix(originHash))
    // A process that slept may find its number free again, because what others have put there was removed since.
    if (numbers.at(-1) !== number) return false
    await store.delete(...numbers.slice(0, -recordsKept).map((old) => witnessedKey(originHash, old)))
    return true
  }

  async #refuse(
    request: AddCheckpoint,
    decision: Exclude<WitnessDecision, { status: 200 }>,
    at: Place,
  ): Promise<WitnessAnswer> {
    if ((decision.status === 409 || decision.status === 422) && decision.isEvidence)
      await this.#keepEvidence(request, at)
    switch (decision.status) {
      case 409:
        return { status: 409, mediaType: 'text/x.tlog.size', body: utf8(decision.body) }
      case 400:
        throw new NodeError('MalformedBody', decision.reason)
      case 403:
        throw new NodeError('Forbidden', decision.reason)
      case 404:
        throw new NodeError('ObjectNotFound', decision.reason)
      case 422:
        throw new NodeError('InvalidRequest', decision.reason)
    }
  }

  /** `found`: where an entry is at fault. */
  async #keepEvidence(request: AddCheckpoint, { originHash, last }: Place, found?: Contradiction): Promise<void> {
    const { store, logger } = this.#deps
    const { oldSize, proof, head } = request
    const shown = found?.evidence ?? { signed: this.#signed(request) }
    const key = evidenceKey(originHash, toHex(sha256(utf8(parseNote(utf8(shown.signed)).text))))
    const isFork = found === undefined && head.size === (last?.head.size ?? 0)
    const held = (await store.list(evidencePrefix(originHash))).length
    if (held >= (isFork || found !== undefined ? evidenceMost : unprovenMost)) return
    const value = {
      ...(last && { cosigned: noteOf(parseNote(last.bytes)) }),
      ...shown,
      oldSize,
      proof: proof.map(base64Text),
    }
    if ((await store.put(key, evidenceCodec.encode(value))) === 'exists') return
    this.#evidence++
    const { origin, size } = head
    if (found !== undefined) {
      const { index, about } = found
      const message = 'An entry of a ledger contradicts what it is of; it is kept as evidence'
      logger.error({ origin, index, about, key }, message)
      return
    }
    const message = isFork
      ? 'A ledger has signed two heads of one size; both are kept as evidence'
      : 'A ledger has signed a head that was not shown to go on from the last one; it is kept as evidence'
    logger.error({ origin, size, cosigned: last?.head.size ?? 0, key }, message)
  }
}

function cosignedBy(line: string): WitnessAnswer {
  return { status: 200, mediaType: 'text/plain; charset=utf-8', body: utf8(line) }
}

/** The request in a body. Throws NodeError `MalformedBody`. */
export function readRequest(body: Uint8Array): AddCheckpoint {
  try {
    return parseAddCheckpoint(body)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new NodeError('MalformedBody', `The request cannot be read: ${error.message}.`, {
      hint: 'Send add-checkpoint as C2SP tlog-witness has it.',
      cause: error,
    })
  }
}

/** The body of a request. Throws NodeError `BodyTooLarge`, and what reading throws. */
export async function readBody(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  try {
    for await (const piece of boundedPieces(pieces, maxAddCheckpointBytes)) all.push(piece)
  } catch (error) {
    throw error instanceof BodyTooLong ? tooLarge() : error
  }
  return concatBytes(all)
}

/** For a length that the header of a request announces. Throws NodeError `BodyTooLarge`. */
export function demandLength(length: string | undefined): void {
  if (Number(length ?? 0) > maxAddCheckpointBytes) throw tooLarge()
}

function tooLarge(): NodeError {
  return new NodeError('BodyTooLarge', `The body is larger than ${maxAddCheckpointBytes} bytes.`, {
    hint: 'A head needs no other signatures than those of its ledger.',
  })
}

/** Where the ledger with this hash of its origin has no head here. */
export function notCosigned(originHash: string): NodeError {
  return new NodeError('ObjectNotFound', `This witness has cosigned no head of ${originHash.slice(0, 100)}.`, {
    hint: 'The address has the SHA-256 of the origin, in hex.',
  })
}
