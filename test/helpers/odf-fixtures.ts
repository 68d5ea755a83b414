// Dataset directories in test/fixtures: chains that deployed ODF software wrote or accepted.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha3Hash } from '../../src/libraries/base/ids/identifiers.ts'
import { assert } from '../../src/libraries/base/assert.ts'
import { decodeBlock, type DecodedBlock } from '../../src/libraries/odf/block.ts'

const root = fileURLToPath(new URL('../fixtures/', import.meta.url))

export interface FixtureBlock extends DecodedBlock {
  readonly hash: string
  readonly bytes: Uint8Array
}

export interface FixtureDataset {
  readonly name: string
  readonly directory: string
  readonly head: string
  /** Oldest first. */
  readonly blocks: readonly FixtureBlock[]
}

function directoriesUnder(directory: string): string[] {
  if (existsSync(join(directory, 'refs', 'head'))) return [directory]
  const entries = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return entries.flatMap((entry) => directoriesUnder(join(directory, entry.name)))
}

function readDataset(directory: string): FixtureDataset {
  const head = readFileSync(join(directory, 'refs', 'head'), 'utf8')
  const blocks: FixtureBlock[] = []
  for (let hash: string | undefined = head; hash !== undefined;) {
    const bytes = new Uint8Array(readFileSync(join(directory, 'blocks', hash)))
    assert(sha3Hash(bytes) === hash, 'a block hashes to its name')
    const decoded = decodeBlock(bytes)
    blocks.unshift({ ...decoded, hash, bytes })
    hash = decoded.block.prevBlockHash
  }
  return { name: relative(root, directory), directory, head, blocks }
}

/** Every fixture dataset, its blocks found by following the links from its head. */
export function readFixtureDatasets(): FixtureDataset[] {
  return ['odf-chain', 'odf-datasets'].flatMap((folder) => directoriesUnder(join(root, folder))).map(readDataset)
}
