// The two heads that the store has of a ledger: the one that everybody is shown, and the newest whose quorum has cosigned, where
// the one that is shown has none. Each has the lines of witnesses that are good; every keeper adds its own.

import { equalBytes, utf8 } from '../../libraries/base/bytes.ts'
import { cosignedAt } from '../../libraries/ledger/cosignature.ts'
import type { Head } from '../../libraries/ledger/head.ts'
import { isBy, noteOf, type NoteSignature } from '../../libraries/ledger/note.ts'
import { openHead } from '../../libraries/ledger/open-head.ts'
import { type Policy, type Quorum, quorumOf } from '../../libraries/ledger/policy.ts'
import { ledgerMetKey, ledgerObjectKey } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'

/** A line of a witness, and when it has signed, in seconds since 1970. */
export interface Cosigned {
  readonly line: NoteSignature
  readonly at: number
}

/** A head that the ledger has signed, with the newest line of each witness, by its name in the policy. */
export interface CosignedHead {
  readonly head: Head
  readonly text: string
  /** That of the ledger. */
  readonly own: NoteSignature
  readonly lines: ReadonlyMap<string, Cosigned>
}

export interface HeadsDeps {
  readonly store: ObjectStore
  readonly ledger: number
  /** One log, the ledger itself, and the witnesses that count. */
  readonly policy: Policy
}

/** Whether the quorum of the policy has cosigned a head. */
export function quorumOver(policy: Policy, { lines }: Pick<CosignedHead, 'lines'>): Quorum {
  return quorumOf(policy, lines.keys())
}

/** The head of these bytes; undefined where they are none of this ledger, or have a line that is not good. */
export function readHead(policy: Policy, bytes: Uint8Array | undefined): CosignedHead | undefined {
  const opened = bytes && openHead(bytes, policy)
  if (opened?.ok !== true) return undefined
  const { head, note } = opened
  const [log] = policy.logs
  const own = log && note.signatures.find((line) => isBy(line, log.key))
  if (own === undefined) return undefined
  const lines = new Map<string, Cosigned>()
  for (const { name, key } of policy.witnesses) {
    const line = note.signatures.find((one) => isBy(one, key))
    const at = line && cosignedAt(note.text, key, line.signature)
    if (line !== undefined && at !== undefined) lines.set(name, { line, at })
  }
  return { head, text: note.text, own, lines }
}

/** The note of a head, witnesses in the order of the policy. */
export function noteBytes({ witnesses }: Policy, { text, own, lines }: CosignedHead): Uint8Array {
  const good = witnesses.map(({ name }) => lines.get(name)?.line).filter((line) => line !== undefined)
  return utf8(noteOf({ text, signatures: [own, ...good] }))
}

/** The head that is shown, and the newest whose quorum has cosigned, which may be the same; with their notes. */
export async function readHeads(deps: HeadsDeps): Promise<{
  readonly shown: CosignedHead | undefined
  readonly met: CosignedHead | undefined
}> {
  const { store, ledger, policy } = deps
  const shown = readHead(policy, await store.get(ledgerObjectKey(ledger, 'checkpoint')))
  if (shown !== undefined && quorumOver(policy, shown) === 'met') return { shown, met: shown }
  const met = readHead(policy, await store.get(ledgerMetKey(ledger)))
  return { shown, met: met !== undefined && quorumOver(policy, met) === 'met' ? met : undefined }
}

/**
 * Shows a head to everybody, unless a larger one is shown already, with the lines that other keepers have. A head whose quorum is
 * met stays to be found. The head that is shown then.
 */
export async function showHead(deps: HeadsDeps, head: CosignedHead): Promise<CosignedHead> {
  const { store, ledger, policy } = deps
  const key = ledgerObjectKey(ledger, 'checkpoint')
  const bytes = await store.get(key)
  const there = readHead(policy, bytes)
  if (there !== undefined && there.head.size > head.head.size) {
    await keepMet(deps, head)
    return there
  }
  const shown = there?.text === head.text ? joined(there, head) : head
  const note = noteBytes(policy, shown)
  if (bytes !== undefined && equalBytes(bytes, note)) return shown
  if (there !== undefined && quorumOver(policy, shown) !== 'met') await keepMet(deps, there)
  await store.replace(key, note)
  return shown
}

/** Keeps a head whose quorum is met to be found, unless that of a larger one is. */
export async function keepMet(deps: HeadsDeps, head: CosignedHead): Promise<void> {
  const { store, ledger, policy } = deps
  if (quorumOver(policy, head) !== 'met') return
  const key = ledgerMetKey(ledger)
  const kept = readHead(policy, await store.get(key))
  if (kept === undefined || kept.head.size < head.head.size) await store.replace(key, noteBytes(policy, head))
}

/** The newer line of each witness. */
function joined(there: CosignedHead, own: CosignedHead): CosignedHead {
  const lines = new Map(there.lines)
  for (const [name, line] of own.lines) if (line.at >= (lines.get(name)?.at ?? 0)) lines.set(name, line)
  return { ...own, lines }
}
