// The server's side of SCRAM-SHA-256 and SCRAM-SHA-256-PLUS: what a client says first, the challenge, what it says last, the verdict.
// Each step is a value; a failure is one too, with the reason, which is not for the client where it concerns the password.
// Sources: RFC 5802, RFC 7677, RFC 5929 (tls-server-end-point); PostgreSQL's auth-scram.c

import { assert } from '../base/assert.ts'
import { base64Text, fromBase64 } from '../base/base64.ts'
import { concatBytes, decodeUtf8, equalBytes, utf8 } from '../base/bytes.ts'
import { NodeError } from '../base/errors.ts'
import { hmacSha256, sha256 } from '../base/ids/native-crypto.ts'

export type ScramMechanism = 'SCRAM-SHA-256' | 'SCRAM-SHA-256-PLUS'

/** What a server keeps of a password. It serves to check the password, and not to log in. */
export interface ScramKeys {
  readonly storedKey: Uint8Array
  readonly serverKey: Uint8Array
}

/** What was agreed on before the first message. */
export interface ScramOffer {
  /** What the client chose. */
  readonly mechanism: ScramMechanism
  /** Hash of the server's certificate where PLUS was offered, which is to be done on TLS; else undefined. */
  readonly binding: Uint8Array | undefined
}

/** The exchange is over. `protocol`: a message breaks the rules; `password`: the client does not know it. */
export interface ScramFailure {
  readonly state: 'failed'
  readonly by: 'protocol' | 'password'
  readonly reason: string
}

export interface ScramBegun {
  readonly state: 'begun'
  /** As the client wrote it, often empty: PostgreSQL's clients name the user before. */
  readonly username: string
  readonly nonce: string
  /** The first message without its header. */
  readonly bare: string
  /** What the last message has to repeat of header and channel. */
  readonly binding: Uint8Array
}

export interface ScramChallenged {
  readonly state: 'challenged'
  /** For the client. */
  readonly message: Uint8Array
  readonly nonce: string
  readonly binding: Uint8Array
  /** What both sign, but for the last message. */
  readonly said: string
}

export interface ScramVerified {
  readonly state: 'verified'
  /** For the client, to whom it proves the server. */
  readonly message: Uint8Array
}

const mostMessageBytes = 4096
const mostPasswordLength = 1024
const leastIterations = 4096
const keyBytes = 32
const blockBytes = 64
const bindingType = 'tls-server-end-point'
/** What nonces are made of. */
const nonceForm = /^[\u0021-\u002b\u002d-\u007e]+$/
const attributeForm = /^([A-Za-z])=([^\0]*)$/

function failed(by: ScramFailure['by'], reason: string): ScramFailure {
  return { state: 'failed', by, reason }
}

/**
 * The keys of a password. Throws NodeError `InvalidRequest` for one that is not 1 to 1,024 printable characters of ASCII, which
 * SASLprep leaves as they are.
 */
export function verifierOf(password: string, salt: Uint8Array, iterations: number): ScramKeys {
  if (!/^[ -~]+$/.test(password) || password.length > mostPasswordLength) {
    throw new NodeError('InvalidRequest', `A password has 1 to ${mostPasswordLength} printable characters of ASCII.`)
  }
  assert(salt.length > 0 && iterations >= leastIterations, 'a salt, and as many rounds as RFC 7677 asks for')
  const bytes = utf8(password)
  // As HMAC does with keys that are longer than a block.
  const key = bytes.length > blockBytes ? sha256(bytes) : bytes
  let round = hmacSha256(key, concatBytes([salt, Uint8Array.of(0, 0, 0, 1)]))
  const salted = round.slice()
  for (let count = 1; count < iterations; count++) {
    round = hmacSha256(key, round)
    for (let at = 0; at < keyBytes; at++) salted[at] = (salted[at] ?? 0) ^ (round[at] ?? 0)
  }
  const clientKey = hmacSha256(salted, utf8('Client Key'))
  return { storedKey: sha256(clientKey), serverKey: hmacSha256(salted, utf8('Server Key')) }
}

/** Reads the first message of a client: `n,,n=user,r=nonce`. */
export function readClientFirst(message: Uint8Array, offer: ScramOffer): ScramBegun | ScramFailure {
  const text = textOf(message)
  const [flag = '', identity = '', ...rest] = text?.split(',') ?? []
  if (text === undefined || rest.length === 0) return failed('protocol', 'the first message is malformed')
  const fault = flagFault(flag, offer)
  if (fault !== undefined) return failed('protocol', fault)
  if (identity !== '') return failed('protocol', 'an identity to act for is not supported')
  const attributes = attributesOf(rest)
  if (attributes === undefined) return failed('protocol', 'the first message has malformed or repeated attributes')
  const [[first, username] = ['', ''], [second, nonce] = ['', '']] = attributes
  if (first === 'm') return failed('protocol', 'extensions that must be understood are not supported')
  if (first !== 'n' || second !== 'r' || !nonceForm.test(nonce)) {
    return failed('protocol', 'the first message has to begin with a user and a nonce')
  }
  if (attributes.some(([name]) => name === 'm'))
    return failed('protocol', 'the first message has an attribute out of place')
  const bound = flag.startsWith('p') ? (offer.binding ?? new Uint8Array(0)) : new Uint8Array(0)
  const binding = concatBytes([utf8(`${flag},,`), bound])
  return { state: 'begun', username, nonce, bare: rest.join(','), binding }
}

/** What is wrong with what a client says about its channel. */
function flagFault(flag: string, { mechanism, binding }: ScramOffer): string | undefined {
  const isPlus = mechanism === 'SCRAM-SHA-256-PLUS'
  if (isPlus && binding === undefined) return 'channel binding was not offered'
  if (flag === 'n') return isPlus ? 'the mechanism is with channel binding, the message is not' : undefined
  if (flag === 'y') {
    if (isPlus) return 'the mechanism is with channel binding, the message is not'
    // Somebody between has taken the offer out.
    return binding === undefined ? undefined : 'the client did not see that channel binding is offered'
  }
  if (flag !== `p=${bindingType}`) return `channel binding is of the type ${bindingType} here`
  return isPlus ? undefined : 'the message is with channel binding, the mechanism is not'
}

/** The challenge. `nonce` is fresh and the server's own: printable ASCII without a comma. */
export function challengeOf(
  begun: ScramBegun,
  { nonce, salt, iterations }: { readonly nonce: string; readonly salt: Uint8Array; readonly iterations: number },
): ScramChallenged {
  assert(nonceForm.test(nonce), 'a nonce is printable ASCII without a comma')
  const whole = begun.nonce + nonce
  const text = `r=${whole},s=${base64Text(salt)},i=${iterations}`
  return {
    state: 'challenged',
    message: utf8(text),
    nonce: whole,
    binding: begun.binding,
    said: `${begun.bare},${text}`,
  }
}

/** Judges the last message of a client: `c=binding,r=nonce,p=proof`. */
export function judgeClientFinal(
  { said, nonce, binding }: ScramChallenged,
  message: Uint8Array,
  { storedKey, serverKey }: ScramKeys,
): ScramVerified | ScramFailure {
  const text = textOf(message)
  const attributes = text === undefined ? undefined : attributesOf(text.split(','))
  const last = attributes?.at(-1)
  if (text === undefined || attributes === undefined || last?.[0] !== 'p') {
    return failed('protocol', 'the last message is malformed, or has repeated attributes')
  }
  const [[first, bound] = ['', ''], [second, answered] = ['', '']] = attributes
  if (first !== 'c' || second !== 'r' || attributes.some(([name]) => name === 'm')) {
    return failed('protocol', 'the last message has to begin with the channel and the nonce')
  }
  const told = fromBase64(bound)
  if (told === undefined || !equalBytes(told, binding)) return failed('protocol', 'the channel is another one')
  if (answered !== nonce) return failed('protocol', 'the nonce is another one')
  const proof = fromBase64(last[1])
  if (proof?.length !== keyBytes) return failed('protocol', 'the proof is malformed')
  const signed = utf8(`${said},${text.slice(0, text.lastIndexOf(',p='))}`)
  const signature = hmacSha256(storedKey, signed)
  const clientKey = proof.map((byte, at) => byte ^ (signature[at] ?? 0))
  if (!sameKey(sha256(clientKey), storedKey)) return failed('password', 'the proof is wrong')
  return { state: 'verified', message: utf8(`v=${base64Text(hmacSha256(serverKey, signed))}`) }
}

/** In a time that does not tell where they differ. */
function sameKey(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (let at = 0; at < keyBytes; at++) difference |= (a[at] ?? 0) ^ (b[at] ?? 0)
  return difference === 0
}

function textOf(message: Uint8Array): string | undefined {
  if (message.length > mostMessageBytes) return undefined
  try {
    return decodeUtf8(message)
  } catch {
    return undefined
  }
}

/** Names and values of attributes; undefined where one is malformed or comes twice. */
function attributesOf(parts: readonly string[]): (readonly [name: string, value: string])[] | undefined {
  const found = parts.map((part) => attributeForm.exec(part))
  const attributes = found.flatMap((one) => (one === null ? [] : [[one[1] ?? '', one[2] ?? ''] as const]))
  const names = new Set(attributes.map(([name]) => name))
  return attributes.length === parts.length && names.size === parts.length ? attributes : undefined
}
