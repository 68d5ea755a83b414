// ODF metadata blocks as stored in `blocks/<hash>`: a Manifest FlatBuffer around a MetadataBlock FlatBuffer. The SHA3-256
// multihash of these bytes is the block's identity: what is stored is never encoded again.
// Source: Open Data Fabric specification, Metadata Chain; manifest versions 2 and 3 differ in the alignment of times.

import { must } from '../base/assert.ts'
import { DecodeError } from '../base/errors.ts'
import type { MetadataBlock } from '../model/events.ts'
import { decodeRoot } from './decoder.ts'
import { encodeRoot } from './encoder.ts'
import { FlatBufferReader } from '../base/flatbuffer-reader.ts'
import { FlatBufferWriter } from '../base/flatbuffer-writer.ts'

/** Version 3 is today's; version 2 is what deployed software up to mid 2026 wrote. */
export type ManifestVersion = 2 | 3

export interface DecodedBlock {
  readonly block: MetadataBlock
  readonly version: ManifestVersion
}

const metadataBlockKind = 0x40_0000
const timeAlignments = { 2: 1, 3: 4 } as const

/**
 * The bytes of `block`. Throws DecodeError for a malformed hash or DID; a member that breaks its type in any other way
 * is a programmer's error (AssertionFailed).
 */
export function encodeBlock(block: MetadataBlock, version: ManifestVersion = 3): Uint8Array {
  const content = encodeRoot('MetadataBlock', block, timeAlignments[version])
  const writer = new FlatBufferWriter()
  const contentAt = writer.byteVector(content)
  writer.startTable(3)
  writer.addU64(0, metadataBlockKind)
  writer.addI32(1, version)
  writer.addOffset(2, contentAt)
  return writer.finish(writer.endTable())
}

/** Reads a stored block. Throws DecodeError on anything that is not one, in time linear in its length. */
export function decodeBlock(bytes: Uint8Array): DecodedBlock {
  const reader = new FlatBufferReader(bytes, 'ODF manifest')
  const root = reader.root()
  const kind = reader.u64Field(root, 0)
  if (kind !== metadataBlockKind) reader.fail(`has the kind 0x${kind.toString(16)}, not that of a metadata block`)
  const version = reader.i32Field(root, 1)
  if (version !== 2 && version !== 3) throw new DecodeError('ODF manifest', `has the unsupported version ${version}`)
  const contentAt = reader.offset(root, 2)
  if (contentAt === 0) reader.fail('has no content', root.at)
  const decoded = decodeRoot('MetadataBlock', reader.byteVector(contentAt), must(timeAlignments[version], 'alignment'))
  // The tables that drove the decoder describe exactly this type.
  return { block: decoded as unknown as MetadataBlock, version }
}
