// `receipt --signed`: a receipt as its node signs it, and what settles its promise, in one file that a stranger checks.

import { writeFile } from 'node:fs/promises'
import { jsonText } from '../../index.ts'
import { gatherReceipt } from '../../libraries/ledger/receipt-file.ts'
import { openClient } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { itemsAt } from '../../libraries/base/json/members.ts'
import { print } from '../terminal.ts'

/** Throws CommandFailure where there is no such receipt. */
export async function saveSignedReceipt(context: CommandContext, id: string): Promise<number> {
  const { path, file } = context
  if (path !== undefined && (file === undefined || !/\.json$/i.test(path))) {
    throw new CommandFailure(exitCodes.usage, 'A signed receipt is a file that ends in .json.')
  }
  const client = await openClient(context)
  const found = await gatherReceipt(id, async (at) => {
    const isReceipt = at.endsWith('include=signature')
    const answer = await client.call({
      path: at,
      headers: { accept: '*/*' },
      accepts: isReceipt ? [] : [404, 409, 503],
    })
    return answer.status < 400 ? answer.bytes : undefined
  })
  if (found === undefined) throw new CommandFailure(exitCodes.notFound, `There is no receipt ${id}.`)
  const text = `${jsonText(found)}\n`
  if (path === undefined) print(text)
  else await writeFile(path, text)
  const isSettled = itemsAt(found, 'proofs').length > 0
  const rest = isSettled
    ? ''
    : '; no head of a ledger holds the batch yet: with its proof, it is had later by the same command'
  note(
    `${path === undefined ? 'this receipt' : `saved ${path}, which`} is checked by: proofstream verify FILE --policy POLICY${rest}`,
  )
  return exitCodes.done
}
