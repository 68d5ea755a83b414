// The start of a connection: encryption, and the caller. The user name says how a client shows who it is, since the node asks
// before it knows anything else of the client.

import { createHash, X509Certificate } from 'node:crypto'
import type { SecureContext } from 'node:tls'
import { anonymousPrincipal, type Principal } from '../../node/access/scopes.ts'
import type { TokenRegistry } from '../../node/access/tokens.ts'
import { must } from '../../libraries/base/assert.ts'
import { fromBase64 } from '../../libraries/base/base64.ts'
import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { randomText } from '../../libraries/base/ids/native-crypto.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import * as backend from '../../libraries/pgwire/backend.ts'
import type { StartMessage } from '../../libraries/pgwire/frontend.ts'
import { PostgresFault } from '../../libraries/pgwire/report.ts'
import {
  challengeOf,
  judgeClientFinal,
  readClientFirst,
  type ScramFailure,
  type ScramMechanism,
} from '../../libraries/pgwire/scram.ts'
import type { Wire } from './wire.ts'

/** A client that wants a session. */
export type Start = Extract<StartMessage, { kind: 'start' }>
type Cancel = Extract<StartMessage, { kind: 'cancel' }>

export interface LoginDeps {
  readonly tokens: TokenRegistry
  readonly anonymousRead: boolean
  readonly tls: (() => SecureContext) | undefined
  /** The node listens where nobody else's computer is. */
  readonly isLoopback: boolean
}

/** Who asks, as each statement asks again. */
export interface Login {
  readonly user: string
  /** Throws NodeError `Unauthenticated` where the token has been revoked or has expired. */
  readonly principal: () => Promise<Principal>
}

const newestMinor = 2
const requestsMost = 3

/** Answers requests for encryption; gives what the client wants then. Undefined where it has left. Throws ProtocolFault. */
export async function beginning(wire: Wire, { tls }: LoginDeps): Promise<Start | Cancel | undefined> {
  if (tls !== undefined && (await wire.beginsInTls()) && !(await wire.secure(tls(), 'unasked'))) return undefined
  for (let request = 0; request < requestsMost; request++) {
    const start = await wire.start()
    if (start === undefined || start.kind === 'cancel') return start
    if (start.kind === 'start') {
      demandVersion(start)
      return start
    }
    const isTls = start.kind === 'tls' && tls !== undefined && !wire.isSecure
    wire.queue(isTls ? backend.accepted : backend.refused)
    await wire.flush()
    if (isTls && !(await wire.secure(tls(), 'asked'))) return undefined
  }
  return undefined
}

function demandVersion({ major, minor }: Start): void {
  if (major === 3) return
  throw new PostgresFault(
    '0A000',
    `unsupported frontend protocol ${major}.${minor}: server supports 3.0 to 3.${newestMinor}`,
  )
}

/** Says which of what the client asked for is not known. */
export function negotiate(wire: Wire, { minor, parameters }: Start): void {
  const unknown = [...parameters.keys()].filter((name) => name.startsWith('_pq_.'))
  if (minor > newestMinor || unknown.length > 0) wire.queue(backend.negotiated(Math.min(minor, newestMinor), unknown))
}

/** Finds out who asks. Throws PostgresFault 28000, 28P01; undefined where the client has left. */
export async function login(wire: Wire, { parameters }: Start, deps: LoginDeps): Promise<Login | undefined> {
  const user = parameters.get('user') ?? ''
  if (user === '') throw new PostgresFault('28000', 'no user name is given')
  if (user === 'anonymous') {
    if (deps.anonymousRead) return { user, principal: async () => anonymousPrincipal(true) }
    throw new PostgresFault(
      '28000',
      'Reading here needs a token: --no-anonymous-read is set.',
      'Give a token as the password of another user.',
    )
  }
  const held = await holderOf(deps, user)
  return held?.scram === undefined
    ? await byPassword(wire, user, deps, held)
    : await byScram(wire, user, held.scram, deps)
}

/** Ids of tokens look so. */
const tokenId = /^[0-9a-f]{16}$/

/** The holder of the token whose id is the user name. */
async function holderOf({ tokens }: LoginDeps, user: string): Promise<Held | undefined> {
  if (!tokenId.test(user)) return undefined
  return await tokens.holder(user).catch((error: unknown) => {
    if (error instanceof NodeError && error.kind === 'Unauthenticated') return undefined
    throw error
  })
}

type Held = Awaited<ReturnType<TokenRegistry['holder']>>

/** By SCRAM, in which the token is not sent. Undefined where the client has left. Throws PostgresFault 28P01, 08P01. */
async function byScram(
  wire: Wire,
  user: string,
  keys: NonNullable<Held['scram']>,
  { tokens }: LoginDeps,
): Promise<Login | undefined> {
  const binding = wire.certificate === undefined ? undefined : endPointHash(wire.certificate)
  wire.queue(backend.askSasl([...(binding === undefined ? [] : ['SCRAM-SHA-256-PLUS']), 'SCRAM-SHA-256']))
  const first = await answerOf(wire)
  if (first === undefined) return undefined
  const { mechanism, message } = initialResponse(first)
  const begun = readClientFirst(message, { mechanism, binding })
  if (begun.state === 'failed') throw refusal(begun, user)
  const [salt, storedKey, serverKey] = [keys.salt, keys.storedKey, keys.serverKey].map((text) =>
    must(fromBase64(text), 'base64'),
  )
  const nonce = randomText(nonceBytes)
  const challenged = challengeOf(begun, { nonce, salt: must(salt, 'a salt'), iterations: keys.iterations })
  wire.queue(backend.saslGoesOn(challenged.message))
  const last = await answerOf(wire)
  if (last === undefined) return undefined
  const pair = { storedKey: must(storedKey, 'a key'), serverKey: must(serverKey, 'a key') }
  const verdict = judgeClientFinal(challenged, last, pair)
  if (verdict.state === 'failed') throw refusal(verdict, user)
  wire.queue(backend.saslEnds(verdict.message))
  return { user, principal: async () => (await tokens.holder(user)).principal }
}

const nonceBytes = 18

function refusal({ by, reason }: ScramFailure, user: string): PostgresFault {
  if (by === 'protocol') return new PostgresFault('08P01', `SCRAM: ${reason}`)
  return new PostgresFault(
    '28P01',
    `password authentication failed for user "${user}"`,
    'The password of this user is the token with this id.',
  )
}

/** The mechanism and what a client says first. */
function initialResponse(bytes: Uint8Array): { readonly mechanism: ScramMechanism; readonly message: Uint8Array } {
  const end = bytes.indexOf(0)
  const mechanism = end < 0 ? '' : latin(bytes.subarray(0, end))
  const message = bytes.subarray(end + 5)
  const length = end < 0 || bytes.length < end + 5 ? -1 : new DataView(bytes.buffer, bytes.byteOffset).getInt32(end + 1)
  if ((mechanism !== 'SCRAM-SHA-256' && mechanism !== 'SCRAM-SHA-256-PLUS') || length !== message.length) {
    throw new PostgresFault('08P01', 'SCRAM: the mechanism is another one, or the message is cut short')
  }
  return { mechanism, message }
}

function latin(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}

/** Hash of a certificate for channel binding (RFC 5929 §4.1); undefined where its own algorithm is not known. */
function endPointHash(certificate: Uint8Array): Uint8Array | undefined {
  const read: { readonly signatureAlgorithm?: string | undefined } = new X509Certificate(certificate)
  const [, bits] = /sha-?(256|384|512)/i.exec(read.signatureAlgorithm ?? '') ?? []
  return bits === undefined ? undefined : createHash(`sha${bits}`).update(certificate).digest()
}

/** What a client answers; undefined where it has left. Throws PostgresFault 08P01. */
async function answerOf(wire: Wire): Promise<Uint8Array | undefined> {
  await wire.flush()
  const answer = await wire.message()
  if (answer === undefined || answer.kind === 'end') return undefined
  if (answer.kind !== 'answer') throw new PostgresFault('08P01', 'expected a password')
  return answer.bytes
}

/** By a token that is sent. `held`: only that one is meant. */
async function byPassword(
  wire: Wire,
  user: string,
  { tokens, isLoopback }: LoginDeps,
  held: Held | undefined,
): Promise<Login | undefined> {
  if (!wire.isSecure && !isLoopback) {
    throw new PostgresFault('28000', 'A token is only taken over TLS here.', 'Set sslmode=require.')
  }
  wire.queue(backend.askPassword)
  const answer = await answerOf(wire)
  if (answer === undefined) return undefined
  const token = passwordOf(answer)
  const principal = async (): Promise<Principal> => tokens.known(token) ?? (await tokens.authenticate(token))
  try {
    const { tokenId: id } = await principal()
    if (held !== undefined && id !== user) throw new NodeError('Unauthenticated', 'The token has another id.')
  } catch (error) {
    if (!(error instanceof NodeError) || error.kind !== 'Unauthenticated') throw error
    const hint = 'The password is a token of this node; the user is any name. The user anonymous needs none.'
    throw new PostgresFault(
      '28P01',
      `password authentication failed for user "${user.slice(0, 63)}": ${error.message}`,
      hint,
    )
  }
  return { user, principal }
}

function passwordOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0)
  try {
    return decodeUtf8(end < 0 ? bytes : bytes.subarray(0, end))
  } catch {
    return ''
  }
}
