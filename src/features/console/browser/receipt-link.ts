// The signed receipt of a batch that was sent, with the proofs that settle its promise, as a file to hand on.

import { jsonText } from '../../../libraries/base/json/json.ts'
import { gatherReceipt } from '../../../libraries/ledger/receipt-file.ts'
import { element } from './element.ts'
import { heldToken } from './session.ts'

/** A button that fetches it and hands it to the browser, and a line that says what is in it. */
export function receiptLink(receiptId: string): HTMLElement {
  const button = element('button', 'quiet', 'Save the signed receipt')
  button.setAttribute('type', 'button')
  const said = element('span', 'hint', '')
  said.setAttribute('role', 'status')
  button.addEventListener('click', () => void saveReceipt(receiptId).then((text) => said.replaceChildren(text)))
  return element('p', 'run', button, ' ', said)
}

async function saveReceipt(receiptId: string): Promise<string> {
  const token = heldToken()
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const get = async (path: string): Promise<Uint8Array | undefined> => {
    const answer = await fetch(path, { headers })
    return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : undefined
  }
  try {
    const found = await gatherReceipt(receiptId, get)
    if (found === undefined) return 'The node does not give it.'
    const file = document.createElement('a')
    file.href = URL.createObjectURL(new Blob([`${jsonText(found)}\n`], { type: 'application/json' }))
    file.download = 'receipt.json'
    file.click()
    const proofs = found.get('proofs')
    const hasProof = Array.isArray(proofs) && proofs.length > 0
    return hasProof ? 'With the proof of its batch.' : 'The proof of its batch is not there yet: save it again later.'
  } catch (error) {
    return `Not saved: ${String(error)}`
  }
}
