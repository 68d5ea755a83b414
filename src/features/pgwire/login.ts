// The start of a connection: encryption, and the caller. The user name says how a client shows who it is, since the node asks
// before it knows anything else of the client.

import type { SecureContext } from 'node:tls'
import { anonymousPrincipal, type Principal } from '../../node/access/scopes.ts'
import type { TokenRegistry } from '../../node/access/tokens.ts'
import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import * as backend from '../../libraries/pgwire/backend.ts'
import type { StartMessage } from '../../libraries/pgwire/frontend.ts'
import { PostgresFault } from '../../libraries/pgwire/report.ts'
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
    if (isTls && !(await wire.secure(tls()))) return undefined
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
  return await byPassword(wire, user, deps)
}

async function byPassword(wire: Wire, user: string, { tokens, isLoopback }: LoginDeps): Promise<Login | undefined> {
  if (!wire.isSecure && !isLoopback) {
    throw new PostgresFault('28000', 'A token is only taken over TLS here.', 'Set sslmode=require.')
  }
  wire.queue(backend.askPassword)
  await wire.flush()
  const answer = await wire.message()
  if (answer === undefined || answer.kind === 'end') return undefined
  if (answer.kind !== 'answer') throw new PostgresFault('08P01', 'expected a password')
  const token = passwordOf(answer.bytes)
  const principal = async (): Promise<Principal> => tokens.known(token) ?? (await tokens.authenticate(token))
  try {
    await principal()
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
