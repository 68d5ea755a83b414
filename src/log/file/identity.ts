// Who a file log is, and how its frames are written: the file `id`. A log that is made now has a number of its own,
// which goes into the checksum of every frame, so that no message can hold bytes that pass for a frame of its log.
// `<32 hex digits>`: an older log, whose frames have no number. `<32 hex digits> <16 hex digits> <8 hex digits>`: id,
// number, and the checksum of both, because with a wrong number every frame would look torn.

import { randomBytes } from '../../ids/native-crypto.ts'
import { fromHex, toHex, utf8 } from '../../lib/bytes.ts'
import { crc32c } from '../../lib/crc32c.ts'
import { HaltError } from '../../model/errors.ts'
import type { FrameForm } from './frame.ts'

export interface LogIdentity {
  readonly id: string
  readonly form: FrameForm
}

/** Frames of older logs. */
export const plainForm: FrameForm = { isNumbered: false, seed: 0 }

const plain = /^([0-9a-f]{32})\n$/
const numbered = /^([0-9a-f]{32}) ([0-9a-f]{16}) ([0-9a-f]{8})\n$/

/** The text of a new log's `id`. */
export function newIdentityText(): string {
  const text = `${toHex(randomBytes(16))} ${toHex(randomBytes(8))}`
  return `${text} ${checksumOf(text)}\n`
}

/** Throws HaltError `LogDamaged` when the text is none of a log's. */
export function parseIdentity(text: string): LogIdentity {
  const [, old] = plain.exec(text) ?? []
  if (old !== undefined) return { id: old, form: plainForm }
  const [, id = '', number = '', checksum] = numbered.exec(text) ?? []
  const bytes = fromHex(number)
  if (bytes === undefined || checksum !== checksumOf(`${id} ${number}`)) {
    throw new HaltError('LogDamaged', 'the file id does not hold the identity of a log')
  }
  return { id, form: { isNumbered: true, seed: crc32c(bytes) } }
}

/** Without its identity nobody can tell the frames of a log from torn ones. */
export function withoutIdentity(): HaltError {
  return new HaltError('LogDamaged', 'the file id is missing although there are segments; put it back from a backup')
}

function checksumOf(text: string): string {
  return crc32c(utf8(text)).toString(16).padStart(8, '0')
}
