// Texts that stand in nearly every record, compared eight bytes at a time.

import { assert } from '../../lib/assert.ts'

/** The bytes last looked at, as words. */
export class WordView {
  view: DataView = new DataView(new ArrayBuffer(0))
  private bytes: Uint8Array | undefined = undefined

  /** Looks at `bytes` from now on. */
  look(bytes: Uint8Array): void {
    if (this.bytes === bytes) return
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }
}

const wordBytes = 8
const halfBytes = 4

export class FixedText {
  readonly length: number
  // Eight bytes of ASCII are a double that equals no other: neither zero nor NaN.
  private readonly words: Float64Array
  private readonly lastWord: number = 0
  // Texts shorter than a word.
  private readonly firstHalf: number
  private readonly lastHalf: number

  /** `text` has four ASCII characters at least. */
  constructor(text: string) {
    assert(text.length >= halfBytes, 'a text of four bytes or more')
    const bytes = new TextEncoder().encode(text)
    const { length } = bytes
    const view = new DataView(bytes.buffer)
    this.length = length
    this.words = Float64Array.from({ length: Math.floor((length - 1) / wordBytes) }, (_, i) =>
      view.getFloat64(wordBytes * i, true),
    )
    // The last one overlaps the one before, so that no byte is left over.
    if (length >= wordBytes) this.lastWord = view.getFloat64(length - wordBytes, true)
    this.firstHalf = view.getInt32(0, true)
    this.lastHalf = view.getInt32(length - halfBytes, true)
  }

  /** Whether the text stands at `at` and ends before `end`, which is no further than the view. */
  standsAt(view: DataView, at: number, end: number): boolean {
    const { length, words } = this
    if (at + length > end) return false
    if (length < wordBytes) {
      return (
        view.getInt32(at, true) === this.firstHalf && view.getInt32(at + length - halfBytes, true) === this.lastHalf
      )
    }
    for (let i = 0; i < words.length; i++) if (view.getFloat64(at + wordBytes * i, true) !== words[i]) return false
    return view.getFloat64(at + length - wordBytes, true) === this.lastWord
  }
}
