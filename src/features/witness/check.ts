// What `fsck` finds in what a witness over a store has cosigned of ledgers elsewhere, and has kept as evidence. Signatures are not
// looked at: whose keys count is said elsewhere.

import { toHex, utf8 } from '../../libraries/base/bytes.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { parseChecked } from '../../libraries/ledger/checked.ts'
import { evidenceCodec } from '../../libraries/ledger/evidence.ts'
import { type Head, parseHead } from '../../libraries/ledger/head.ts'
import { parseNote } from '../../libraries/ledger/note.ts'
import { numberOfName, witnessPrefix } from '../../node/store/layout.ts'
import type { ObjectStore } from '../../node/store/object-store.ts'
import { type AddProblem, sound } from '../../node/upkeep/report.ts'

export async function checkWitness(store: ObjectStore, add: AddProblem): Promise<void> {
  for (const folder of await store.list(witnessPrefix)) {
    const prefix = `${witnessPrefix}/${folder}`
    if (folder === 'keys') continue
    for (const name of await store.list(prefix)) {
      const key = `${prefix}/${name}`
      if (name === 'evidence') await checkEvidence(store, key, add)
      else if (name === 'checked') await sound(key, checkedAt(store, key), add)
      else if (numberOfName(name) === undefined) add('UnknownObject', `${key} is no cosigned head`)
      else {
        const head = await sound(key, headAt(store, key), add)
        if (head !== undefined && toHex(sha256(utf8(head.origin))) !== folder) {
          add('RecordDisagrees', `${key} is of the ledger ${head.origin}`)
        }
      }
    }
  }
}

/** Undefined where it has gone since it was listed. Throws DecodeError. */
async function headAt(store: ObjectStore, key: string): Promise<Head | undefined> {
  const bytes = await store.get(key)
  return bytes && parseHead(parseNote(bytes).text)
}

/** Throws DecodeError. */
async function checkedAt(store: ObjectStore, key: string): Promise<void> {
  const bytes = await store.get(key)
  if (bytes !== undefined) await parseChecked(bytes)
}

async function checkEvidence(store: ObjectStore, prefix: string, add: AddProblem): Promise<void> {
  for (const name of await store.list(prefix)) {
    await sound(`${prefix}/${name}`, evidenceAt(store, prefix, name), add)
  }
}

/** Throws DecodeError. */
async function evidenceAt(store: ObjectStore, prefix: string, name: string): Promise<void> {
  const bytes = await store.get(`${prefix}/${name}`)
  if (bytes === undefined) return
  const { text } = parseNote(utf8(evidenceCodec.decode(bytes).signed))
  if (toHex(sha256(utf8(text))) !== name) throw new DecodeError('evidence', 'is of another head than its name says')
}
