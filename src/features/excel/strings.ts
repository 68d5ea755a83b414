// The shared strings of a workbook: texts that cells refer to by number. They are held as one array of bytes.

import { Buffer } from 'node:buffer'
import { grownWords } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { ZipEntry } from '../../libraries/formats/zip.ts'
import { zipHints } from './faults.ts'
import { longestText, unescaped, type XmlHandler, XmlReader } from './xml.ts'

const mostBytes = 128 * 1024 * 1024
/** A column of a full sheet has a million. */
const mostStrings = 8 * 1024 * 1024

export class SharedStrings implements XmlHandler {
  /** Text number i is `bytes[start(i), end(i))`. */
  readonly bytes: Buffer
  count = 0
  #ends: Int32Array = new Int32Array(1024)
  #text = ''
  #isText = false
  /** Inside of what tells how a text is spoken. */
  #isPhonetic = false
  readonly #xml: XmlReader

  static async read(entry: ZipEntry | undefined): Promise<SharedStrings> {
    const strings = new SharedStrings(entry)
    if (entry === undefined) return strings
    for await (const chunk of entry.read()) strings.#xml.push(chunk)
    strings.#xml.finish()
    return strings
  }

  private constructor(entry: ZipEntry | undefined) {
    const { name, bytes } = entry ?? { name: '', bytes: 0 }
    // Texts are no longer than their XML. Memory that is not written to costs nothing.
    this.bytes = Buffer.allocUnsafeSlow(Math.min(bytes, mostBytes))
    this.#xml = new XmlReader(name, this)
  }

  start(index: number): number {
    return index === 0 ? 0 : this.end(index - 1)
  }

  end(index: number): number {
    return this.#ends[index] ?? 0
  }

  open(name: string): void {
    if (name === 'si') this.#text = ''
    else if (name === 'rPh') this.#isPhonetic = true
    else if (name === 't') this.#isText = !this.#isPhonetic
  }

  text(text: string): void {
    if (this.#isText) this.#text += text
    if (this.#text.length > longestText) throw this.#xml.fault(`its text ${this.count + 1} is too long.`)
  }

  close(name: string): void {
    if (name === 't') this.#isText = false
    else if (name === 'rPh') this.#isPhonetic = false
    else if (name === 'si') this.#add()
  }

  #add(): void {
    const text = unescaped(this.#text)
    if (text === undefined) throw this.#xml.fault(`its text ${this.count + 1} has half a character.`)
    const start = this.start(this.count)
    const isFull = this.count === mostStrings || start + Buffer.byteLength(text) > this.bytes.length
    if (isFull) {
      const message = `The workbook has more than ${mostBytes} bytes, or ${mostStrings}, of texts. Nothing was stored.`
      throw new NodeError('BodyTooLarge', message, { hint: zipHints.tooLarge })
    }
    if (this.count === this.#ends.length) this.#ends = grownWords(this.#ends, 2 * this.count)
    this.#ends[this.count] = start + this.bytes.write(text, start)
    this.count += 1
  }
}
