// The ledgers that a policy file names, as a witness of them reads it.

import { readFile } from 'node:fs/promises'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import { parsePolicy, type Policy } from '../../libraries/ledger/policy.ts'
import { errorCode } from '../../node/machine/disk/files.ts'

/** The policy in a file. Throws NodeError `InvalidParameter`. */
export async function readPolicy(path: string): Promise<Policy> {
  try {
    return parsePolicy(await readFile(path))
  } catch (error) {
    if (!(error instanceof DecodeError) && errorCode(error) === undefined) throw error
    const reason = error instanceof DecodeError ? error.message : errorCode(error)
    throw new NodeError('InvalidParameter', `The policy ${path} cannot be read: ${reason}.`, {
      hint: 'It has the form of C2SP tlog-policy: lines with log, witness, group, and one with quorum.',
      cause: error,
    })
  }
}
