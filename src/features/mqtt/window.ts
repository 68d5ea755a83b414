// The messages of one session that are not acknowledged: which are being stored, whose PUBACK may go out (in the order in
// which they came, MQTT 5 §4.6), and whether more may be read. It outlives connections: a message that comes again while
// its first copy has had no PUBACK is that copy (docs/decisions/streams.md#mqtt). Pure.

/** A PUBLISH as it came. */
export interface Publish {
  /** Packet id; undefined at QoS 0. */
  readonly id: number | undefined
  readonly isDup: boolean
  readonly topic: string
  readonly payload: Buffer
  /** Bytes of the payload that were dropped because the message is too large. */
  readonly lostBytes: number
}

/** A message on its way into the log. */
export interface Delivery extends Publish {
  state: 'storing' | 'stored'
}

export class Window {
  readonly #most: { readonly messages: number; readonly bytes: number }
  /** By packet id: those without a PUBACK. */
  #unacknowledged = new Map<number, Delivery>()
  /** Those of this connection, as they came. */
  #order: Delivery[] = []
  #storing = 0
  #storingBytes = 0

  constructor(most: { readonly messages: number; readonly bytes: number }) {
    this.#most = most
  }

  /** No more may be read now. */
  get isFull(): boolean {
    const { messages, bytes } = this.#most
    return this.#order.length >= messages || this.#storing >= messages || this.#storingBytes >= bytes
  }

  /** Messages that are being stored. */
  get storing(): number {
    return this.#storing
  }

  /** Messages whose PUBACK is not written. */
  get unacknowledged(): number {
    return this.#unacknowledged.size
  }

  /** The connection has ended: no PUBACK goes out on it any more. */
  disconnected(): void {
    this.#order = []
  }

  /** Another connection begins. Where the broker has kept the session, packet ids go on to mean what they meant. */
  reopen(isSessionKept: boolean): void {
    this.disconnected()
    if (!isSessionKept) this.#unacknowledged = new Map()
  }

  /** The message as one to be stored; undefined where it is a copy of one that is stored here, or is being stored. */
  receive(publish: Publish): Delivery | undefined {
    const { id } = publish
    const known = id !== undefined && publish.isDup ? this.#unacknowledged.get(id) : undefined
    if (known !== undefined && isSame(known, publish)) {
      if (!this.#order.includes(known)) this.#order.push(known)
      return undefined
    }
    const delivery: Delivery = { ...publish, state: 'storing' }
    this.#storing++
    this.#storingBytes += publish.payload.length
    if (id !== undefined) {
      this.#unacknowledged.set(id, delivery)
      this.#order.push(delivery)
    }
    return delivery
  }

  /** The message is durable; or it is given up, and the broker will send it again. */
  settle(delivery: Delivery, outcome: 'stored' | 'given up'): void {
    this.#storing--
    this.#storingBytes -= delivery.payload.length
    if (outcome === 'stored') delivery.state = 'stored'
    else if (delivery.id !== undefined && this.#unacknowledged.get(delivery.id) === delivery) {
      this.#unacknowledged.delete(delivery.id)
    }
  }

  /** Packet ids whose PUBACK is to be written now, in order. */
  takeAcknowledged(): readonly number[] {
    const waits = this.#order.findIndex(({ state }) => state === 'storing')
    const done = this.#order.splice(0, waits < 0 ? this.#order.length : waits)
    return done.flatMap((delivery) => {
      const { id } = delivery
      if (id === undefined) return []
      if (this.#unacknowledged.get(id) === delivery) this.#unacknowledged.delete(id)
      return [id]
    })
  }
}

function isSame(a: Publish, b: Publish): boolean {
  return a.topic === b.topic && a.lostBytes === b.lostBytes && a.payload.equals(b.payload)
}
