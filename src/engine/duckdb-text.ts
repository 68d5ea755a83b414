// Text out of the engine, whole: the binding's decoder drops U+FEFF at the start of a text, which is a character of the
// value like any other. It is replaced by one that keeps it, once in a process.

import accessors from '@duckdb/node-api/lib/vectors/dataAccessors.js'
import { assert } from '../lib/assert.ts'

const probe = Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)

/** Makes the binding keep U+FEFF. To be called before the first answer is read. */
export function keepByteOrderMarks(): void {
  Object.assign(accessors, { textDecoder: new TextDecoder('utf-8', { ignoreBOM: true }) })
  assert(accessors.textDecoder.decode(probe) === '\ufeffa', 'the binding decodes text with the decoder that was set')
}
