// Checks proofs in verify.html and on the console's page: takes a saved answer from a file, a drop or a field, checks it with
// the offline verifier and says what was found. Whatever a file holds goes into the page as text, never as markup.

import { utf8 } from '../../../libraries/base/bytes.ts'
import { systemClock, timeText } from '../../../libraries/base/clock.ts'
import { defined } from '../../../libraries/base/collections.ts'
import { decoded, DecodeError } from '../../../libraries/base/errors.ts'
import { parseDidKey } from '../../../libraries/base/ids/identifiers.ts'
import { bundleReport, checkBundle } from '../../../libraries/evidence/bundle.ts'
import type { NamedKeys } from '../../../libraries/evidence/keys.ts'
import { type Judged, judgeEvidence, type Reader } from '../../../libraries/evidence/judge.ts'
import { type JudgedPack, judgePack } from '../../../libraries/evidence/pack/judge-pack.ts'
import { bareReport, type Report } from '../../../libraries/evidence/report.ts'
import { withHistories } from '../../../libraries/evidence/two-histories.ts'
import { parsePolicy } from '../../../libraries/ledger/policy.ts'
import { cleanText } from '../../../libraries/base/clean-text.ts'
import { answerBytesMost } from '../../../libraries/proof/proof-body.ts'
import { engineLines } from './engine-lines.ts'
import { element } from './element.ts'
import { archiveKind, chunksOf } from './file-chunks.ts'
import { type Headline, headlineOf, reportContent } from './show-report.ts'

const drawnWithinMs = 200

/** The element of the page with this id, of this kind. Throws where the page lacks it. */
function part<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id)
  if (found instanceof kind) return found
  throw new TypeError(`the page has no ${id}`)
}

const findParts = () => ({
  form: part('form', HTMLFormElement),
  drop: part('drop', HTMLElement),
  fileField: part('file', HTMLInputElement),
  textField: part('text', HTMLTextAreaElement),
  signerField: part('signer', HTMLInputElement),
  signerFault: part('signer-fault', HTMLElement),
  policyField: part('policy', HTMLTextAreaElement),
  result: part('result', HTMLElement),
  details: part('details', HTMLElement),
})

/** Those of the page now: the console may put a new form in the place of another. */
let parts = findParts()

/** What was found to be good: the saved answer with its proof, and the file that it came in. */
export interface Checked {
  readonly proof: Blob
  /** The bundle, where it came in one. */
  readonly file: Blob
}

/** Is told of a file whose proof is good, and of none while there is no such. */
type OnChecked = (checked: Checked | undefined) => void

let onChecked: OnChecked = () => {}

/** The node that this page is of, if it is of one. */
export interface AskedNode {
  /** Its address. */
  readonly node: string
  /** Whose keys it names. Does not throw. */
  readonly keysOfNode: () => Promise<NamedKeys>
  /** The proof of the batch of a receipt; undefined where it gives none. Does not throw. */
  readonly proofOf: (receiptId: string) => Promise<Uint8Array | undefined>
}

let asked: AskedNode | undefined

/** Takes what is given to the form of the page. */
export function checkWhatIsGiven(tell: OnChecked = () => {}, node?: AskedNode): void {
  onChecked = tell
  asked = node
  parts = findParts()
  const { form, fileField, textField } = parts
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const text = textField.value.trim()
    const files = [...(fileField.files ?? [])]
    if (text !== '') {
      fileField.value = ''
      void judge([text])
    } else if (files.length > 0) void judge(files)
    else
      show([element('p', '', 'Choose a file, or paste the text of one.')], {
        tone: 'unjudged',
        text: 'Nothing to check yet',
      })
  })
  fileField.addEventListener('change', () => {
    textField.value = ''
    if ((fileField.files?.length ?? 0) > 0) void judge([...(fileField.files ?? [])])
  })
}

for (const name of ['dragover', 'dragleave', 'drop'] as const) {
  document.addEventListener(name, (event) => {
    event.preventDefault()
    parts.drop.classList.toggle('over', name === 'dragover')
    if (name !== 'drop') return
    const files = [...(event.dataTransfer?.files ?? [])]
    const text = event.dataTransfer?.getData('text/plain') ?? ''
    parts.textField.value = ''
    if (files.length > 0) void judge(files)
    else if (text !== '') void judge([text])
  })
}

/** The check that began last: an earlier one that ends later shows nothing. */
let current = 0

async function judge(given: readonly (File | string)[]): Promise<void> {
  const own = ++current
  onChecked(undefined)
  if (!hasGoodSigner()) return show([], { tone: 'unjudged', text: '? Nothing is checked: what you named is no key' })
  show([], { tone: '', text: 'Checking…' })
  // Two frames: the page is drawn before the check holds it. One that nobody sees is not drawn.
  const drawn = new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  await Promise.race([drawn, systemClock.sleep(drawnWithinMs)])
  try {
    const trust = { ...readerOf(), ...(asked && { keys: await asked.keysOfNode() }) }
    const others: (File | string)[] = []
    const shown: Shown[] = []
    for (const one of given) {
      const kind = typeof one === 'string' ? undefined : await archiveKind(one)
      if (typeof one === 'string' || kind === undefined) others.push(one)
      else {
        const found = kind === 'bundle' ? [await judgeBundle(one, own, trust)] : await judgeParts(one, own, trust)
        shown.push(...(given.length === 1 ? found : found.map((part) => within(one.name, part))))
      }
    }
    const small = await judgeSmall(others, trust)
    shown.push(
      ...(given.length === 1 ? small.map(({ report, checked }) => ({ report, ...defined({ checked }) })) : small),
    )
    if (own !== current) return
    showAll(withHistories(shown), judgedHow(given, trust))
    const [only] = shown.filter(({ checked }) => checked !== undefined)
    if (only !== undefined && shown.length === 1) onChecked(only.checked)
  } catch (error) {
    if (own === current) cannot(`The file cannot be read: ${String(error)}`)
  }
}

/** A report of the page, and what can be run again. */
interface Shown extends Pick<Judged, 'report' | 'head'>, Pick<JudgedPack, 'shows'> {
  /** Of a part of a pack, and of one file of several. */
  readonly path?: string
  readonly checked?: Checked
  readonly more?: readonly HTMLElement[]
}

function within(name: string, { path, ...part }: Shown): Shown {
  return { ...part, path: path === undefined ? name : `${name}/${path}` }
}

/** A name that is no key would make a forgery of each true file: it is refused beside its field. */
function hasGoodSigner(): boolean {
  const { signerField, signerFault } = parts
  const signer = signerField.value.trim()
  const isGood = signer === '' || decoded(() => parseDidKey(signer)) !== undefined
  signerField.ariaInvalid = String(!isGood)
  signerFault.textContent = isGood ? '' : 'This is no key such as did:key:z6Mk…. If you know none, leave it empty.'
  if (!isGood) signerField.focus()
  return isGood
}

interface Trust extends Reader {
  /** Why there is no policy. */
  readonly lack: string | undefined
}

/** What the reader has put into the fields of the page. */
function readerOf(): Trust {
  const signer = parts.signerField.value.trim()
  const text = parts.policyField.value
  const named = {
    signer: signer === '' ? undefined : signer,
    nowMs: systemClock.nowMs(),
    ...defined({ node: asked?.node }),
  }
  if (text.trim() === '') return { ...named, lack: 'Whom to trust is not in the file: give a policy, and check again.' }
  try {
    return { ...named, policy: parsePolicy(utf8(text)), lack: undefined }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { ...named, lack: `The policy cannot be read: ${error.message}.` }
  }
}

async function judgeSmall(given: readonly (File | string)[], trust: Trust): Promise<Shown[]> {
  const size = given.reduce((sum, one) => sum + (typeof one === 'string' ? one.length : one.size), 0)
  if (size > answerBytesMost) {
    const why = ['This is too large for an answer.']
    return [
      {
        report: bareReport({
          what: 'nothing that is known here',
          verdict: 'impossible',
          headline: 'Cannot be judged here',
          why,
        }),
      },
    ]
  }
  const files = await Promise.all(
    given.map(async (one) => (typeof one === 'string' ? utf8(`${one}\n`) : new Uint8Array(await one.arrayBuffer()))),
  )
  const first = judgeEvidence(files, trust)
  // A promise that is due is settled by the node that this page is of.
  const due = first.flatMap((one) => one?.due ?? [])
  const proofs =
    asked === undefined ? [] : (await Promise.all(due.map(asked.proofOf))).filter((one) => one !== undefined)
  const judged = proofs.length === 0 ? first : judgeEvidence([...files, ...proofs], trust).slice(0, files.length)
  return judged.flatMap((one, at) => {
    if (one === undefined) return []
    const file = given[at]
    const path = file instanceof File ? file.name : 'pasted text'
    const { answer, due: _, ...found } = one
    const saved = answer && new Blob([new Uint8Array(answer.bytes)])
    return [
      {
        ...found,
        path,
        report: byPolicy(found.report, trust),
        ...(saved && { checked: { proof: saved, file: saved } }),
      },
    ]
  })
}

/** A policy that cannot be read is why a file was not judged. */
function byPolicy(report: Report, { lack = '' }: Trust): Report {
  const isFault = parts.policyField.value.trim() !== '' && lack !== '' && report.verdict === 'not judged'
  return isFault ? { ...report, why: [lack] } : report
}

/** The bytes of a file; how far they are read is shown. */
function readBy(file: File, own: number): AsyncGenerator<Uint8Array> {
  let shown = 0
  return chunksOf(file, (share) => {
    const percent = Math.floor(20 * share) * 5
    if (own !== current || percent === shown) return
    shown = percent
    show([], { tone: '', text: `Checking… ${percent}%` })
  })
}

/** A pack, then its parts. */
async function judgeParts(file: File, own: number, trust: Trust): Promise<Shown[]> {
  const { report, parts: inside, ...shows } = await judgePack(readBy(file, own), trust)
  return [{ report: byPolicy(report, trust), ...shows }, ...inside]
}

async function judgeBundle(file: File, own: number, trust: Trust): Promise<Shown> {
  const { signer, policy, lack, keys } = trust
  const found = await checkBundle(readBy(file, own), { ...defined({ signer }), policy })
  const report = bundleReport(found, { isNamed: signer !== undefined, lack, keys })
  if (found.kind !== 'whole') return { report }
  const { proof, verdict } = found
  const again = element('p', 'hint', 'To run the query again: proofstream verify --bundle FILE')
  return {
    report,
    checked: { proof: new Blob([new Uint8Array(proof)]), file },
    more: [again, ...engineLines(verdict.answer.dialect)],
  }
}

/** The first file speaks first, unless another is bad: nobody reads on behind a good one. The others follow with their own headlines. */
function showAll(all: readonly Shown[], how: HTMLElement): void {
  const print = element('p', 'run', printButton())
  const first = all.find(({ report }) => headlineOf(report).tone === 'bad') ?? all[0]
  if (first === undefined) return cannot('There is no file.')
  const sections = all
    .filter((one) => one !== first)
    .map((one) => {
      const { tone, text } = namedHeadline(one)
      return element('section', '', element('h2', tone, text), ...reportContent(one.report), ...(one.more ?? []))
    })
  show([...reportContent(first.report), ...(first.more ?? []), ...sections, how, print], namedHeadline(first))
}

function namedHeadline({ path, report }: Shown): Headline {
  const { tone, text } = headlineOf(report)
  return { tone, text: path === undefined ? text : cleanText(`${path}: ${text}`) }
}

/** What was judged, when, and by whom the reader trusts: for those who keep the sheet. */
function judgedHow(given: readonly (File | string)[], { policy, signer, nowMs }: Trust): HTMLElement {
  const names = given.map((one) => cleanText(typeof one === 'string' ? 'pasted text' : one.name))
  const ledgers = policy?.logs.map(({ key }) => cleanText(key.name)).join(', ')
  const key = signer === undefined ? '' : ` Key that must have signed: ${signer}.`
  const by = `Ledgers of the policy: ${ledgers ?? 'no policy was given that can be read'}.${key}`
  return element('p', 'hint', `Files: ${names.join(', ')}. Judged at ${timeText(nowMs)}. ${by}`)
}

/** What was found, on one sheet of paper: rows, facts, what was checked and what was not. */
function printButton(): HTMLElement {
  const button = element('button', 'quiet', 'Print this page')
  button.addEventListener('click', () => window.print())
  return button
}

function cannot(why: string): void {
  show([element('p', '', why)], { tone: 'unjudged', text: '? Cannot be judged here' })
}

/** The headline is what a screen reader says by itself; the rest is for readers who go on. */
function show(
  content: readonly HTMLElement[],
  { tone, text }: { readonly tone: '' | Headline['tone']; readonly text: string },
): void {
  parts.details.replaceChildren(...content)
  parts.result.replaceChildren(element('h2', tone, text))
  // The form above it is as high as a small window.
  if (tone !== '') parts.result.scrollIntoView()
}
