// Texts that stand in nearly every feature, compared eight bytes at a time: 15 % of the time to read points.

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

export class FixedText {
  readonly length: number
  // Eight bytes of ASCII are a double that equals no other: neither zero nor NaN.
  private readonly words: Float64Array
  private readonly lastWord: number

  /** `text` has eight ASCII characters at least. */
  constructor(text: string) {
    const view = new DataView(new TextEncoder().encode(text).buffer)
    const { length } = text
    this.length = length
    this.words = Float64Array.from({ length: Math.floor((length - 1) / wordBytes) }, (_, i) =>
      view.getFloat64(wordBytes * i, true),
    )
    // It overlaps the one before, so that no byte is left over.
    this.lastWord = view.getFloat64(length - wordBytes, true)
  }

  /** Whether the text stands at `at` and ends before `end`, which is no further than the view. */
  standsAt(view: DataView, at: number, end: number): boolean {
    const { length, words } = this
    if (at + length > end) return false
    for (let i = 0; i < words.length; i++) if (view.getFloat64(at + wordBytes * i, true) !== words[i]) return false
    return view.getFloat64(at + length - wordBytes, true) === this.lastWord
  }
}
