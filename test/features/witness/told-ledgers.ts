// Ledgers that say what a test wants them to say: trees over any entries, signed and served by their addresses.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { headText } from '../../../src/libraries/ledger/head.ts'
import { type Note, signNote } from '../../../src/libraries/ledger/note.ts'
import { TiledTree } from '../../../src/libraries/ledger/tiled-tree.ts'
import { entryBundle, fullTileWidth, tileName } from '../../../src/libraries/ledger/tiles.ts'
import { leafHash, treeRoot } from '../../../src/libraries/ledger/tree.ts'
import { addCheckpointBody } from '../../../src/libraries/ledger/witness.ts'
import { keyText, signer } from '../../libraries/ledger/keys.ts'
import { slowProof } from '../../libraries/ledger/rfc6962.ts'

/** Each has a key of its own. */
const names = [
  'same',
  'block',
  'batch',
  'row',
  'twice',
  'gap',
  'form',
  'newer',
  'stranger',
  'tile',
  'hidden',
  'many',
] as const
export type ToldName = (typeof names)[number]

const signerOf = (name: ToldName) => signer(keyOf(name))
const keyOf = (name: ToldName): number => 100 + names.indexOf(name)

function originOf(name: string): string {
  return `${name}.example/ledger`
}

/** The lines of a policy with all of these ledgers, served below an address. */
export function toldLines(url: string): string[] {
  return names.map((name) => `log ${keyText(originOf(name), keyOf(name), 1)} ${url}/${name}`)
}

function noteOf(name: ToldName, entries: readonly Uint8Array[]): Note {
  const root = treeRoot(entries.map(leafHash))
  const text = headText({ origin: originOf(name), size: entries.length, root })
  return { text, signatures: [signNote(text, originOf(name), signerOf(name))] }
}

export interface ToldLedgers {
  readonly url: string
  /** Serves a ledger with these entries, and gives the request for a cosignature of its head, from an earlier size on. */
  tell(name: ToldName, entries: readonly Uint8Array[], oldSize?: number): Uint8Array
  /** The head of a ledger with these entries. */
  note(name: ToldName, entries: readonly Uint8Array[]): Note
  /** Bytes by their path, which a test may change. */
  readonly files: Map<string, Uint8Array>
  close(): Promise<void>
}

export async function startToldLedgers(): Promise<ToldLedgers> {
  const files = new Map<string, Uint8Array>()
  const server = createServer((asked, answer) => {
    const bytes = files.get(asked.url ?? '')
    answer.writeHead(bytes === undefined ? 404 : 200).end(bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    files,
    tell: (name, entries, oldSize = 0) => {
      const tree = new TiledTree()
      for (const entry of entries) tree.append(leafHash(entry))
      for (const { tile, bytes } of tree.takeTiles()) files.set(`/${name}/${tileName(tile)}`, bytes)
      for (let index = 0; index * fullTileWidth < entries.length; index++) {
        const some = entries.slice(index * fullTileWidth, (index + 1) * fullTileWidth)
        files.set(`/${name}/${tileName({ level: 'entries', index, width: some.length })}`, entryBundle(some))
      }
      const proof = oldSize === 0 || oldSize === entries.length ? [] : slowProof(oldSize, entries.map(leafHash))
      return addCheckpointBody({ oldSize, proof, note: noteOf(name, entries) })
    },
    note: noteOf,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
