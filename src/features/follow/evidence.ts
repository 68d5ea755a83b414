// What a replica keeps when the node that it follows says of a chain what cannot be: a record of what was seen, with the
// blocks, as files under the data directory. They are never removed here; `proofstream doctor` names them.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Finding, warn } from '../../node/upkeep/finding.ts'
import { createPrivate, ifThere, makeDurableDirectory, readText } from '../../node/machine/disk/files.ts'
import { hashPattern } from '../../libraries/base/ids/identifiers.ts'
import { list, natural, object, oneOf, type RecordCodec, recordCodec, text } from '../../libraries/base/json/shape.ts'
import { decodeUtf8, utf8 } from '../../libraries/base/bytes.ts'

const point = object({ sequence: natural, hash: text(hashPattern) })

/**
 * `fork`: the origin's chain has another block at this place. `rolled-back`: its head is a block that others follow here.
 * `invalid`: its next block breaks a rule of chains, or is not what its slice or its hash says.
 */
export const breachCodec = recordCodec(
  'evidence',
  object({
    kind: oneOf('fork', 'rolled-back', 'invalid'),
    dataset: text(),
    alias: text(),
    /** Address of the node that was followed. */
    origin: text(),
    /** RFC 3339. */
    at: text(),
    reason: text(),
    /** The block of this copy. */
    ours: point,
    /** What the origin has in its place, or after it. */
    theirs: point,
    /** Bytes of the blocks that could be had, in base64. */
    blocks: list(object({ hash: text(hashPattern), base64: text() })),
  }),
)

export type Breach = typeof breachCodec extends RecordCodec<infer T> ? T : never

/** Keeps a breach under `dir`; once, however often it is seen. Durable when it resolves. Throws what the file system throws. */
export async function keepBreach(dir: string, breach: Breach): Promise<void> {
  await makeDurableDirectory(dir)
  const { dataset, kind, ours, theirs } = breach
  const folded = dataset.replaceAll(':', '-')
  const name = `${folded}.${kind}.${ours.sequence}.${ours.hash.slice(-16)}.${theirs.hash.slice(-16)}.json`
  await createPrivate(join(dir, name), decodeUtf8(breachCodec.encode(breach)))
}

/** Every breach that was kept under `dir`, oldest first. Throws DecodeError, what the file system throws. */
export async function readBreaches(dir: string): Promise<readonly Breach[]> {
  const names = (await ifThere(readdir(dir))) ?? []
  const found: Breach[] = []
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const kept = await readText(join(dir, name))
    if (kept !== undefined) found.push(breachCodec.decode(utf8(kept)))
  }
  return found.sort((a, b) => (a.at < b.at ? -1 : 1))
}

/** What `doctor` says of chains that became others at the node that is followed. */
export async function inspectEvidence(evidence: string): Promise<readonly Finding[]> {
  return (await readBreaches(evidence)).map(({ alias, kind, at, reason, ours, theirs }) => {
    const hashes = `here ${ours.sequence} ${ours.hash}, there ${theirs.sequence} ${theirs.hash}`
    const found = `${alias} became another chain at its origin (${kind}, ${at}): ${hashes}. ${reason}`
    return warn('evidence', found, `Both blocks are in ${evidence}; docs/replicas.md says what ends the halt.`)
  })
}
