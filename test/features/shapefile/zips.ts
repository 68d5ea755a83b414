// Zips for tests, made byte by byte so that each part of them can lie.

import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'

export interface Entry {
  readonly name: string
  readonly content: Uint8Array
  /** Stored as it is. */
  readonly stored?: boolean
  /** Bytes in place of the compressed content. */
  readonly raw?: Uint8Array
  /** What the directory says in place of the truth. */
  readonly says?: Partial<Record<'size' | 'packed' | 'crc' | 'method' | 'flags' | 'offset', number>>
}

export function zipOf(entries: readonly Entry[], comment = ''): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content, stored = false, raw, says = {} } of entries) {
    const packed = raw ?? (stored ? content : deflateRawSync(content))
    const path = Buffer.from(name)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(says.flags ?? 0x800, 2)
    facts.writeUInt16LE(says.method ?? (stored ? 0 : 8), 4)
    facts.writeUInt32LE(says.crc ?? crc32(content), 10)
    facts.writeUInt32LE(says.packed ?? packed.length, 14)
    facts.writeUInt32LE(says.size ?? content.length, 18)
    facts.writeUInt16LE(path.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, path, packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(says.offset ?? offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), facts, rest, path]))
    files.push(local)
    offset += local.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(offset, 16)
  end.writeUInt16LE(comment.length, 20)
  return Buffer.concat([...files, listed, end, Buffer.from(comment)])
}

/** The files of a zip that Python made: deflated, sizes in the local headers. */
export function entriesOf(zip: Buffer): Entry[] {
  const entries: Entry[] = []
  for (let at = 0; zip.readUInt32LE(at) === 0x04034b50;) {
    const packed = zip.readUInt32LE(at + 18)
    const nameBytes = zip.readUInt16LE(at + 26)
    const start = at + 30 + nameBytes + zip.readUInt16LE(at + 28)
    const name = zip.toString('utf8', at + 30, at + 30 + nameBytes)
    entries.push({ name, content: inflateRawSync(zip.subarray(start, start + packed)) })
    at = start + packed
  }
  return entries
}

/** The zip with other bytes in the files whose names end so. */
export function changed(zip: Buffer, ending: string, change: (bytes: Buffer) => Uint8Array): Buffer {
  const entries = entriesOf(zip).map((entry) =>
    entry.name.endsWith(ending) ? { ...entry, content: change(Buffer.from(entry.content)) } : entry,
  )
  return zipOf(entries)
}

/** The zip without the files whose names end so. */
export function without(zip: Buffer, ...endings: readonly string[]): Buffer {
  return zipOf(entriesOf(zip).filter(({ name }) => !endings.some((ending) => name.endsWith(ending))))
}
