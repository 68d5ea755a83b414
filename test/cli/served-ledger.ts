// A ledger behind an address of its own, served as a node serves it, and in the ways in which a hostile one would: what is under
// any path can be replaced.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toHex, utf8 } from '../../src/libraries/base/bytes.ts'
import { defined } from '../../src/libraries/base/collections.ts'
import { TiledTree } from '../../src/libraries/ledger/tiled-tree.ts'
import { entryBundle, grownTiles, tileName } from '../../src/libraries/ledger/tiles.ts'
import { entryBytes } from '../../src/libraries/ledger/entry.ts'
import { statementBytes, statementEntry } from '../../src/libraries/ledger/statement.ts'
import { leafHash, treeRoot } from '../../src/libraries/ledger/tree.ts'
import type { NodeKey } from '../../src/libraries/proof/sign.ts'
import { keyText, origin, signedHead, twoOfThree } from '../libraries/ledger/keys.ts'
import { nodeKey } from '../libraries/ledger/receipts.ts'

/** What is under a path; a function answers itself. */
export type Served = Map<string, Uint8Array | string | ((response: ServerResponse, url: URL) => void)>

/** The statement with which a ledger begins, by the key of its node. */
export function firstStatement(key: NodeKey = nodeKey): Uint8Array {
  const ledger = { origin, keys: [keyText(origin, 1, 1)] }
  return statementBytes({ ledger, version: '0.3.0', engines: [], retired: [], time: '2026-05-01T00:00:00.000Z' }, key)
}

export function headOf(entries: readonly Uint8Array[], witnesses?: readonly number[]): Uint8Array {
  const tree = { size: entries.length, root: treeRoot(entries.map(leafHash)) }
  return signedHead(tree, witnesses === undefined ? {} : { witnesses })
}

/** All that a ledger of these entries serves, behind a first statement. */
export function servedLedger(blocks: readonly Uint8Array[], witnesses?: readonly number[]) {
  const statement = firstStatement()
  const { hash } = statementEntry(statement)
  const entries = [entryBytes({ kind: 'statement', hash }), ...blocks]
  const head = headOf(entries, witnesses)
  const files = servedTree(entries, head)
  files.set('/ledger/policy', twoOfThree).set(`/ledger/statements/${toHex(hash)}`, statement)
  return { entries, head, files }
}

/** The tiles and the head of these entries. */
export function servedTree(entries: readonly Uint8Array[], head: Uint8Array): Served {
  const files: Served = new Map([['/ledger/checkpoint', head]])
  const tree = new TiledTree()
  for (const entry of entries) tree.append(leafHash(entry))
  for (const { tile, bytes } of tree.takeTiles()) files.set(`/ledger/${tileName(tile)}`, bytes)
  for (const tile of grownTiles(0, entries.length)) {
    if (tile.level !== 'entries') continue
    const some = entries.slice(tile.index * 256, tile.index * 256 + tile.width)
    files.set(`/ledger/${tileName(tile)}`, entryBundle(some))
  }
  return files
}

/** Serves files; for all others what the node at `behind` says, or 404 as nodes say it. */
export async function serve(
  files: Served,
  behind?: string,
): Promise<AsyncDisposable & { readonly url: string; readonly asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const file = files.get(path.split('?')[0] ?? '')
    if (typeof file === 'function') return file(response, new URL(path, 'http://node'))
    if (file !== undefined) return response.writeHead(200).end(typeof file === 'string' ? utf8(file) : file)
    if (behind !== undefined) return void pass(behind, request, response)
    const error = { status: 404, message: `There is no ${path}.`, error: { kind: 'RouteNotFound' } }
    return response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function pass(behind: string, { url = '', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  const { authorization, accept = '*/*' } = headers
  const answer = await fetch(`${behind}${url}`, { headers: { accept, ...defined({ authorization }) } })
  response.writeHead(answer.status).end(new Uint8Array(await answer.arrayBuffer()))
}
