// The client id of a gateway at an MQTT broker.

import { randomBytes } from 'node:crypto'
import { readText, replacePrivate } from '../../node/machine/disk/files.ts'
import { sha256Hex } from '../../libraries/base/ids/native-crypto.ts'
import { toHex, utf8 } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'

/**
 * The first word of a gateway's MQTT client ids, 17 letters and digits: with those of a route 23, which every broker takes. It
 * is made of the node's DID; where other gateways may have that too (`ownDid` undefined) it is random, made once and kept at
 * `path`, for of two clients with one id the broker throws out the first. Throws NodeError `InvalidParameter` for a file that
 * holds anything else.
 */
export async function ensureMqttClientId(path: string, ownDid: string | undefined): Promise<string> {
  if (ownDid !== undefined) return `proofstream${sha256Hex(utf8(ownDid)).slice(0, 6)}`
  const held = (await readText(path))?.trim() ?? `proofstream${toHex(randomBytes(3))}`
  if (!/^proofstream[0-9a-f]{6}$/.test(held)) {
    throw new NodeError('InvalidParameter', `${path} holds no client id.`, {
      hint: 'Remove the file, or say client-id in --mqtt: mqtts://host:8883?client-id=…',
    })
  }
  // Written again when it was found: it may not have been durable.
  await replacePrivate(path, `${held}\n`)
  return held
}
