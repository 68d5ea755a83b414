// The ingest page in a browser: a file, or the first records of a large one, is looked at by the node, which stores nothing
// of it and tells its columns or its faults; then it is sent under one Idempotency-Key, however often that takes, and its receipt watched until it is in a block.

import { type Answer, sendFile, settled } from '../browser/send-file.ts'
import { element, listOf, memberOf, tableOf, textOf } from '../browser/element.ts'
import { heldToken } from '../browser/session.ts'
import { tokenHere } from '../browser/token-here.ts'

interface Parts {
  readonly form: HTMLFormElement
  readonly drop: HTMLElement
  readonly file: HTMLInputElement
  readonly result: HTMLElement
  readonly details: HTMLElement
}

/** A file with all that is said of it: what was looked at is what is sent. */
interface Batch {
  readonly alias: string
  readonly file: File
  readonly mediaType: string
  readonly parameters: URLSearchParams
  /** Made once: sent again with it, a batch is stored once. */
  readonly key: string
}

/** The look or the sending that began last: an earlier one that ends later shows nothing. */
let current = 0

export function start(main: HTMLElement): void {
  const form = main.querySelector('form')
  const drop = main.querySelector<HTMLElement>('#drop')
  const result = main.querySelector<HTMLElement>('#result')
  const details = main.querySelector<HTMLElement>('#details')
  const file = main.querySelector<HTMLInputElement>('#file')
  if (form === null || drop === null || file === null || result === null || details === null) return
  form.querySelector('button')?.removeAttribute('disabled')
  const parts: Parts = { form, drop, file, result, details }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (heldToken() === undefined) return askForToken(parts)
    const batch = batchOf(parts)
    if (typeof batch === 'string') show(parts, 'unjudged', batch, [])
    else void look(parts, batch)
  })
  showParameters(form, file)
  // What was looked at is no longer what the form says.
  form.addEventListener('input', () => {
    showParameters(form, file)
    current++
    show(parts, '', '', [])
  })
  for (const name of ['dragover', 'dragleave', 'drop'] as const)
    document.addEventListener(name, (event) => {
      event.preventDefault()
      drop.classList.toggle('over', name === 'dragover')
      const files = event.dataTransfer?.files
      if (name !== 'drop' || files === undefined || files.length === 0) return
      file.files = files
      showParameters(form, file)
      form.requestSubmit()
    })
}

/** Those that count for the format; of a file whose dataset has no name yet, one is proposed. */
function showParameters(form: HTMLFormElement, { files }: HTMLInputElement): void {
  const ofFormat = formatOf(form, files?.[0]?.name)?.dataset['parameters']?.split(' ') ?? []
  for (const one of form.querySelectorAll<HTMLElement>('[data-of-format]')) {
    one.hidden = !ofFormat.includes(one.dataset['ofFormat'] ?? '')
  }
  const dataset = form.querySelector<HTMLInputElement>('#dataset')
  const stem = files?.[0]?.name
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  if (dataset !== null && dataset.value === '' && stem !== undefined && stem !== '') dataset.value = `me/${stem}`
}

/** The option that is chosen, or that the name of the file means. */
function formatOf(form: HTMLFormElement, name = ''): HTMLOptionElement | undefined {
  const chosen = form.querySelector<HTMLSelectElement>('#format')?.selectedOptions[0]
  if (chosen !== undefined && chosen.value !== '') return chosen
  const ending = name.split('.').at(-1)?.toLowerCase() ?? ''
  return form.querySelector<HTMLOptionElement>(`#format option[data-endings~="${CSS.escape(ending)}"]`) ?? undefined
}

/** The page is not loaded again, so the chosen file stays. */
function askForToken(parts: Parts): void {
  const { nodes, field } = tokenHere(() => parts.form.requestSubmit())
  show(parts, 'unjudged', 'Sending needs a token', nodes)
  field.focus()
}

/** What the form says; or what it lacks. */
function batchOf({ form, file: field }: Parts): Batch | string {
  const said = new FormData(form)
  const text = (name: string): string => textOf(said.get(name)).trim()
  const [file, more] = field.files ?? []
  const alias = text('dataset')
  if (!/^[^/\s]+\/[^/\s]+$/.test(alias)) return 'Name the dataset as account/dataset'
  if (file === undefined || more !== undefined) return 'Choose one file'
  if (file.size > Number(form.dataset['mostBytes'])) return 'This file is too large for one request. Split it'
  const mediaType = formatOf(form, file.name)?.value
  if (mediaType === undefined) return 'The name of the file does not show its format. Choose one'
  const parameters = new URLSearchParams()
  if (text('create') !== '') parameters.set('create', 'true')
  if (text('create') !== '') parameters.set('visibility', text('visibility'))
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('.parameter:not([hidden]) [name]')) {
    if (field.value !== '') parameters.set(field.name.slice('p-'.length), field.value)
  }
  return { alias, file, mediaType, parameters, key: newKey() }
}

/** Pages that came over plain HTTP have no `randomUUID`. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Posts a file: for a look, or its first records; to be stored, all of it. */
async function post(
  parts: Parts,
  { alias, mediaType, parameters, key }: Batch,
  { file, isDry, own }: { readonly file: Blob; readonly isDry: boolean; readonly own: number },
): Promise<Answer | undefined> {
  const query = new URLSearchParams(parameters)
  if (isDry) query.set('dryRun', 'true')
  const path = `/${alias.split('/').map(encodeURIComponent).join('/')}/ingest?${query}`
  const headers = { 'content-type': mediaType, ...(isDry ? {} : { 'idempotency-key': key, prefer: 'wait=20' }) }
  let shown = 0
  const onProgress = (share: number): void => {
    const percent = Math.floor(20 * share) * 5
    if (own !== current || percent === shown) return
    shown = percent
    show(parts, '', `${isDry ? 'Reading it' : 'Sending'}… ${percent}%`, [])
  }
  show(parts, '', isDry ? 'Reading it…' : 'Sending…', [])
  return await sendFile({ path, file, headers, onProgress })
}

async function look(parts: Parts, batch: Batch): Promise<void> {
  const own = ++current
  const file = await partToLookAt(batch)
  if (own !== current) return
  if (file === undefined) return offer(parts, batch, 'Too large for a preview', [])
  const answer = await post(parts, batch, { file, isDry: true, own })
  if (own !== current) return
  if (answer === undefined) return show(parts, 'unjudged', 'The node does not answer', [])
  if (answer.status !== 200) return showRefusal(parts, answer)
  const fields = listOf(memberOf(answer.body, 'schema', 'fields')).map((field) => [
    textOf(memberOf(field, 'name')),
    typeText(memberOf(field, 'type')),
  ])
  const records = countText(Number(memberOf(answer.body, 'records')))
  const isPart = file.size < batch.file.size
  const columns = [
    ...warningLines(answer.body),
    element(
      'p',
      'hint',
      `Nothing is stored yet. ${isPart ? 'Judging by the first records, the' : 'The'} dataset would have these columns:`,
    ),
    tableOf('Columns', ['Name', 'Type'], fields),
  ]
  if (isPart) return offer(parts, batch, `It begins well: ${records}`, columns)
  const button = element('button', '', `Send ${records}`)
  button.addEventListener('click', () => void send(parts, batch))
  show(parts, 'good', `It fits: ${records}`, [...columns, element('p', '', button)])
}

/** Larger files are sent once. */
const wholeLookBytes = 8 * 1024 * 1024
const lookBytes = 1024 * 1024
const [lineFeed, quote] = [0x0a, 0x22]

/** The file, or the first records of a large one; undefined where these are not told from its bytes. */
async function partToLookAt({ file, mediaType }: Batch): Promise<Blob | undefined> {
  if (file.size <= wholeLookBytes) return file
  const isCsv = /csv|tab-separated/.test(mediaType)
  if (!isCsv && !mediaType.includes('ndjson')) return undefined
  const bytes = new Uint8Array(await file.slice(0, lookBytes).arrayBuffer())
  let [end, quotes] = [0, 0]
  for (const [at, byte] of bytes.entries()) {
    // Not the text that ends lines so.
    if (byte === 0) return undefined
    if (isCsv && byte === quote) quotes++
    if (byte === lineFeed && quotes % 2 === 0) end = at + 1
  }
  return end === 0 ? undefined : file.slice(0, end)
}

/** A large file may be sent, though not all of it was looked at. */
function offer(parts: Parts, batch: Batch, headline: string, content: readonly HTMLElement[]): void {
  const button = element('button', '', 'Send it')
  button.addEventListener('click', () => void send(parts, batch))
  const hint =
    'The whole file is sent once. It is stored whole or not at all, and its faults are listed with their places.'
  show(parts, content.length === 0 ? 'unjudged' : 'good', headline, [
    ...content,
    element('p', 'hint', hint),
    element('p', '', button),
  ])
}

async function send(parts: Parts, batch: Batch): Promise<void> {
  const own = ++current
  const answer = await post(parts, batch, { file: batch.file, isDry: false, own })
  if (own !== current) return
  if (answer === undefined || answer.status >= 500) return showUnknown(parts, batch, answer)
  if (answer.status !== 200 && answer.status !== 202) return showRefusal(parts, answer)
  if (answer.status === 202) show(parts, '', 'Durable in the log, waiting for its block…', receiptLines(answer.body))
  const receipt = await settled(answer.body, () => own === current)
  if (own !== current) return
  const status = memberOf(receipt, 'status')
  if (status === 'rejected' || status === 'lost') return showRefusal(parts, { status: 422, body: receipt })
  const path = `/${batch.alias}`
  const link = element('a', '', `Open ${batch.alias}`)
  link.setAttribute('href', path)
  const headline = status === 'committed' ? '✓ Stored, and in a block' : '✓ Durable in the log; not in a block yet'
  // What is doubted stands in the first answer alone.
  show(parts, 'good', headline, [...warningLines(answer.body), ...receiptLines(receipt), element('p', '', link)])
}

function receiptLines(receipt: unknown): HTMLElement[] {
  const facts = [
    ['Records', memberOf(receipt, 'records', 'received')],
    ['Already known', memberOf(receipt, 'records', 'duplicates')],
    ['Block', memberOf(receipt, 'block', 'hash')],
    ['First offset', memberOf(receipt, 'offsets', 'start')],
    ['Receipt', memberOf(receipt, 'receiptId')],
  ] as const
  const lines = facts.flatMap(([about, value]) =>
    textOf(value) === '' ? [] : [element('dt', '', about), element('dd', '', textOf(value))],
  )
  return [element('dl', '', ...lines)]
}

/** What the node took although it changed or doubts it. */
function warningLines(answer: unknown): HTMLElement[] {
  return listOf(memberOf(answer, 'warnings')).map((warning) => element('p', 'unjudged', `Warning: ${textOf(warning)}`))
}

/** Whether it was stored is not known: the same key makes the next attempt safe. */
function showUnknown(parts: Parts, batch: Batch, answer: Answer | undefined): void {
  const button = element('button', '', 'Send it again')
  button.addEventListener('click', () => void send(parts, batch))
  show(parts, 'unjudged', '? The node has not said whether it is stored', [
    element('p', '', textOf(memberOf(answer?.body, 'detail'))),
    element('p', 'hint', 'It has its own key, so it is stored once even if sent again.'),
    element('p', '', button),
  ])
}

/** What is wrong with the file, with the place of each fault. */
function showRefusal(parts: Parts, { body }: Answer): void {
  const faults = listOf(memberOf(body, 'errors'))
  const rows = faults.map((fault) => [
    textOf(memberOf(fault, 'record')),
    textOf(memberOf(fault, 'line')),
    textOf(memberOf(fault, 'column') ?? memberOf(fault, 'pointer')),
    `${textOf(memberOf(fault, 'kind'))}: ${textOf(memberOf(fault, 'message'))}`,
    textOf(memberOf(fault, 'excerpt')),
  ])
  const total = Number(memberOf(body, 'errorsTotal') ?? faults.length)
  const note = `${total} ${total === 1 ? 'fault' : 'faults'}${total > faults.length ? `, the first ${faults.length} of them` : ''}; records count from 0.`
  show(parts, 'bad', `✗ ${textOf(memberOf(body, 'title')) || 'Rejected after it was logged'}. Nothing is stored`, [
    element('p', '', textOf(memberOf(body, 'detail'))),
    element('p', '', textOf(memberOf(body, 'hint'))),
    ...(rows.length === 0
      ? []
      : [element('p', 'hint', note), tableOf('Faults', ['Record', 'Line', 'Column', 'Fault', 'There'], rows)]),
  ])
}

/** `Float64`, `Decimal(10,2)`, `List(String)`; what may be absent is what most columns are. */
function typeText(type: unknown): string {
  const { kind, inner, itemType, precision, scale, unit } = Object(type)
  if (kind === 'Option') return typeText(inner)
  if (kind === 'List') return `List(${typeText(itemType)})`
  if (kind === 'Decimal') return `Decimal(${precision},${scale})`
  return unit === undefined ? textOf(kind) : `${textOf(kind)}(${textOf(unit)})`
}

function countText(records: number): string {
  return `${records.toLocaleString('en-US')} ${records === 1 ? 'record' : 'records'}`
}

type Tone = '' | 'good' | 'bad' | 'unjudged'

function show({ result, details }: Parts, tone: Tone, headline: string, content: readonly HTMLElement[]): void {
  result.replaceChildren(...(headline === '' ? [] : [element('h2', tone, headline)]))
  details.replaceChildren(...content)
}
