// A signed head judged by a policy: is it of a ledger that counts, has that ledger signed it, and which witnesses have at which
// time. Lines of keys that the policy does not know say nothing and change nothing.

import { DecodeError } from '../base/errors.ts'
import { cosignedAt } from './cosignature.ts'
import { type Head, parseHead } from './head.ts'
import { isBy, type Note, parseNote, verifyNote } from './note.ts'
import { knows, type Policy, type Quorum, quorumOf } from './policy.ts'
import { idText, isKnown } from './verifier-key.ts'

/** A witness of the policy that has cosigned, and when. */
export interface Witnessed {
  /** Its name in the policy. */
  readonly name: string
  /** Seconds since 1970; the earliest, where it has signed more than once. */
  readonly at: number
}

const lastSecond = Date.parse('9999-12-31T23:59:59Z') / 1000

/** A signed head, and which witnesses have signed it. */
export interface HeadFacts {
  readonly ledger: Head
  readonly quorum: Quorum
  readonly witnessed: readonly Witnessed[]
}

/** When it has signed: RFC 3339, unless its clock says a year that has no such text. */
export function witnessedText({ at }: Witnessed): string {
  return at <= lastSecond ? new Date(at * 1000).toISOString() : `${at} seconds after 1970`
}

export type OpenedHead =
  | {
      readonly ok: true
      readonly head: Head
      readonly note: Note
      readonly quorum: Quorum
      /** In the order of the policy. */
      readonly witnessed: readonly Witnessed[]
      /** Why the quorum is not met, where it is not. */
      readonly few: string
    }
  /** `unknown`: the policy has no such ledger. `forged`: the bytes are no head, or a signature that counts is not good. */
  | { readonly ok: false; readonly fault: 'unknown' | 'forged'; readonly reason: string }

/** A head that nobody's signature speaks for: only its form is looked at. */
export function unsignedHead(bytes: Uint8Array): OpenedHead {
  try {
    const note = parseNote(bytes)
    return { ok: true, head: parseHead(note.text), note, quorum: 'none', witnessed: [], few: '' }
  } catch (error) {
    if (error instanceof DecodeError) return { ok: false, fault: 'forged', reason: error.message }
    throw error
  }
}

/** What the policy says of a signed head. */
export function openHead(bytes: Uint8Array, policy: Policy): OpenedHead {
  const read = unsignedHead(bytes)
  if (!read.ok) return read
  const { note, head } = read
  if (!knows(policy, head.origin)) {
    return { ok: false, fault: 'unknown', reason: `the policy has no log ${head.origin}` }
  }
  const reason = faultOfLogs(note, head, policy)
  if (reason !== undefined) return { ok: false, fault: 'forged', reason }
  const witnessed: Witnessed[] = []
  for (const { name, key } of policy.witnesses.filter((one) => isKnown(one.key))) {
    const times = note.signatures
      .filter((line) => isBy(line, key))
      .map(({ signature }) => cosignedAt(note.text, key, signature))
    const known = times.filter((time) => time !== undefined)
    if (known.length < times.length) {
      return { ok: false, fault: 'forged', reason: `the cosignature of ${key.name} is not good` }
    }
    if (known.length > 0) witnessed.push({ name, at: Math.min(...known) })
  }
  const names = witnessed.map(({ name }) => name)
  const quorum = quorumOf(policy, names)
  const others = policy.witnesses.filter(({ name }) => !names.includes(name))
  const other = others.flatMap(({ key }) => otherKey(note, key.name, policy.witnesses) ?? [])[0]
  const count = witnessed.length === 1 ? '1 witness has' : `${witnessed.length} witnesses have`
  const few = `${count} signed the head, fewer than the policy asks for${other === undefined ? '' : `. ${other}`}`
  return { ok: true, head, note, quorum, witnessed, few }
}

/** Every line of a key of a log must be good, and one be of the head's own ledger. */
function faultOfLogs(note: Note, { origin }: Head, { logs }: Policy): string | undefined {
  let isSigned = false
  for (const { key } of logs) {
    for (const { signature } of note.signatures.filter((line) => isBy(line, key))) {
      if (!verifyNote(note.text, key, signature)) return `the signature of ${key.name} is not good`
      isSigned ||= key.name === origin
    }
  }
  return isSigned ? undefined : (otherKey(note, origin, logs) ?? 'the head is not signed by its ledger')
}

/** That a key has signed in a name for which the policy has another one: which is right nobody can say here. */
function otherKey({ signatures }: Note, name: string, keys: Policy['logs']): string | undefined {
  const line = signatures.find((one) => one.name === name)
  const known = keys.flatMap(({ key }) => (key.name === name && isKnown(key) ? [idText(key.id)] : []))
  if (line === undefined || known.length === 0 || known.includes(idText(line.keyId))) return undefined
  return `In the name of ${name} the key ${idText(line.keyId)} has signed, and the policy has ${known.join(', ')} for it. Either the policy is old, or about another with this name, or the file is forged`
}
