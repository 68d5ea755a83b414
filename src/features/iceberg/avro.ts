// Avro container files, as manifests and lists of them are: one block, no codec, written from values that stand in the order
// of their schema. The same values give the same bytes: the marker behind the block comes from its content.
// Source: https://avro.apache.org/docs/1.11.1/specification/ (Object Container Files, Binary Encoding).

import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { assert } from '../../libraries/base/assert.ts'
import { concatBytes, utf8 } from '../../libraries/base/bytes.ts'

const magic = utf8('Obj\u0001')
const markerBytes = 16

/** The binary form of values, one behind the other. */
export class AvroWriter {
  readonly #parts: Uint8Array[] = []
  #small: number[] = []

  /** An int or a long, from 0 to 2^52. */
  long(value: number): this {
    assert(value >= 0 && value <= 2 ** 52, 'counts, sizes and sequences of a table are small')
    let rest = 2 * value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#small.push((rest % 128) + 128)
    this.#small.push(rest)
    return this
  }

  /** Bytes with their length before them. */
  bytes(value: Uint8Array): this {
    return this.long(value.length).encoded(value)
  }

  text(value: string): this {
    return this.bytes(utf8(value))
  }

  /** Values that were encoded before. */
  encoded(value: Uint8Array): this {
    this.#flush()
    this.#parts.push(value)
    return this
  }

  /** An array, or a map by numbers, which is an array of its entries. */
  list<T>(items: readonly T[], item: (item: T) => void): this {
    if (items.length > 0) this.long(items.length)
    for (const one of items) item(one)
    return this.long(0)
  }

  finish(): Uint8Array {
    this.#flush()
    return concatBytes(this.#parts)
  }

  #flush(): void {
    this.#parts.push(Uint8Array.from(this.#small))
    this.#small = []
  }
}

/** A file of `records`, each encoded after `schema`. `metadata` stands in its header beside the schema. */
export function avroFile(
  schema: object,
  metadata: Readonly<Record<string, string>>,
  records: readonly Uint8Array[],
): Uint8Array {
  const content = concatBytes(records)
  const marker = sha256(content).subarray(0, markerBytes)
  const entries = Object.entries({ 'avro.schema': JSON.stringify(schema), 'avro.codec': 'null', ...metadata })
  const file = new AvroWriter().encoded(magic)
  file.list(entries, ([name, value]) => file.text(name).text(value)).encoded(marker)
  if (records.length > 0) file.long(records.length).bytes(content).encoded(marker)
  return file.finish()
}
