// The script of verify.html: takes a saved answer from a file, a drop or a field, checks it with the offline verifier and
// says what was found. Whatever a file holds goes into the page as text, never as markup.

import { cleanText } from '../lib/clean-text.ts'
import { explain, type OfflineFailure, type OfflineSuccess, type OfflineVerdict, verifyOffline } from '../verify.ts'
import { firstRows } from './first-rows.ts'

/** An answer of a node has at most 256 MiB; what is larger is none. */
const maxFileBytes = 300 * 1024 * 1024
const rowsShown = 20

/** The element of the page with this id, of this kind. Throws where the page lacks it. */
function part<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id)
  if (found instanceof kind) return found
  throw new TypeError(`the page has no ${id}`)
}

const form = part('form', HTMLFormElement)
const drop = part('drop', HTMLElement)
const fileField = part('file', HTMLInputElement)
const textField = part('text', HTMLTextAreaElement)
const signerField = part('signer', HTMLInputElement)
const result = part('result', HTMLElement)
const details = part('details', HTMLElement)

/** An element with these children; texts become text nodes. */
function element(name: string, className: string, ...children: readonly (Node | string)[]): HTMLElement {
  const made = document.createElement(name)
  if (className !== '') made.className = className
  made.append(...children)
  return made
}

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

for (const name of ['dragover', 'dragleave', 'drop'] as const) {
  document.addEventListener(name, (event) => {
    event.preventDefault()
    drop.classList.toggle('over', name === 'dragover')
    if (name !== 'drop') return
    const files = [...(event.dataTransfer?.files ?? [])]
    const text = event.dataTransfer?.getData('text/plain') ?? ''
    textField.value = ''
    if (files.length > 0) void judge(files)
    else if (text !== '') void judge([text])
  })
}

/** The check that began last: an earlier one that ends later shows nothing. */
let current = 0

async function judge(given: readonly (File | string)[]): Promise<void> {
  const own = ++current
  show('', 'Checking…', [])
  // Two frames: the page is drawn before the check holds it.
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  const large = given.find((one) => typeof one !== 'string' && one.size > maxFileBytes)
  if (given.length > 2 || large !== undefined) {
    const why = large === undefined ? 'These are more than two files.' : 'This file is too large for an answer.'
    return show('unjudged', 'Cannot be judged here', [element('p', '', why)])
  }
  let sources: readonly (Uint8Array | string)[]
  try {
    sources = await Promise.all(
      given.map(async (one) => (typeof one === 'string' ? one : new Uint8Array(await one.arrayBuffer()))),
    )
  } catch (error) {
    if (own !== current) return
    return show('unjudged', 'Cannot be judged here', [element('p', '', `The file cannot be read: ${String(error)}`)])
  }
  if (own !== current) return
  const verdict = verdictOf(sources)
  if (verdict.ok) showSuccess(verdict)
  else showFailure(verdict)
}

/** Of two, one is the answer with its proof and the other its output. */
function verdictOf([first = '', second]: readonly (Uint8Array | string)[]): OfflineVerdict {
  const named = signerField.value.trim()
  const signer = named === '' ? {} : { signer: named }
  if (second === undefined) return verifyOffline(first, signer)
  const verdict = verifyOffline(first, { ...signer, output: second })
  return verdict.ok || verdict.outcome !== 'noProof' ? verdict : verifyOffline(second, { ...signer, output: first })
}

function showSuccess(verdict: OfflineSuccess): void {
  const { answer, signer, canonicalForm, output } = verdict
  const isNamed = signerField.value.trim() !== ''
  const lines = explain({ answer, signer, isReproduced: false, ...(isNamed ? { relation: 'named' as const } : {}) })
  const facts = lines.filter(({ about }) => about !== 'not checked')
  const open = lines.filter(({ about }) => about === 'not checked')
  const checked = [
    'The question, its parameters and the named blocks are those that were signed.',
    ...(canonicalForm === undefined ? [] : ['The rows are those that were signed, to the last digit.']),
    'The signature is good, by the strictest rule.',
    ...(isNamed ? ['The key is the one that you named.'] : []),
  ]
  show('good', `✓ Unchanged since it was signed${isNamed ? ' by the key that you named' : ''}`, [
    element('dl', '', ...facts.flatMap(({ about, text }) => [element('dt', '', about), element('dd', '', text)])),
    element('h3', '', 'Checked'),
    element('ul', '', ...checked.map((text) => element('li', '', text))),
    element('h3', '', 'Not checked'),
    element('ul', '', ...open.map(({ text }) => element('li', '', text))),
    ...rowsTable(firstRows(output, rowsShown), answer.rows ?? 0),
  ])
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

/** What a failed check means for who reads the file. */
const meanings: Readonly<Record<OfflineFailure['kind'], string>> = {
  MalformedJson: 'A saved answer is what a node sent, kept as it came: one JSON object.',
  InvalidRequest: 'A saved answer has input, subQueries, commitment and proof, and mostly output, and nothing else.',
  UnsupportedProofType: 'Nothing speaks against it, but this page knows no rule by which to check it.',
  'InvalidRequest::InputHash': 'The question, its parameters or the named blocks are not those that were signed.',
  'InvalidRequest::SubQueriesHash': 'The answers that this one rests on are not those that were signed.',
  'InvalidRequest::BadSignature': 'The key that the file names did not sign this.',
  'InvalidRequest::OutputHash':
    'The rows are not those that were signed: changed, or printed anew by a program that spells numbers otherwise.',
  OtherSigner: 'Hashes and signature are good, but the key is another than the one that you named.',
}

function showFailure({ outcome, kind, message, position, signer }: OfflineFailure): void {
  const isBad = outcome === 'failed'
  const place = position === undefined ? '' : ` At line ${position.line}, column ${position.column}.`
  const headline = isBad ? '✗ Do not trust this file' : '? Cannot be judged here'
  show(isBad ? 'bad' : 'unjudged', headline, [
    element('p', '', meanings[kind]),
    element('p', 'hint', `${cleanText(message)}${place}`),
    ...(signer === undefined ? [] : [element('p', 'hint', `It names ${signer} as its signer.`)]),
    ...(isBad ? [element('p', '', 'What it says is not shown here, because nobody stands for it.')] : []),
  ])
}

/** The headline is what a screen reader says by itself; the rest is read by who goes on. */
function show(tone: '' | 'good' | 'bad' | 'unjudged', headline: string, content: readonly HTMLElement[]): void {
  details.replaceChildren(...content)
  result.replaceChildren(element('h2', tone, headline))
}
