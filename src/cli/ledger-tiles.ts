// A ledger as anybody may read it: the head, the tiles and the statements under one address, none of them trusted. Each is read
// within bounds, without redirects and without a token.

import { boundedFetch } from '../libraries/base/bounded-fetch.ts'
import { Auditor, type LedgerSource } from '../libraries/ledger/audit.ts'
import { maxNoteBytes } from '../libraries/ledger/note.ts'
import { withRetries } from './client.ts'
import { CommandFailure, exitCodes } from './failure.ts'

const answerMs = 30_000
const retries = 2

/** All of it throws CommandFailure. */
export class LedgerTiles implements LedgerSource {
  /** Without a slash at its end. */
  readonly address: string
  readonly auditor = new Auditor(this)

  constructor(address: string) {
    this.address = address.replace(/\/+$/, '')
  }

  /** The signed head, a note. Throws `notJudged` where no head was ever shown. */
  async head(): Promise<Uint8Array> {
    const bytes = await this.read('checkpoint', maxNoteBytes)
    if (bytes !== undefined) return bytes
    throw new CommandFailure(exitCodes.notJudged, `The ledger at ${this.address} has shown no head.`)
  }

  /** Undefined for 404. */
  async read(name: string, mostBytes: number): Promise<Uint8Array | undefined> {
    return await withRetries(async () => await this.#readOnce(name, mostBytes), {
      retries,
      reconnect: false,
      onRetry: () => {},
    })
  }

  async #readOnce(name: string, mostBytes: number): Promise<Uint8Array | undefined> {
    const url = `${this.address}/${name}`
    const headers = { 'user-agent': 'proofstream-cli' }
    const { status, bytes } = await boundedFetch(url, { headers, mostMs: answerMs, mostBytes }).catch(
      (error: unknown) => {
        throw unread(url, error instanceof Error ? reasonOf(error) : String(error), error)
      },
    )
    if (status === 404) return undefined
    if (status >= 300 && status < 400) throw unread(url, 'unexpected redirect')
    if (status !== 200) throw refused(url, status)
    if (bytes === 'too long') throw this.altered(`${name} is longer than ${mostBytes} bytes`)
    if (bytes === 'broken off') throw unread(url, 'it broke off')
    return bytes
  }

  lacks(name: string): CommandFailure {
    return new CommandFailure(exitCodes.verificationImpossible, `The ledger at ${this.address} lacks ${name}.`)
  }

  newer(index: number): CommandFailure {
    const message = `Entry ${index} is of a kind that this version does not know: the ledger is newer.`
    return new CommandFailure(exitCodes.verificationImpossible, message)
  }

  /** What is served contradicts itself, or what was signed. */
  altered(reason: string): CommandFailure {
    return new CommandFailure(
      exitCodes.verificationFailed,
      `The ledger at ${this.address} is not to be trusted: ${reason}.`,
    )
  }
}

function unread(url: string, reason: string, cause?: unknown): CommandFailure {
  return new CommandFailure(exitCodes.unreachable, `${url} cannot be read: ${reason}.`, { cause })
}

function refused(url: string, status: number): CommandFailure {
  const retryable = status === 429 || status >= 500
  const code = retryable ? exitCodes.unreachable : exitCodes.verificationImpossible
  return new CommandFailure(code, `${url} was answered with ${status}.`, { retryable })
}

/** Fetch says what went wrong in the cause. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message
}
