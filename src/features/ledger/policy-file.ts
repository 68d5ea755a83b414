// The policy of a node: a file that names the witnesses of its ledger, those that it asks and how many of them count, and the
// ledgers that it witnesses itself.

import { open } from 'node:fs/promises'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import { parsePolicy, type Policy, type PolicyWitness, quorumOf } from '../../libraries/ledger/policy.ts'
import { parseVerifierKey, verifierKeyText } from '../../libraries/ledger/verifier-key.ts'

/** No policy is longer; what follows of the file is not read. */
const policyBytesMost = 262_144

/** The policy in a file. Throws NodeError `InvalidParameter`, which names the line at fault. */
export async function readPolicy(path: string): Promise<Policy> {
  return (await read(path)).policy
}

async function read(path: string): Promise<{ readonly bytes: Uint8Array; readonly policy: Policy }> {
  const bytes = await readSome(path).catch((error: unknown) => {
    throw invalidPolicy(path, error instanceof Error ? error.message : 'it cannot be read', error)
  })
  try {
    return { bytes, policy: parsePolicy(bytes) }
  } catch (error) {
    if (error instanceof DecodeError) throw invalidPolicy(path, error.message, error)
    throw error
  }
}

/** The same of a ledger that asks its witnesses: each has an address, or is not needed. Throws as `readPolicy`. */
export async function readAskedPolicy(path: string): Promise<Policy> {
  const { bytes, policy } = await read(path)
  const strange = policy.witnesses.find(({ url }) => url !== undefined && !isAddress(url))
  if (strange !== undefined) {
    throw invalidPolicy(path, `${lineOf(bytes, strange)} has ${strange.url}, which is no http or https address`)
  }
  const asked = policy.witnesses.filter(({ url }) => url !== undefined).map(({ name }) => name)
  if (quorumOf(policy, asked) === 'not met') {
    throw invalidPolicy(path, 'its quorum needs witnesses without an address, which nobody can ask')
  }
  // A node's own names follow from its origin, which is known later.
  return { ...policy, witnesses: policy.witnesses.map((witness) => ({ ...witness, line: lineOf(bytes, witness) })) }
}

async function readSome(path: string): Promise<Uint8Array> {
  const file = await open(path)
  try {
    const buffer = new Uint8Array(policyBytesMost + 1)
    let length = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length)
      if (bytesRead === 0) return buffer.subarray(0, length)
      length += bytesRead
    }
  } finally {
    await file.close()
  }
}

function isAddress(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, username, password, search, hash } = new URL(url)
  return /^https?:$/.test(protocol) && username + password + search + hash === ''
}

function lineOf(bytes: Uint8Array, { key }: Pick<PolicyWitness, 'key'>): string {
  const lines = new TextDecoder().decode(bytes).split('\n')
  return `line ${1 + lines.findIndex((line) => line.includes(verifierKeyText(key)))}`
}

/** Throws NodeError `InvalidParameter` where a witness of the policy is the node itself, by any name that its ledgers have had: nobody would be outside. */
export function refuseOwnWitness(path: string, policy: Policy, origins: readonly string[]): void {
  const names = origins.flatMap((origin) => [`${origin}/witness`, `${origin}/follower`])
  const own = policy.witnesses.find(({ key }) => names.includes(key.name))
  if (own === undefined) return
  const line = 'line' in own ? `${String(own.line)} names` : 'it names'
  throw invalidPolicy(path, `${line} ${own.key.name}, which is this node itself`)
}

/** What a policy says of one ledger, or of one that nobody witnesses: its own key alone as a log, and the witnesses. */
export function policyOf(key: string, policy?: Policy): Policy {
  const logs = [{ key: parseVerifierKey(key) }]
  return policy === undefined ? { logs, witnesses: [], groups: [], quorum: 'none' } : { ...policy, logs }
}

function invalidPolicy(path: string, reason: string, cause?: unknown): NodeError {
  return new NodeError('InvalidParameter', `The policy ${path} cannot be used: ${reason}.`, {
    hint: 'It has the form of C2SP tlog-policy: lines with log, witness, group, and one with quorum.',
    ...(cause !== undefined && { cause }),
  })
}
