// Texts that stand in nearly every record, compared four bytes at a time.

import { assert } from '../lib/assert.ts'

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

export class FixedText {
  readonly length: number
  private readonly words: Int32Array
  private readonly lastWord: number

  /** `text` has four ASCII characters at least. */
  constructor(text: string) {
    assert(text.length >= 4, 'a text of four bytes or more')
    const bytes = new TextEncoder().encode(text)
    const view = new DataView(bytes.buffer)
    this.length = bytes.length
    this.words = Int32Array.from({ length: bytes.length >> 2 }, (_, i) => view.getInt32(4 * i, true))
    // Overlaps the word before, so that no byte is left over.
    this.lastWord = view.getInt32(bytes.length - 4, true)
  }

  /** Whether the text stands at `at` and ends before `end`, which is no further than the view. */
  standsAt(view: DataView, at: number, end: number): boolean {
    const { length, words } = this
    if (at + length > end) return false
    for (let i = 0; i < words.length; i++) if (view.getInt32(at + 4 * i, true) !== words[i]) return false
    return view.getInt32(at + length - 4, true) === this.lastWord
  }
}
