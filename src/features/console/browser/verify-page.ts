// Checks proofs in verify.html and on the console's page: takes a saved answer from a file, a drop or a field, checks it with
// the offline verifier and says what was found. Whatever a file holds goes into the page as text, never as markup.

import { utf8 } from '../../../libraries/base/bytes.ts'
import { cleanText } from '../../../libraries/base/clean-text.ts'
import { systemClock } from '../../../libraries/base/clock.ts'
import {
  explain,
  type OfflineFailure,
  type OfflineSuccess,
  type OfflineVerdict,
  verifyOffline,
} from '../../../libraries/proof/verify.ts'
import { answerBytesMost } from '../../../libraries/proof/proof-body.ts'
import { type BundleFindings, checkBundle, isBundle } from './bundle-file.ts'
import { engineLines, ledgerTexts, type LedgerTexts } from './bundle-lines.ts'
import { element } from './element.ts'
import { firstRows } from './first-rows.ts'
import { judgeLedgerFiles, policyOf } from './ledger-file.ts'

const rowsShown = 20
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
  /** did:key. */
  readonly signer: string
}

/** Is told of a file whose proof is good, and of none while there is no such. */
type OnChecked = (checked: Checked | undefined) => void

let onChecked: OnChecked = () => {}

/** Takes what is given to the form of the page. */
export function checkWhatIsGiven(tell: OnChecked = () => {}): void {
  onChecked = tell
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
    else show('unjudged', 'Nothing to check yet', [element('p', '', 'Choose a file, or paste the text of one.')])
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
  show('', 'Checking…', [])
  // Two frames: the page is drawn before the check holds it. One that nobody sees is not drawn.
  const drawn = new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  await Promise.race([drawn, systemClock.sleep(drawnWithinMs)])
  const [first] = given
  if (given.length === 1 && first instanceof File && (await isBundle(first))) return await judgeBundle(first, own)
  const cannot = (why: string): void => show('unjudged', '? Cannot be judged here', [element('p', '', why)])
  const size = given.reduce((sum, one) => sum + (typeof one === 'string' ? one.length : one.size), 0)
  if (size > answerBytesMost) return cannot('This is too large for an answer.')
  let sources: readonly (Uint8Array | string)[]
  try {
    sources = await Promise.all(
      given.map(async (one) => (typeof one === 'string' ? one : new Uint8Array(await one.arrayBuffer()))),
    )
  } catch (error) {
    return own === current ? cannot(`The file cannot be read: ${String(error)}`) : undefined
  }
  if (own !== current) return
  const files = sources.map((source) => (typeof source === 'string' ? utf8(`${source}\n`) : source))
  const trust = { policy: parts.policyField.value, signer: parts.signerField.value.trim() }
  const shown = judgeLedgerFiles(files, trust)
  if (shown !== undefined) return show(shown.tone, shown.headline, shown.content)
  if (sources.length > 2) return cannot('These are more than two files, and the first is nothing about a ledger.')
  const { verdict, proof } = verdictOf(sources)
  if (!verdict.ok) return showFailure(verdict)
  showSuccess(verdict)
  const saved = blobOf(proof)
  onChecked({ proof: saved, file: saved, signer: verdict.signer })
}

function blobOf(proof: Uint8Array | string): Blob {
  return new Blob([typeof proof === 'string' ? proof : new Uint8Array(proof)])
}

/** What the reader named as the key that must have signed. */
function namedSigner(): { readonly signer?: string } {
  const signer = parts.signerField.value.trim()
  return signer === '' ? {} : { signer }
}

async function judgeBundle(file: File, own: number): Promise<void> {
  try {
    let shown = 0
    const onProgress = (share: number): void => {
      const percent = Math.floor(20 * share) * 5
      if (own !== current || percent === shown) return
      shown = percent
      show('', `Checking… ${percent}%`, [])
    }
    const trust = policyOf(parts.policyField.value)
    const found = await checkBundle(file, { ...namedSigner(), policy: trust.policy }, { onProgress })
    if (own !== current) return
    showBundle(found, trust)
    if (found.kind === 'whole') onChecked({ proof: blobOf(found.proof), file, signer: found.verdict.signer })
  } catch (error) {
    if (own !== current) return
    show('unjudged', 'Cannot be judged here', [element('p', '', `The file cannot be read: ${String(error)}`)])
  }
}

function showBundle(found: BundleFindings, trust: ReturnType<typeof policyOf>): void {
  if (found.kind === 'whole') return showSuccess(found.verdict, { ...found, texts: ledgerTexts(found.ledger, trust) })
  if (found.kind === 'proof') return showFailure(found.verdict)
  const { outcome, sentence } = found.fault
  const isBad = outcome === 'failed'
  show(isBad ? 'bad' : 'unjudged', isBad ? '✗ Do not trust this bundle' : '? Cannot be judged here', [
    element('p', '', cleanText(sentence)),
    ...(isBad
      ? [element('p', 'hint', 'The fault is in the bundle. It says nothing against the signer of the proof.')]
      : []),
  ])
}

/** Of two, one is the answer with its proof and the other its output. */
function verdictOf([first = '', second]: readonly (Uint8Array | string)[]): {
  readonly verdict: OfflineVerdict
  readonly proof: Uint8Array | string
} {
  const signer = namedSigner()
  if (second === undefined) return { verdict: verifyOffline(first, signer), proof: first }
  const verdict = verifyOffline(first, { ...signer, output: second })
  if (verdict.ok || verdict.outcome !== 'noProof') return { verdict, proof: first }
  return { verdict: verifyOffline(second, { ...signer, output: first }), proof: second }
}

function showSuccess(
  verdict: OfflineSuccess,
  bundle?: BundleFindings & { readonly kind: 'whole'; readonly texts: LedgerTexts },
): void {
  const { answer, signer, canonicalForm, output } = verdict
  const isNamed = parts.signerField.value.trim() !== ''
  const lines = explain({
    answer,
    signer,
    isReproduced: false,
    ...(isNamed ? { relation: 'named' as const } : {}),
    ...(bundle === undefined ? {} : { blockTimes: bundle.blockTimes }),
  })
  const facts = lines.filter(({ about }) => about !== 'not checked')
  const open = lines.filter(({ about }) => about === 'not checked').map(({ text }) => text)
  const { texts } = bundle ?? {}
  const checked = [
    'The query, its parameters and the named blocks are those that were signed.',
    ...(canonicalForm === undefined ? [] : ['The rows are those that were signed, to the last digit.']),
    'The signature is good, by the strictest rule.',
    ...(isNamed ? ['The key is the one that you named.'] : []),
    ...(bundle === undefined ? [] : [contentsText(bundle.contents)]),
    ...(texts?.checked ?? []),
  ]
  const faults = texts?.faults ?? []
  const whole = bundle === undefined ? '' : ', in a bundle that is whole'
  const unchanged = `Unchanged since it was signed${isNamed ? ' by the key that you named' : ''}${whole}`
  const [tone, headline] =
    faults.length === 0
      ? (['good', `✓ ${unchanged}`] as const)
      : (['unjudged', `? ${unchanged}, but not in the ledger as the policy asks`] as const)
  show(tone, headline, [
    ...faults.map((text) => element('p', '', text)),
    ...rowsTable(firstRows(output, rowsShown), answer.rows ?? 0),
    element('dl', '', ...facts.flatMap(({ about, text }) => [element('dt', '', about), element('dd', '', text)])),
    element('h3', '', 'Checked'),
    element('ul', '', ...checked.map((text) => element('li', '', text))),
    element('h3', '', 'Not checked'),
    element('ul', '', ...[...open, ...(texts?.open ?? [])].map((text) => element('li', '', text))),
    ...(bundle === undefined ? [] : [element('p', 'hint', 'To run the query again: proofstream verify --bundle FILE')]),
    ...(bundle === undefined ? [] : engineLines(answer.dialect)),
    element('p', 'run', printButton()),
  ])
}

/** What was found, on one sheet of paper: rows, facts, what was checked and what was not. */
function printButton(): HTMLElement {
  const button = element('button', 'quiet', 'Print this page')
  button.addEventListener('click', () => window.print())
  return button
}

function contentsText({ rows, blocks }: { readonly rows: number; readonly blocks: number }): string {
  return `The bundle has the ${blocks} blocks up to the named ones, each linked to the previous one, and all their ${rows} rows. Nothing is missing, changed or added.`
}

function rowsTable(first: ReturnType<typeof firstRows>, rows: number): HTMLElement[] {
  if (first === undefined || first.rows.length === 0) return []
  const cells = (name: string, texts: readonly string[]): HTMLElement =>
    element('tr', '', ...texts.map((text) => element(name, '', text)))
  const head = first.columns.length === 0 ? [] : [element('thead', '', cells('th', first.columns))]
  const shown = first.rows.length === rows ? `The rows` : `The first ${first.rows.length} of ${rows} rows`
  const body = element('tbody', '', ...first.rows.map((row) => cells('td', row)))
  const box = element('div', 'scroll', element('table', '', element('caption', '', shown), ...head, body))
  box.tabIndex = 0
  box.setAttribute('role', 'group')
  box.setAttribute('aria-label', 'Rows of the answer')
  return [box]
}

/** What a failed check means for the reader of the file. */
const meanings: Readonly<Record<OfflineFailure['kind'], string>> = {
  MalformedJson: 'A saved answer is what a node sent, kept as it came: one JSON object.',
  InvalidRequest: 'A saved answer has input, subQueries, commitment and proof, and mostly output, and nothing else.',
  UnsupportedProofType: 'There is no evidence against it, but this page cannot check this type of proof.',
  'InvalidRequest::InputHash': 'The query, its parameters or the named blocks are not those that were signed.',
  'InvalidRequest::SubQueriesHash': 'The answers that this one is based on are not those that were signed.',
  'InvalidRequest::BadSignature': 'The key that the file names did not sign this.',
  'InvalidRequest::OutputHash':
    'The rows are not those that were signed. They were changed, or reprinted by a program that writes numbers differently.',
  'InvalidRequest::RewrittenOutput':
    'Read as doubles, the numbers are those that were signed. A JSON library has reprinted them. Check the file as it was received.',
  OtherSigner: 'Hashes and signature are good, but the key is not the one that you named.',
}

function showFailure({ outcome, kind, message, position, signer }: OfflineFailure): void {
  const isBad = outcome === 'failed'
  const place = position === undefined ? '' : ` At line ${position.line}, column ${position.column}.`
  const headline = isBad ? '✗ Do not trust this file' : '? Cannot be judged here'
  show(isBad ? 'bad' : 'unjudged', headline, [
    element('p', '', meanings[kind]),
    element('p', 'hint', `${cleanText(message)}${place}`),
    ...(signer === undefined ? [] : [element('p', 'hint', `It names ${signer} as its signer.`)]),
    ...(isBad ? [element('p', '', 'Its content is not shown here, because nobody vouches for it.')] : []),
  ])
}

/** The headline is what a screen reader says by itself; the rest is for readers who go on. */
function show(tone: '' | 'good' | 'bad' | 'unjudged', headline: string, content: readonly HTMLElement[]): void {
  parts.details.replaceChildren(...content)
  parts.result.replaceChildren(element('h2', tone, headline))
  // The form above it is as high as a small window.
  if (tone === 'good') parts.result.scrollIntoView()
}
