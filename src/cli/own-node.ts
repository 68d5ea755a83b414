// Whether the node at an address of this machine is the one whose data directory holds the token: any program may listen on a
// port here, and the DID of a node is known to all. So the node signs a nonce and the address at which it was asked.

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClientEnvironment, hasSigned, type JsonValue } from '../index.ts'
import { CommandFailure, exitCodes } from './failure.ts'
import { textAt } from '../libraries/base/json/members.ts'

const nonceBytes = 32

/** What a node answered, undefined where it has no such route, and the address at the other end of the connection. */
export interface Told {
  readonly body: JsonValue | undefined
  readonly peer: string
}

/** Asks a node, without a token. */
type Ask = (path: string, query: Readonly<Record<string, string>>) => Promise<Told>

/**
 * Resolves where the node at `origin` has the key of the data directory. Asks each time: while a command goes on, the node may
 * end and another program take its port. Throws CommandFailure (notAllowed).
 */
export function ownNodeCheck(
  origin: string,
  { dataDir, nodeKeyFile }: ClientEnvironment,
  ask: Ask,
): () => Promise<void> {
  return async () => {
    const keyFile = nodeKeyFile ?? join(dataDir, 'keys', 'node.json')
    const ours = /"did":"(did:key:[^"]+)"/.exec(await readFile(keyFile, 'utf8').catch(() => ''))?.[1]
    const refuse = (why: string): never => {
      throw new CommandFailure(exitCodes.notAllowed, `${origin} ${why} The token was not sent.`, {
        hint: `If you trust the node at ${origin}: --token-file ${join(dataDir, 'token')}`,
      })
    }
    if (ours === undefined) return refuse(`may be any program: the key in ${keyFile} cannot be read.`)
    const nonce = randomBytes(nonceBytes).toString('hex')
    const { body, peer } = await ask('/possession', { nonce })
    const did = textAt(body, 'did')
    if (did === undefined) return refuse(`does not say which node it is; the token is of ${ours}.`)
    if (did !== ours) return refuse(`is ${did}; the token is of ${ours}.`)
    const signature = textAt(body, 'signature') ?? ''
    if (!hasSigned(ours, { address: peer, nonce }, signature)) {
      return refuse(`says that it is ${ours} and does not prove it for ${peer}: it may pass on what it is asked.`)
    }
  }
}
