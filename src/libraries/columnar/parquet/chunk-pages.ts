// The pages of one column chunk, one at a time: header, checksum, bytes undone, dictionary kept, levels and values apart.
// What is open at the same time is counted. Reading, decompressing and checksums are handed in.
// Source: Apache Parquet, parquet.thrift, data pages of version 1 and 2.

import type { ColumnChunk } from './footer.ts'
import { withLength } from './fixed-values.ts'
import { encodings, type PageHeader, readPageHeader } from './page-header.ts'
import { damaged, unsupported } from './refusals.ts'
import { RunReader } from './runs.ts'

/** Bytes in which the header of a page usually ends, and in which it must. */
const headerBytes = 1024
const mostHeaderBytes = 16 * 1024 * 1024

/** What reading a file needs from outside. */
export interface PageSource {
  /** Bytes [start, end) of the file. */
  readonly at: (start: number, end: number) => Promise<Uint8Array>
  /** Turns a page of `codec` (its number in parquet.thrift) into its `length` bytes. Throws DecodeError, UnsupportedParquet. */
  readonly inflate: (codec: number, stored: Uint8Array, length: number) => Promise<Uint8Array> | Uint8Array
  /** CRC-32 of RFC 1952, unsigned; absent: checksums are not looked at. */
  readonly crc32?: (bytes: Uint8Array) => Promise<number> | number
  /** Takes or, below 0, gives back memory for an inflated page. Throws NodeError where it is too much. */
  readonly hold: (bytes: number) => void
  /** Bytes that are read ahead. */
  readonly windowBytes: number
}

/** Pages of a file of any writer, with what all open ones take. */
export interface CountedPages extends PageSource {
  /** True when so much is open that the next page may be too much. */
  readonly isCrowded: () => boolean
  /** Throws where nobody waits for the rows any more. */
  readonly demandCaller: () => void
}

/** How deep levels go. */
export interface LevelShape {
  readonly maxDefinition: number
  readonly maxRepetition: number
}

/** A page whose values are still encoded. Levels that the schema does not have are undefined. */
export interface DataPage {
  readonly entries: number
  readonly encoding: number
  /** True when it has a checksum, which leaves only its header unguarded. */
  readonly isChecked: boolean
  readonly definition: RunReader | undefined
  readonly repetition: RunReader | undefined
  readonly body: Uint8Array
}

/** A dictionary page. */
export interface DictionaryPage {
  readonly count: number
  readonly bytes: Uint8Array
}

/** Reads the pages of `chunk` in order. */
export class ChunkPages {
  /** Entries that pages still to come must have. */
  entriesLeft: number
  /** Pages handed out so far, for messages. */
  page = -1
  private readonly source: PageSource
  private readonly chunk: ColumnChunk
  private readonly shape: LevelShape
  private at: number
  private readonly end: number
  private window: Uint8Array = new Uint8Array(0)
  private windowStart = 0
  /** Whether the page last read has a checksum. */
  private isChecked = false
  private heldForPage = 0
  private heldForDictionary = 0
  /** Where the dictionary lies. */
  private dictionaryAt: number | undefined
  /** Where the page lies that was handed out last, and how many entries it has. */
  private pageAt = 0
  private pageEntries = 0
  private dictionary: DictionaryPage | undefined

  constructor(source: PageSource, chunk: ColumnChunk, shape: LevelShape) {
    this.source = source
    this.chunk = chunk
    this.shape = shape
    this.entriesLeft = chunk.values
    this.at = chunk.start
    this.end = chunk.start + chunk.storedBytes
  }

  /** The dictionary, given once: when it is asked for first after it was read. */
  takeDictionary(): DictionaryPage | undefined {
    const { dictionary } = this
    this.dictionary = undefined
    return dictionary
  }

  /** The page that was handed out last once more, with its dictionary, after `close`. Throws as `next`. */
  async again(): Promise<DataPage> {
    this.page -= this.dictionaryAt === undefined ? 1 : 2
    this.entriesLeft += this.pageEntries
    this.at = this.dictionaryAt ?? this.pageAt
    this.dictionaryAt = undefined
    return (await this.next()) ?? damaged('has changed while it was read')
  }

  /** The next page that has entries, or undefined behind the last. Throws DecodeError, UnsupportedParquet, NodeError. */
  async next(): Promise<DataPage | undefined> {
    this.source.hold(-this.heldForPage)
    this.heldForPage = 0
    while (this.entriesLeft > 0) {
      this.page++
      const headerAt = this.at
      const header = await this.header()
      const { kind, storedBytes, inflatedBytes } = header
      if (this.at + storedBytes > this.end) damaged('has a page that lies outside of its column')
      if (kind === 'other') {
        this.at += storedBytes
        continue
      }
      // Before anything is read for it, so that sizes that lie cost nothing.
      this.source.hold(inflatedBytes)
      if (kind === 'dictionary') this.holdDictionary(header, headerAt)
      else this.heldForPage = inflatedBytes
      const stored = await this.bytes(storedBytes)
      const { crc32 } = this.source
      this.isChecked = header.crc !== undefined && crc32 !== undefined
      if (this.isChecked && (await crc32?.(stored)) !== header.crc) {
        damaged('has a page whose checksum (CRC-32) is not that of its bytes')
      }
      if (kind === 'dictionary') {
        await this.readDictionary(header, stored)
        // What stands between is known where a page is read again.
        this.at = Math.max(this.at, this.pageAt)
        continue
      }
      if (!(header.entries >= 0 && header.entries <= this.entriesLeft))
        damaged('has more values in its pages than in its footer')
      const page = kind === 'dataV2' ? await this.dataV2(header, stored) : await this.dataV1(header, stored)
      this.entriesLeft -= header.entries
      this.pageAt = headerAt
      this.pageEntries = header.entries
      if (header.entries > 0) return page
      this.source.hold(-this.heldForPage)
      this.heldForPage = 0
    }
    if (this.isChecked && this.at !== this.end) damaged('has more pages than its values need')
    return undefined
  }

  /** Gives back what is held. */
  close(): void {
    this.source.hold(-this.heldForPage - this.heldForDictionary)
    this.heldForPage = 0
    this.heldForDictionary = 0
  }

  /** Counts a dictionary: its bytes, which are held, and where each value begins and ends. */
  private holdDictionary({ entries, inflatedBytes }: PageHeader, at: number): void {
    if (this.dictionaryAt !== undefined) damaged('has two dictionaries')
    this.dictionaryAt = at
    this.heldForDictionary = inflatedBytes
    if (!(entries >= 0 && entries <= inflatedBytes)) damaged('has a dictionary of more values than bytes')
    this.source.hold(8 * entries)
    this.heldForDictionary += 8 * entries
  }

  private async readDictionary(header: PageHeader, stored: Uint8Array): Promise<void> {
    if (header.encoding !== encodings.plain && header.encoding !== encodings.plainDictionary) {
      unsupported(`has a dictionary in the encoding ${header.encoding}`)
    }
    const bytes = await this.inflate(stored, header.inflatedBytes)
    this.dictionary = { count: header.entries, bytes }
  }

  private async dataV1(header: PageHeader, stored: Uint8Array): Promise<DataPage> {
    const { maxDefinition, maxRepetition } = this.shape
    const [definitionEncoding, repetitionEncoding] = header.levelEncodings
    if (maxDefinition > 0) checkLevelEncoding(definitionEncoding)
    if (maxRepetition > 0) checkLevelEncoding(repetitionEncoding)
    let body = await this.inflate(stored, header.inflatedBytes)
    let [repetition, definition]: (Uint8Array | undefined)[] = []
    if (maxRepetition > 0) {
      repetition = withLength(body)
      body = body.subarray(4 + repetition.length)
    }
    if (maxDefinition > 0) {
      definition = withLength(body)
      body = body.subarray(4 + definition.length)
    }
    return this.dataPage(header, { repetition, definition, body })
  }

  private async dataV2(header: PageHeader, stored: Uint8Array): Promise<DataPage> {
    const { definitionBytes, repetitionBytes, inflatedBytes, isCompressed } = header
    const levelBytes = repetitionBytes + definitionBytes
    const fits = repetitionBytes >= 0 && definitionBytes >= 0 && levelBytes <= Math.min(stored.length, inflatedBytes)
    if (!fits) damaged('has levels that lie outside of their page')
    const { maxDefinition, maxRepetition } = this.shape
    const isNeeded = (definitionBytes === 0 || maxDefinition > 0) && (repetitionBytes === 0 || maxRepetition > 0)
    if (!isNeeded) damaged('has levels that its schema does not have')
    const values = stored.subarray(levelBytes)
    const length = inflatedBytes - levelBytes
    if (!isCompressed && values.length !== length) damaged('has a page of another size than its header says')
    const body = isCompressed ? await this.inflate(values, length) : values
    const repetition = stored.subarray(0, repetitionBytes)
    return this.dataPage(header, { repetition, definition: stored.subarray(repetitionBytes, levelBytes), body })
  }

  private dataPage(
    { entries, encoding }: PageHeader,
    parts: { repetition: Uint8Array | undefined; definition: Uint8Array | undefined; body: Uint8Array },
  ): DataPage {
    return {
      entries,
      encoding,
      isChecked: this.isChecked,
      definition: levels(parts.definition, this.shape.maxDefinition),
      repetition: levels(parts.repetition, this.shape.maxRepetition),
      body: parts.body,
    }
  }

  private inflate(stored: Uint8Array, length: number): Promise<Uint8Array> | Uint8Array {
    // A page without values may still have a frame.
    if (length === 0) return stored.subarray(0, 0)
    return this.source.inflate(this.chunk.codec, stored, length)
  }

  /** Reads the header here; one that ends behind the window is tried again with more. */
  private async header(): Promise<PageHeader> {
    for (let wanted = headerBytes; ; wanted *= 4) {
      const room = Math.min(wanted, mostHeaderBytes, this.end - this.at)
      const bytes = await this.peek(room)
      try {
        const header = readPageHeader(bytes, 0)
        this.at += header.headerBytes
        return header
      } catch (error) {
        if (room < wanted) throw error
      }
    }
  }

  /** At least the next `length` bytes, or what there is of the chunk. */
  private async peek(length: number): Promise<Uint8Array> {
    const from = this.at - this.windowStart
    if (from < 0 || from + length > this.window.length) {
      const end = Math.min(this.end, this.at + Math.max(length, this.source.windowBytes))
      this.window = await this.source.at(this.at, end)
      this.windowStart = this.at
    }
    return this.window.subarray(this.at - this.windowStart)
  }

  private async bytes(length: number): Promise<Uint8Array> {
    const start = this.at
    const from = start - this.windowStart
    this.at = start + length
    if (from + length <= this.window.length) return this.window.subarray(from, from + length)
    const bytes = await this.source.at(start, this.at)
    // The next header is read with what comes after it.
    this.window = new Uint8Array(0)
    return bytes
  }
}

function checkLevelEncoding(encoding: number): void {
  if (encoding === encodings.bitPacked) unsupported('has levels in the obsolete encoding BIT_PACKED')
  if (encoding !== encodings.rle) damaged(`has levels in the encoding ${encoding}, which levels do not have`)
}

function levels(runs: Uint8Array | undefined, max: number): RunReader | undefined {
  return runs === undefined || max === 0 ? undefined : new RunReader(runs, 32 - Math.clz32(max))
}
