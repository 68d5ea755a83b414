// A witness for tests: what the library decides, kept in memory; and the same over HTTP, with ways to be a bad one.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toHex, utf8 } from '../../../src/libraries/base/bytes.ts'
import { sha256 } from '../../../src/libraries/base/ids/native-crypto.ts'
import { noteOf } from '../../../src/libraries/ledger/note.ts'
import { emptyRoot, type TreeHead } from '../../../src/libraries/ledger/tree.ts'
import { parseVerifierKey, type Signer, type VerifierKey } from '../../../src/libraries/ledger/verifier-key.ts'
import { decideAddCheckpoint, parseAddCheckpoint, type WitnessDecision } from '../../../src/libraries/ledger/witness.ts'
import { keyText, signer, witnessName } from '../../libraries/ledger/keys.ts'

/** Answers in place of the witness; false where it shall answer after all. */
export type Manner = (
  request: IncomingMessage,
  response: ServerResponse,
  body: Uint8Array,
) => boolean | Promise<boolean>

/** Witness `number` has the name and the key of `test/libraries/ledger/keys.ts`. */
export class WitnessInMemory {
  readonly #number: number
  readonly #signer: Signer
  /** Key of the ledger that it knows; undefined: none. */
  logKey: string | undefined
  last: TreeHead = { size: 0, root: emptyRoot }
  /** The note of the last head. */
  note = ''
  /** Seconds since 1970. */
  seconds = 1_790_000_000

  constructor(number: number) {
    this.#number = number
    this.#signer = signer(10 + number)
  }

  /** Its line of a policy. */
  lineAt(url: string): string {
    return `witness W${this.#number} ${keyText(witnessName(this.#number), 10 + this.#number)} ${url}`
  }

  get #keys(): VerifierKey[] {
    return this.logKey === undefined ? [] : [parseVerifierKey(this.logKey)]
  }

  /** The note of its last head, at the path where it shows it. */
  shownAt(path: string | undefined): string | undefined {
    const isHere = path === `/${toHex(sha256(utf8(this.#keys[0]?.name ?? '')))}/checkpoint`
    return isHere && this.note !== '' ? this.note : undefined
  }

  /** Decides, and keeps what it signs. */
  addCheckpoint(body: Uint8Array): WitnessDecision {
    const asked = parseAddCheckpoint(body)
    const { last, seconds } = this
    const state = { keys: this.#keys, last, name: witnessName(this.#number), signer: this.#signer, seconds }
    const decision = decideAddCheckpoint(asked, state)
    if (decision.status === 200) {
      this.last = decision.next
      this.note = noteOf(asked.note)
    }
    return decision
  }
}

export class SmallWitness extends WitnessInMemory {
  readonly #server: Server
  /** Requests to cosign. */
  asked = 0
  manner: Manner | undefined

  private constructor(number: number, server: Server) {
    super(number)
    this.#server = server
  }

  static async start(number: number, logKey?: string): Promise<SmallWitness> {
    const server = createServer()
    const witness = new SmallWitness(number, server)
    witness.logKey = logKey
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      witness.#answer(request, response).catch(() => response.destroy())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return witness
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}` // it listens on a port
  }

  /** Its line of a policy. */
  get line(): string {
    return this.lineAt(this.url)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer) // a stream of bytes
    const body = new Uint8Array(Buffer.concat(pieces))
    if (request.method === 'POST') this.asked++
    if ((await this.manner?.(request, response, body)) === true) return
    if (request.method === 'GET') {
      const shown = this.shownAt(request.url)
      response.writeHead(shown === undefined ? 404 : 200).end(shown)
      return
    }
    const decision = this.addCheckpoint(body)
    response.writeHead(decision.status).end('body' in decision ? decision.body : decision.reason)
  }
}
