// `receipt`, `key show`, `version`: one object each.

import { type JsonValue, packageVersion } from '../../index.ts'
import { openClient } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { exitCodes } from '../failure.ts'
import { itemsAt, memberAt, objectOf } from '../json-values.ts'
import { printObject, printObjects } from '../output.ts'

/** What became of a batch. A batch that was rejected is a conflict, as it was for its sender. */
export async function showReceipt(context: CommandContext, id: string): Promise<number> {
  const client = await openClient(context)
  const receipt = (await client.call({ path: `/receipts/${encodeURIComponent(id)}` })).json()
  if (receipt instanceof Map) printObject(context.form, receipt)
  return memberAt(receipt, 'status') === 'rejected' ? exitCodes.conflict : exitCodes.done
}

/** The keys with which the node signs or once signed. */
export async function showKeys(context: CommandContext): Promise<number> {
  const client = await openClient(context)
  const document = (await client.call({ path: '/.well-known/did.json' })).json()
  const keys = itemsAt(document, 'verificationMethod').map(
    (method): JsonValue =>
      objectOf({
        did: memberAt(method, 'controller') ?? memberAt(document, 'id'),
        type: memberAt(method, 'type'),
        publicKey: memberAt(method, 'publicKeyMultibase'),
      }),
  )
  printObjects(context.form, ['did', 'type', 'publicKey'], keys)
  return exitCodes.done
}

/** Versions of this program and of what it runs on; no node is asked. */
export function showVersion(context: CommandContext): number {
  const version = packageVersion()
  const { node } = process.versions
  if (context.form === 'table') process.stdout.write(`proofstream ${version} (Node.js ${node}, ${process.platform})\n`)
  else printObject(context.form, objectOf({ version, node, platform: process.platform, arch: process.arch }))
  return exitCodes.done
}
