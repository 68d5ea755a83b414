// A client of PostgreSQL's protocol that writes what it is told, byte by byte: for orders and faults that no driver sends. What comes
// back is cut into messages, each with its letter.

import { connect, type Socket } from 'node:net'

const int16 = (value: number): Buffer => Buffer.from([(value >> 8) & 0xff, value & 0xff])

export function int32(value: number): Buffer {
  const out = Buffer.alloc(4)
  out.writeInt32BE(value)
  return out
}

export const text = (value: string): Buffer => Buffer.from(`${value}\0`)

/** A message with the length that it has. */
export function message(letter: string, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(letter), int32(body.length + 4), body])
}

export const protocol30 = 196_608

/** A first message. */
export function first(code: number, ...parts: readonly Uint8Array[]): Buffer {
  return message('', int32(code), ...parts)
}

export function startup(parameters: Readonly<Record<string, string>>, code = protocol30): Buffer {
  return first(code, ...Object.entries(parameters).flatMap(([name, value]) => [text(name), text(value)]), text(''))
}

export const query = (sql: string): Buffer => message('Q', text(sql))
export const sync = message('S')
export const flush = message('H')
export const terminate = message('X')
export const password = (word: string): Buffer => message('p', text(word))
export const execute = (portal = '', rows = 0): Buffer => message('E', text(portal), int32(rows))
export const describe = (of: 'S' | 'P', name = ''): Buffer => message('D', Buffer.from(of), text(name))
export const close = (of: 'S' | 'P', name = ''): Buffer => message('C', Buffer.from(of), text(name))

const list = (items: readonly Buffer[]): Buffer => Buffer.concat([int16(items.length), ...items])

export function parse(sql: string, name = '', types: readonly number[] = []): Buffer {
  return message('P', text(name), text(sql), list(types.map(int32)))
}

export interface Bound {
  readonly portal?: string
  readonly statement?: string
  readonly formats?: readonly number[]
  readonly values?: readonly (string | Uint8Array | null)[]
  readonly resultFormats?: readonly number[]
}

export function bind({
  portal = '',
  statement = '',
  formats = [],
  values = [],
  resultFormats = [],
}: Bound = {}): Buffer {
  const cells = values.map((value) => {
    if (value === null) return int32(-1)
    const bytes = Buffer.from(value)
    return Buffer.concat([int32(bytes.length), bytes])
  })
  return message(
    'B',
    text(portal),
    text(statement),
    list(formats.map(int16)),
    list(cells),
    list(resultFormats.map(int16)),
  )
}

/** A message of the server. */
export interface Told {
  readonly letter: string
  readonly body: Buffer
}

export class RawClient {
  readonly socket: Socket
  readonly #told: Told[] = []
  #held = Buffer.alloc(0)
  #isClosed = false
  #wake: () => void = () => {}

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#held = Buffer.concat([this.#held, chunk])
      this.#cut()
      this.#wake()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#isClosed = true
      this.#wake()
    })
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1')
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return new RawClient(socket)
  }

  /** A session of `user`, up to ReadyForQuery. */
  static async session(port: number, parameters: Readonly<Record<string, string>> = {}, word = ''): Promise<RawClient> {
    const client = await RawClient.open(port)
    client.send(startup({ user: 'anonymous', database: 'all', ...parameters }))
    if (word !== '') client.send(password(word))
    await client.until('Z')
    return client
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  send(...bytes: readonly Uint8Array[]): void {
    this.socket.write(Buffer.concat(bytes))
  }

  /** The next message; undefined once the connection is closed. */
  async next(): Promise<Told | undefined> {
    for (;;) {
      const told = this.#told.shift()
      if (told !== undefined || this.#isClosed) return told
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Messages up to the first of this letter, with it, or to the end of the connection. */
  async until(letter: string): Promise<Told[]> {
    const all: Told[] = []
    for (;;) {
      const told = await this.next()
      if (told !== undefined) all.push(told)
      if (told === undefined || told.letter === letter) return all
    }
  }

  /** Sends, and what comes up to ReadyForQuery, in short. */
  async ask(...bytes: readonly Uint8Array[]): Promise<string[]> {
    this.send(...bytes)
    return (await this.until('Z')).map(brief)
  }

  /** All that comes until the server closes. */
  async rest(): Promise<string[]> {
    return (await this.until('')).map(brief)
  }

  end(): void {
    this.socket.destroy()
  }

  #cut(): void {
    for (;;) {
      const { length } = this.#held
      const end = length < 5 ? Number.POSITIVE_INFINITY : 1 + this.#held.readInt32BE(1)
      if (end > length) return
      this.#told.push({ letter: String.fromCharCode(this.#held[0] ?? 0), body: this.#held.subarray(5, end) })
      this.#held = this.#held.subarray(end)
    }
  }
}

/** Fields of an error or a notice by their letters. */
export function fieldsOf({ body }: Told): Readonly<Record<string, string>> {
  const parts = body
    .toString('utf8')
    .split('\0')
    .filter((part) => part !== '')
  return Object.fromEntries(parts.map((part) => [part.slice(0, 1), part.slice(1)]))
}

/** Cells of a DataRow. */
export function cellsOf({ body }: Told): (Buffer | null)[] {
  const cells: (Buffer | null)[] = []
  let at = 2
  while (at < body.length) {
    const length = body.readInt32BE(at)
    at += 4
    cells.push(length < 0 ? null : body.subarray(at, at + length))
    at += Math.max(length, 0)
  }
  return cells
}

/** `E 25P02`, `C SELECT 1`, `D a|null`, `Z I`, and the letter alone of all others. */
export function brief(told: Told): string {
  const { letter, body } = told
  if (letter === 'E' || letter === 'N') return `${letter} ${fieldsOf(told)['C']}`
  if (letter === 'C' || letter === 'Z') return `${letter} ${body.toString('utf8').replace('\0', '')}`
  if (letter === 'D')
    return `D ${cellsOf(told)
      .map((cell) => cell?.toString('utf8') ?? 'null')
      .join('|')}`
  return letter
}
