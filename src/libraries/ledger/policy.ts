// Policies: which ledgers and witnesses count, and how many of these. The text is read line by line, and what is wrong is named
// with its line. Source: https://c2sp.org/tlog-policy

import { decodeUtf8, equalBytes } from '../base/bytes.ts'
import { DecodeError } from '../base/errors.ts'
import { textForm } from '../base/text-form.ts'
import {
  isKnown,
  parseAnyKey,
  signatureTypes,
  type SignatureType,
  type VerifierKey,
  verifierKeyText,
} from './verifier-key.ts'

/** A ledger, by the key of its heads: the key's name is the origin. */
export interface PolicyLog {
  readonly key: VerifierKey
  readonly url?: string
}

/** A witness. Its name holds for this policy only. One with a key of a newer type counts, and cannot have signed. */
export interface PolicyWitness extends PolicyLog {
  readonly name: string
}

/** It has witnessed where at least so many of its members have. */
interface Group {
  readonly name: string
  readonly least: number
  readonly members: readonly string[]
}

export interface Policy {
  readonly logs: readonly PolicyLog[]
  readonly witnesses: readonly PolicyWitness[]
  /** Each after those that it has as members. */
  readonly groups: readonly Group[]
  /** A witness, a group, or `none`. */
  readonly quorum: string
}

export type Quorum = 'met' | 'not met' | 'none'

/** Reads no longer texts. Hundreds of witnesses fit. */
const maxPolicyBytes = 262_144
const noWitness = 'none'

/** What the lines so far have said. */
interface Draft {
  readonly logs: PolicyLog[]
  readonly witnesses: PolicyWitness[]
  readonly groups: Group[]
  /** Names of witnesses and groups; true where a group has it as a member. */
  readonly names: Map<string, boolean>
  quorum: string | undefined
  /** Number of the line that is being read, from 1. */
  line: number
}

/** Reads a policy, also as a transport of texts has left it. Throws DecodeError, which names the line at fault. */
export function parsePolicy(bytes: Uint8Array): Policy {
  if (bytes.length > maxPolicyBytes) throw new DecodeError('policy', `is longer than ${maxPolicyBytes} bytes`)
  const draft: Draft = { logs: [], witnesses: [], groups: [], names: new Map(), quorum: undefined, line: 0 }
  for (const line of octetText(textForm(bytes).bytes).split('\n')) {
    draft.line++
    readLine(draft, line)
  }
  const { logs, witnesses, groups, quorum } = draft
  if (quorum === undefined) throw new DecodeError('policy', 'has no quorum line')
  return { logs, witnesses, groups, quorum: nameText(quorum) }
}

/** One character for each octet: names are compared as octets, whatever their encoding. */
function octetText(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

/** A name or key as text: UTF-8, or where it is not that, a lone surrogate for each octet beyond ASCII. No two become one. */
function nameText(octets: string): string {
  try {
    return decodeUtf8(Uint8Array.from(octets, (octet) => octet.charCodeAt(0)))
  } catch {
    return octets.replace(/[\x80-\xff]/g, (octet) => String.fromCharCode(0xdc00 + octet.charCodeAt(0)))
  }
}

function readLine(draft: Draft, line: string): void {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(line)) refuse(draft, 'has a control character other than tab and newline')
  const [keyword, ...items] = line.split(/[ \t]+/).filter((item) => item !== '')
  if (keyword === undefined || keyword.startsWith('#')) return
  if (keyword === 'log') addLog(draft, items)
  else if (keyword === 'witness') addWitness(draft, items)
  else if (keyword === 'group') addGroup(draft, items)
  else if (keyword === 'quorum') setQuorum(draft, items)
  else refuse(draft, 'begins with none of log, witness, group and quorum')
}

function addLog(draft: Draft, [text, url, more]: readonly string[]): void {
  if (text === undefined || more !== undefined) refuse(draft, 'is not of the form log <key> [<url>]')
  const key = keyOf(draft, text, signatureTypes.ed25519)
  if (has(draft.logs, key)) refuse(draft, 'has the key of a log above')
  draft.logs.push({ key, ...withUrl(url) })
}

function addWitness(draft: Draft, [name, text, url, more]: readonly string[]): void {
  if (name === undefined || text === undefined || more !== undefined) {
    refuse(draft, 'is not of the form witness <name> <key> [<url>]')
  }
  const key = keyOf(draft, text, signatureTypes.cosignature)
  if (has(draft.witnesses, key)) refuse(draft, 'has the key of a witness above')
  define(draft, name)
  draft.witnesses.push({ name: nameText(name), key, ...withUrl(url) })
}

function addGroup(draft: Draft, [name, threshold, ...members]: readonly string[]): void {
  if (name === undefined || threshold === undefined || members.length === 0) {
    refuse(draft, 'is not of the form group <name> <any, all or a number> <name>…')
  }
  for (const member of members) {
    const isMember = draft.names.get(member)
    if (isMember === undefined) refuse(draft, `has ${nameText(member)}, which no line above defines`)
    if (isMember) refuse(draft, `has ${nameText(member)}, which is a member already`)
    draft.names.set(member, true)
  }
  const least = threshold === 'any' ? 1 : threshold === 'all' ? members.length : Number(threshold)
  const isNumber = threshold === 'any' || threshold === 'all' || /^[1-9]\d*$/.test(threshold)
  if (!isNumber || least > members.length)
    refuse(draft, `has the threshold ${threshold}, not one from 1 to ${members.length}`)
  define(draft, name)
  draft.groups.push({ name: nameText(name), least, members: members.map(nameText) })
}

function setQuorum(draft: Draft, [name, more]: readonly string[]): void {
  if (name === undefined || more !== undefined) refuse(draft, 'is not of the form quorum <name>')
  if (draft.quorum !== undefined) refuse(draft, 'is a second quorum line')
  if (name !== noWitness && !draft.names.has(name)) refuse(draft, `has ${nameText(name)}, which no line above defines`)
  draft.quorum = name
}

function define(draft: Draft, name: string): void {
  if (name === noWitness) refuse(draft, 'defines none, which always means no witness')
  if (draft.names.has(name)) refuse(draft, `defines ${nameText(name)} again`)
  draft.names.set(name, false)
}

function keyOf(draft: Draft, octets: string, type: SignatureType): VerifierKey {
  let key: VerifierKey
  try {
    key = parseAnyKey(nameText(octets))
  } catch (error) {
    if (error instanceof DecodeError) refuse(draft, `has a key that cannot be read: ${error.message}`)
    throw error
  }
  const isNewer = type === signatureTypes.cosignature && !isKnown(key)
  if (key.type !== type && !isNewer) refuse(draft, `has a key for signatures of the type ${key.type}, not ${type}`)
  return key
}

function has(entries: readonly PolicyLog[], { publicKey }: VerifierKey): boolean {
  return entries.some(({ key }) => equalBytes(key.publicKey, publicKey))
}

function withUrl(url: string | undefined): { readonly url?: string } {
  return url === undefined ? {} : { url: nameText(url) }
}

function refuse({ line }: Draft, reason: string): never {
  throw new DecodeError('policy', `line ${line} ${reason}`)
}

/** True where the policy has a ledger. */
export function knows({ logs }: Policy, origin: string): boolean {
  return logs.some(({ key }) => key.name === origin)
}

/** Whether the quorum has witnessed, where the witnesses with these names have. */
export function quorumOf({ groups, quorum }: Policy, signed: Iterable<string>): Quorum {
  if (quorum === noWitness) return 'none'
  const witnessed = new Set(signed)
  for (const { name, least, members } of groups) {
    if (members.filter((member) => witnessed.has(member)).length >= least) witnessed.add(name)
  }
  return witnessed.has(quorum) ? 'met' : 'not met'
}

/** The text of a policy, without URLs: what a reader needs to check heads. Names that are not UTF-8 do not come through. */
export function policyText({ logs, witnesses, groups, quorum }: Policy): string {
  const lines = [
    ...logs.map(({ key }) => `log ${verifierKeyText(key)}`),
    ...witnesses.map(({ name, key }) => `witness ${name} ${verifierKeyText(key)}`),
    ...groups.map(({ name, least, members }) => `group ${name} ${least} ${members.join(' ')}`),
    `quorum ${quorum}`,
  ]
  return `${lines.join('\n')}\n`
}
