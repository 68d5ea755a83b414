// The verify page in a browser: proofs are checked here, by the code of verify.html; the node is asked to run the question of
// a good one again where the reader says so.

import { utf8 } from '../../../libraries/base/bytes.ts'
import { parseJson } from '../../../libraries/base/json/json.ts'
import { type NamedKeys, namedKeys } from '../../../libraries/evidence/keys.ts'
import { element, listOf, memberOf, textOf } from '../browser/element.ts'
import { heldToken } from '../browser/session.ts'
import { rerunLink } from '../browser/rerun-handover.ts'
import { checkWhatIsGiven, type Checked } from '../browser/verify-page.ts'

export function start(main: HTMLElement): void {
  const again = main.querySelector<HTMLElement>('#again')
  main.querySelector('#form button')?.removeAttribute('disabled')
  void offerPolicy(main)
  const tell = (checked: Checked | undefined): void =>
    again?.replaceChildren(...(checked === undefined ? [] : offer(checked)))
  checkWhatIsGiven(tell, { node: location.origin, keysOfNode, proofOf })
}

/** The proof of the batch of a receipt, as this node gives it. */
async function proofOf(receiptId: string): Promise<Uint8Array | undefined> {
  const token = heldToken()
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const path = `/receipts/${encodeURIComponent(receiptId)}/proof?format=json`
  const answer = await fetch(path, { headers }).catch(() => undefined)
  return answer?.ok === true ? new Uint8Array(await answer.arrayBuffer()) : undefined
}

/** The policy of this node, named as such, until the reader has another. */
async function offerPolicy(main: HTMLElement): Promise<void> {
  const field = main.querySelector<HTMLTextAreaElement>('#policy')
  const answer = await fetch('/ledger/policy').catch(() => undefined)
  if (field === null || answer?.ok !== true || field.value !== '') return
  field.value = await answer.text()
  const text = `This is the policy that ${location.host} gives of itself. Put in another one, if you trust somebody else.`
  main.querySelector('#policy-hint')?.replaceChildren(text)
}

/** The ways to run it again, and where the verdict of the node goes. */
function offer({ proof, file }: Checked): HTMLElement[] {
  const button = element('button', '', 'Run it again at this node')
  const verdict = element('div', '')
  verdict.setAttribute('role', 'status')
  const details = element('div', '')
  button.addEventListener('click', () => {
    verdict.replaceChildren(element('h2', '', 'Running…'))
    details.replaceChildren()
    void askNode(proof).then(({ tone, headline, content }) => {
      verdict.replaceChildren(element('h2', tone, headline))
      details.replaceChildren(...content)
    })
  })
  const hint =
    'Nothing has been sent so far. The node checks the file again, and runs its query over the blocks that it names. In this browser, no server computes anything.'
  return [element('p', 'hint', hint), element('p', 'run', button, rerunLink(file)), verdict, details]
}

/** Whose keys this node's own document names: the address of the page says which host that is. */
async function keysOfNode(): Promise<NamedKeys> {
  const text = await fetch('/.well-known/did.json')
    .then((answer) => answer.text())
    .catch(() => 'null')
  try {
    return namedKeys(parseJson(utf8(text)), location.host)
  } catch {
    return new Map()
  }
}

interface Verdict {
  readonly tone: 'good' | 'bad' | 'unjudged'
  readonly headline: string
  readonly content: readonly HTMLElement[]
}

async function askNode(body: Blob): Promise<Verdict> {
  const token = heldToken()
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
  try {
    const answer = await fetch('/verify', { method: 'POST', headers, body })
    const said: unknown = await answer.json()
    return answer.ok ? reproduced(said) : refused(said)
  } catch (error) {
    const content = [element('p', '', `The node does not answer: ${String(error)}`)]
    return { tone: 'unjudged', headline: '? The node has not run it', content }
  }
}

function reproduced(said: unknown): Verdict {
  const facts = listOf(memberOf(said, 'explanation')).flatMap((line) => [
    element('dt', '', textOf(memberOf(line, 'about'))),
    element('dd', '', textOf(memberOf(line, 'text'))),
  ])
  return {
    tone: 'good',
    headline: '✓ This node got the same rows again',
    content: [element('dl', '', ...facts)],
  }
}

/** An answer against the file: the rows differ, or it is not what was signed. Anything else judges nothing. */
const accusations = /^(?:VerificationFailed::OutputMismatch|InvalidRequest::)/

function refused(said: unknown): Verdict {
  const isBad = accusations.test(textOf(memberOf(said, 'error', 'kind')))
  const sentences = [textOf(memberOf(said, 'detail')), textOf(memberOf(said, 'hint'))]
  return {
    tone: isBad ? 'bad' : 'unjudged',
    headline: `${isBad ? '✗' : '?'} ${textOf(memberOf(said, 'title'))}`,
    content: sentences.filter((text) => text !== '').map((text) => element('p', '', text)),
  }
}
