// Why a connection to the broker ended: a sentence for the node's log, never for a caller.

export class BrokerFault extends Error {
  override readonly name: string = 'BrokerFault'
}

/** Reason codes of MQTT 5 §2.4, and return codes of 3.1.1 §3.2.2.3. */
const reasons: Readonly<Record<number, string>> = {
  1: 'unacceptable protocol version',
  2: 'client id rejected',
  3: 'server unavailable',
  4: 'bad user name or password',
  5: 'not authorized',
  0x80: 'unspecified error',
  0x84: 'unsupported protocol version',
  0x85: 'client id not valid',
  0x86: 'bad user name or password',
  0x87: 'not authorized',
  0x88: 'server unavailable',
  0x89: 'server busy',
  0x8b: 'server shutting down',
  0x8e: 'session taken over by another client with this client id (client-id in --mqtt)',
  0x93: 'receive maximum exceeded',
  0x97: 'quota exceeded',
  0x9e: 'shared subscriptions not supported',
}

/** What a code of CONNACK, SUBACK or DISCONNECT says. */
export function reasonText(code: unknown): string {
  const text = typeof code === 'number' ? reasons[code] : undefined
  return text === undefined ? `code ${String(code)}` : text
}
