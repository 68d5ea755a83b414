// Listens, and takes each connection from its first bytes to its end. Connections are counted, in all and by caller; what a
// connection does before it has said who it is takes little, and not long.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { can, type Principal } from '../../node/access/scopes.ts'
import { networkOf } from '../../node/http/answer.ts'
import type { ReplicaContext } from '../../node/http/context.ts'
import { closeGraceMs } from '../../node/http/connections.ts'
import { equalBytes } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import * as backend from '../../libraries/pgwire/backend.ts'
import { ProtocolFault } from '../../libraries/pgwire/frontend.ts'
import { PostgresFault, reportOf, severity } from '../../libraries/pgwire/report.ts'
import { SessionSettings } from '../../libraries/pgwire/settings.ts'
import { beginning, login, type LoginDeps, negotiate, type Start } from './login.ts'
import { isLoopback, type PostgresOptions } from './options.ts'
import { Session } from './session.ts'
import type { Certificate } from './tls.ts'
import { Wire, WireClosed } from './wire.ts'

const connectionsMost = 1000
const connectionsOfCaller = 200
const loginMs = 30_000
/** Beside the text of a statement: its values. */
const valueBytes = 1024 * 1024

export interface ServerDeps {
  readonly context: ReplicaContext
  readonly options: PostgresOptions
  readonly tls: Certificate | undefined
  /** Of the program. */
  readonly version: string
  /** Where this node is reached over HTTP. */
  readonly address: () => string
}

interface Open {
  readonly session: Session
  readonly secret: Uint8Array
  readonly wire: Wire
}

export class PostgresServer {
  readonly #deps: ServerDeps
  readonly #login: LoginDeps
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Sessions by the number that their client cancels them with. */
  readonly #open = new Map<number, Open>()
  readonly #callers = new Map<string, number>()
  #lastProcess = 0
  #isDraining = false

  constructor(deps: ServerDeps) {
    this.#deps = deps
    const { context, options, tls } = deps
    const { tokens, anonymousRead } = context
    this.#login = { tokens, anonymousRead, tls: tls?.context, isLoopback: isLoopback(options.host) }
    this.#server = createServer({ noDelay: true, keepAlive: true }, (socket) => void this.#take(socket))
  }

  get address(): string {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? `${address.address}:${address.port}` : ''
  }

  get connections(): number {
    return this.#sockets.size
  }

  async listen(): Promise<void> {
    const { host, port } = this.#deps.options
    this.#server.listen(port, host)
    await once(this.#server, 'listening')
  }

  /** Takes no more connections, ends statements, and closes all. */
  async close(): Promise<void> {
    this.#isDraining = true
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const { session, wire } of this.#open.values()) {
      session.cancel('shutdown')
      const why = { ...severity('FATAL'), C: '57P01', M: 'terminating connection: the node is shutting down' }
      wire.queue(backend.errorReport(why))
      wire.end()
    }
    const over = new AbortController()
    const late = this.#deps.context.clock.sleep(closeGraceMs, over.signal).then(() => {
      for (const socket of this.#sockets) socket.destroy()
    })
    for (const socket of this.#sockets) if (!socket.writableEnded) socket.destroySoon()
    await closed
    over.abort('closed')
    await late
  }

  async #take(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy())
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    const { clock, limits } = this.#deps.context
    const wire = new Wire(socket, { clock, answerRate: limits.answerRate })
    try {
      await this.#serve(wire)
    } catch (error) {
      this.#tellFault(wire, error)
    } finally {
      wire.end()
    }
  }

  /** The last words of a connection. */
  #tellFault(wire: Wire, error: unknown): void {
    if (error instanceof WireClosed || wire.signal.aborted) return
    const isProtocol = error instanceof ProtocolFault
    if (!isProtocol && !(error instanceof PostgresFault) && !(error instanceof NodeError)) {
      this.#deps.context.logger.error({ err: error }, 'A connection of a PostgreSQL client failed')
    }
    const fields = isProtocol ? { C: '08P01', M: `invalid message: ${error.message}` } : reportOf(error)
    wire.queue(backend.errorReport({ ...fields, ...severity('FATAL') }))
  }

  async #serve(wire: Wire): Promise<void> {
    const over = new AbortController()
    void this.#deps.context.clock.sleep(loginMs, over.signal).then(() => {
      if (!over.signal.aborted) wire.destroy()
    })
    try {
      if (this.#isDraining || this.#sockets.size > connectionsMost) throw tooMany('this node', connectionsMost)
      const start = await beginning(wire, this.#login)
      if (start === undefined) return
      if (start.kind === 'cancel') return this.#cancel(start)
      negotiate(wire, start)
      const who = await login(wire, start, this.#login)
      if (who === undefined) return
      const { tokenId } = await who.principal()
      const caller = tokenId ?? networkOf(wire.address)
      this.#count(caller, 1)
      wire.admit = (bytes) => this.#admit(tokenId ?? 'anonymous', bytes)
      try {
        over.abort('known')
        await this.#session(wire, start, who)
      } finally {
        this.#count(caller, -1)
      }
    } finally {
      over.abort('over')
    }
  }

  async #session(wire: Wire, start: Start, who: NonNullable<Awaited<ReturnType<typeof login>>>): Promise<void> {
    const { context, version, address } = this.#deps
    const settings = new SessionSettings({
      server_version: `15.0 (Proofstream ${version})`,
      session_authorization: who.user,
    })
    const account = await this.#accountOf(start, await who.principal())
    settings.begin(startSettings(start))
    const process = this.#nextProcess()
    const secret = new Uint8Array(randomBytes(4))
    const session = new Session({
      context,
      wire,
      login: who,
      settings,
      account,
      processId: process,
      address: address(),
    })
    wire.queue(backend.authenticated)
    session.tell(SessionSettings.reported)
    wire.queue(backend.keyData(process, secret))
    this.#open.set(process, { session, secret, wire })
    try {
      await session.run()
    } finally {
      this.#open.delete(process)
    }
  }

  /** The account that the database is; undefined for all of them. Of what the caller may not read there is none. Throws PostgresFault 3D000. */
  async #accountOf({ parameters }: Start, principal: Principal): Promise<string | undefined> {
    const user = parameters.get('user') ?? ''
    const database = parameters.get('database') ?? user
    if (database === 'all') return undefined
    const readable = (await this.#deps.context.catalog.names()).filter((name) => can(principal, 'read', name))
    const wanted = foldAscii(database)
    if (readable.some(({ alias }) => foldAscii(alias.slice(0, alias.indexOf('/'))) === wanted)) return database
    // Drivers send the name of the user where they were told of no database.
    if (database === user) return undefined
    const hint = 'Connect to "all", or to the name of an account.'
    throw new PostgresFault('3D000', `database "${database.slice(0, 63)}" does not exist`, hint)
  }

  #cancel({ process, secret }: { readonly process: number; readonly secret: Uint8Array }): void {
    const open = this.#open.get(process)
    if (open !== undefined && equalBytes(open.secret, secret)) open.session.cancel()
  }

  /** Room for a large message among the answers of its caller. */
  #admit(caller: string, bytes: number): () => void {
    const { answers, limits } = this.#deps.context
    if (bytes > limits.sqlBytes + valueBytes) throw new ProtocolFault(`a message of ${bytes} bytes`)
    const room = answers.open(caller)
    room.take(bytes)
    return () => room.close()
  }

  #nextProcess(): number {
    do this.#lastProcess = (this.#lastProcess % 0x7ffffffe) + 1
    while (this.#open.has(this.#lastProcess))
    return this.#lastProcess
  }

  #count(caller: string, by: 1 | -1): void {
    const now = (this.#callers.get(caller) ?? 0) + by
    if (now > connectionsOfCaller) throw tooMany('one caller', connectionsOfCaller)
    if (now === 0) this.#callers.delete(caller)
    else this.#callers.set(caller, now)
  }
}

/** What the start says of settings: by name, and as `options=-c name=value`. */
function startSettings({ parameters }: Start): Map<string, string> {
  const settings = new Map<string, string>()
  for (const [, name = '', value = ''] of (parameters.get('options') ?? '').matchAll(
    /(?:-c\s*|--)([\w.]+)=((?:\\.|\S)*)/g,
  )) {
    settings.set(name, value.replaceAll(/\\(.)/g, '$1'))
  }
  for (const [name, value] of parameters) {
    if (!/^(?:user|database|options|replication|_pq_\..*)$/.test(name)) settings.set(name, value)
  }
  return settings
}

function tooMany(of: string, most: number): PostgresFault {
  return new PostgresFault('53300', `too many connections: ${of} has at most ${most}`)
}
