// A server that asks for a password by SCRAM and answers nothing else: clients of PostgreSQL log in to it, over TLS or not.

import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { must } from '../../../src/libraries/base/assert.ts'
import {
  challengeOf,
  judgeClientFinal,
  readClientFirst,
  type ScramChallenged,
  type ScramMechanism,
  verifierOf,
} from '../../../src/libraries/pgwire/scram.ts'

export interface ScramServer {
  readonly port: number
  /** Of each login so far: `verified`, or why it failed. */
  readonly ends: readonly string[]
  /** Mechanisms that were chosen. */
  readonly chosen: readonly ScramMechanism[]
  close(): void
}

interface Login {
  readonly password: string
  /** PEM of a key and a certificate: the server takes TLS. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

const salt = Buffer.from('0123456789abcdef')
const iterations = 4096

function message(kind: string, code: number, body: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(kind.length + 8)
  head.write(kind)
  head.writeInt32BE(body.length + 8, kind.length)
  head.writeInt32BE(code, kind.length + 4)
  return Buffer.concat([head, body])
}

/** The bodies of messages: the first of a connection has no kind. */
async function* messagesOf(socket: Socket): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0)
  let kindBytes = 0
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= kindBytes + 4) {
      const end = kindBytes + rest.readInt32BE(kindBytes)
      if (rest.length < end) break
      const body = rest.subarray(kindBytes + 4, end)
      rest = rest.subarray(end)
      kindBytes = 1
      yield body
    }
  }
}

export async function startScramServer({ password, tls }: Login): Promise<ScramServer> {
  const keys = verifierOf(password, salt, iterations)
  const ends: string[] = []
  const chosen: ScramMechanism[] = []
  const binding = tls && createHash('sha256').update(new X509Certificate(tls.cert).raw).digest()

  async function logIn(socket: Socket): Promise<void> {
    let challenged: ScramChallenged | undefined
    let step = 0
    for await (const body of messagesOf(socket)) {
      if (step === 0) {
        const names = binding === undefined ? 'SCRAM-SHA-256\0\0' : 'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0'
        socket.write(message('R', 10, Buffer.from(names)))
      } else if (step === 1) {
        const end = body.indexOf(0)
        const mechanism: ScramMechanism = body.toString('latin1', 0, end).endsWith('PLUS')
          ? 'SCRAM-SHA-256-PLUS'
          : 'SCRAM-SHA-256'
        chosen.push(mechanism)
        const begun = readClientFirst(body.subarray(end + 5), { mechanism, binding })
        if (begun.state === 'failed') return void ends.push(begun.reason)
        challenged = challengeOf(begun, { nonce: 'server-nonce', salt, iterations })
        socket.write(message('R', 11, challenged.message))
      } else {
        const verdict = judgeClientFinal(must(challenged, 'a challenge'), body, keys)
        ends.push(verdict.state === 'failed' ? verdict.reason : verdict.state)
        if (verdict.state === 'failed') return
        socket.write(message('R', 12, verdict.message))
        socket.write(message('R', 0))
        socket.end(Buffer.from('Z\0\0\0\u0005I', 'latin1'))
        return
      }
      step++
    }
  }

  const server: Server = createServer((plain) => {
    plain.on('error', () => {})
    if (tls === undefined) return void logIn(plain).finally(() => plain.destroy())
    // The request for TLS has eight bytes; nothing follows before it is answered.
    plain.once('data', () => {
      plain.write('S')
      const secure = new TLSSocket(plain, { isServer: true, secureContext: createSecureContext(tls) })
      secure.on('error', () => {})
      void logIn(secure).finally(() => secure.end())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // of a server that listens on a port
  return { port, ends, chosen, close: () => void server.close() }
}
