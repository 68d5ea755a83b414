// The block vectors as values of the model: u64 above 2^53-1, decimal strings in the file, become bigint.

import { readFileSync } from 'node:fs'
import type { MetadataBlock } from '../../src/libraries/model/events.ts'

export interface BlockVector {
  readonly name: string
  readonly version: 2 | 3
  readonly block: MetadataBlock
  readonly bytes: Uint8Array
  readonly hash: string
}

export interface InvalidVector {
  readonly name: string
  readonly reason: string
  readonly bytes: Uint8Array
}

const wideNumbers = new Set([
  'prevOffset',
  'newOffset',
  'start',
  'end',
  'size',
  'sequenceNumber',
  'chainId',
  'fixedLength',
])

function widen(name: string, value: unknown): unknown {
  return wideNumbers.has(name) && typeof value === 'string' ? BigInt(value) : value
}

interface VectorFile {
  readonly vectors: readonly { name: string; version: 2 | 3; block: MetadataBlock; bytesHex: string; hash: string }[]
  readonly invalid: readonly { name: string; reason: string; bytesHex: string }[]
}

// The file's own `format` member documents this shape.
const file = JSON.parse(readFileSync(new URL('../vectors/blocks.json', import.meta.url), 'utf8'), widen) as VectorFile

export const blockVectors: readonly BlockVector[] = file.vectors.map(({ name, version, block, bytesHex, hash }) => ({
  name,
  version,
  block,
  bytes: Uint8Array.from(Buffer.from(bytesHex, 'hex')),
  hash,
}))

export const invalidVectors: readonly InvalidVector[] = file.invalid.map(({ name, reason, bytesHex }) => ({
  name,
  reason,
  bytes: Uint8Array.from(Buffer.from(bytesHex, 'hex')),
}))
