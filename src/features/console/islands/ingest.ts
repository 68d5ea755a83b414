// The ingest page in a browser: the beginning of a file is looked at by the node as the fields say, at each change, which stores
// nothing of it; then the file is sent under one Idempotency-Key, however often that takes, and its receipt watched until it is in a block.

import { askForPage } from '../browser/ask-for-page.ts'
import { element, listOf, memberOf, tableOf, textOf } from '../browser/element.ts'
import { headOf } from '../browser/file-head.ts'
import { columnField, fill, sentence } from '../browser/parameter-fields.ts'
import { type Answer, isMissing, keyOf, knownBlock, sendFile, settled } from '../browser/send-file.ts'
import { heldToken } from '../browser/session.ts'
import { tokenHere } from '../browser/token-here.ts'
import { candidatesOf, offersOf, showTimes, sideBySide } from '../browser/ways.ts'
import { receiptLink } from '../browser/receipt-link.ts'
import { systemClock } from '../../../libraries/base/clock.ts'

interface Parts {
  readonly form: HTMLFormElement
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
  const parts: Parts = { form, file, result, details }
  main.querySelector('#zones')?.append(...Intl.supportedValuesOf('timeZone').map((zone) => new Option(zone)))
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  main.querySelector('#p-timeZone')?.setAttribute('placeholder', `${timeZone}, if it is that of this browser`)
  showParameters(form, file)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    look(parts, begun(parts), true).catch(() => showUnreadable(parts))
  })
  form.addEventListener('input', ({ target }) => {
    changed(parts, target).catch(() => showUnreadable(parts))
  })
  for (const name of ['dragover', 'dragleave', 'drop'] as const)
    document.addEventListener(name, (event) => {
      event.preventDefault()
      drop.classList.toggle('over', name === 'dragover')
      const files = event.dataTransfer?.files
      if (name !== 'drop' || files === undefined || files.length === 0) return
      file.files = files
      changed(parts, file).catch(() => showUnreadable(parts))
    })
}

/** What was looked at is no longer what the form says. */
function begun({ result, details }: Parts): number {
  result.replaceChildren()
  details.inert = true
  return ++current
}

/** The file is looked at again once nobody types. */
async function changed(parts: Parts, target: EventTarget | null): Promise<void> {
  const { form, file } = parts
  if (target instanceof HTMLSelectElement && target.id === 'event-time') return fill(form, { eventTime: target.value })
  if (target instanceof HTMLSelectElement && target.id === 'of-column') {
    for (const name of ['nulls', 'dateFormat']) columnField(form, `${name}.${target.value}`)
    target.value = ''
    return
  }
  showParameters(form, file)
  const own = begun(parts)
  if (target !== file) await systemClock.sleep(300)
  if (own === current && file.files?.[0] !== undefined) await look(parts, own, false)
}

/** Those that count for the format; of a file whose dataset has no name yet, one is proposed. */
function showParameters(form: HTMLFormElement, { files }: HTMLInputElement): void {
  const ofFormat = formatOf(form, files?.[0]?.name)?.dataset['parameters']?.split(' ') ?? []
  for (const one of form.querySelectorAll<HTMLElement>('[data-of-format]')) {
    one.hidden = !ofFormat.includes(one.dataset['ofFormat'] ?? '')
  }
  const dataset = form.querySelector<HTMLInputElement>('#dataset')
  const stem = files?.[0]?.name
    .normalize('NFD')
    .replaceAll(/\p{M}|\.[^.]*$/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replaceAll(/-*\.[-.]*/g, '.')
    .slice(0, 100)
    .replaceAll(/^[-.]+|[-.]+$/g, '')
  if (dataset !== null && dataset.value === '' && stem !== undefined && stem !== '')
    dataset.value = `${form.getAttribute('data-account')}/${stem}`
}

/** The option that is chosen, or that the name of the file means. */
function formatOf(form: HTMLFormElement, name = ''): HTMLOptionElement | undefined {
  const chosen = form.querySelector<HTMLSelectElement>('#format')?.selectedOptions[0]
  if (chosen !== undefined && chosen.value !== '') return chosen
  const ending = name.split('.').at(-1)?.toLowerCase() ?? ''
  return form.querySelector<HTMLOptionElement>(`#format option[data-endings~="${CSS.escape(ending)}"]`) ?? undefined
}

/** The page is not loaded again, so the chosen file stays; its account is asked for, where the name is only proposed. */
function askForToken(parts: Parts, lines: readonly HTMLElement[], isAsked: boolean): void {
  const { nodes, field } = tokenHere(() => void signedIn(parts))
  show(parts, 'unjudged', 'Sending needs a token', [...nodes, ...lines])
  if (isAsked) field.focus()
}

async function signedIn({ form }: Parts): Promise<void> {
  const page = (await askForPage({ path: '/ingest', token: heldToken() }).answer)?.page
  const account = page?.querySelector('form.check')?.getAttribute('data-account') ?? 'me'
  const dataset = form.querySelector<HTMLInputElement>('#dataset')
  if (dataset !== null) dataset.value = dataset.value.replace(/^me\//, `${account}/`)
  form.setAttribute('data-account', account)
  form.requestSubmit()
}

/** What the form says; or what it lacks. */
function batchOf({ form, file: field }: Parts): Batch | string {
  const said = new FormData(form)
  const text = (name: string): string => textOf(said.get(name)).trim()
  const [file, more] = field.files ?? []
  const alias = text('dataset')
  if (!/^[^/\s]+\/[^/\s]+$/.test(alias)) return 'Name the dataset as account/dataset'
  if (file === undefined || more !== undefined) return 'Choose one file'
  if (file.size > Number(form.getAttribute('data-most-bytes')))
    return 'This file is too large for one request. Split it'
  const mediaType = formatOf(form, file.name)?.value
  if (mediaType === undefined) return 'The name of the file does not show its format. Choose one'
  const parameters = new URLSearchParams()
  if (text('create') !== '') parameters.set('create', 'true')
  if (text('create') !== '') parameters.set('visibility', text('visibility'))
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('.parameter:not([hidden]) [name]')) {
    if (field.value !== '') parameters.set(field.name.slice('p-'.length), field.value)
  }
  return { alias, file, mediaType, parameters }
}

/** Pages that came over plain HTTP have no `randomUUID`. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function pathOf({ alias }: Batch, query: string): string {
  return `/${alias.split('/').map(encodeURIComponent).join('/')}/ingest?${query}`
}

/** Posts a file: its beginning for a look; to be stored, all of it under a key. */
async function post(
  parts: Parts,
  batch: Batch,
  { file, key, own }: { readonly file: Blob; readonly key?: string; readonly own: number },
): Promise<Answer | undefined> {
  const isDry = key === undefined
  const headers = { 'content-type': batch.mediaType, ...(isDry ? {} : { ...keyedBy(batch, key), prefer: 'wait=20' }) }
  let shown = 0
  const onProgress = (share: number): void => {
    const percent = Math.floor(20 * share) * 5
    if (own !== current || percent === shown) return
    shown = percent
    say(parts, '', `${isDry ? 'Reading it' : 'Sending'}… ${percent}%`)
  }
  say(parts, '', isDry ? 'Reading it…' : 'Sending…')
  const path = pathOf(batch, `${isDry ? 'dryRun=true&rows=20&' : ''}${batch.parameters}`)
  return await sendFile({ path, file, headers, onProgress })
}

/** The file was changed since it was chosen, and no browser reads it then. */
function showUnreadable(parts: Parts): void {
  show(parts, 'unjudged', 'The file cannot be read any more. Choose it again', [])
}

async function look(parts: Parts, own: number, isAsked: boolean): Promise<void> {
  const { form } = parts
  const [chosen] = parts.file.files ?? []
  const format = formatOf(form, chosen?.name)
  const mediaType = format?.value
  // Of a file that no node reads, the node only says what to do about it.
  const file = format?.hidden === true ? chosen?.slice(0, 1024) : chosen
  const [charset = '', quote = ''] = ['charset', 'quote'].map((name) => textOf(new FormData(form).get(`p-${name}`)))
  const head = file && mediaType ? await headOf(file, { mediaType, charset, quote }) : undefined
  if (own !== current) return
  const lines = head === undefined ? [] : [sideBySide(head.lines)]
  if (heldToken() === undefined) return askForToken(parts, lines, isAsked)
  const batch = batchOf(parts)
  if (typeof batch === 'string') return show(parts, 'unjudged', batch, lines)
  const part = head?.part
  if (part === undefined) {
    showTimes(form, undefined, false)
    return offer(parts, batch, 'Too large for a preview: the node says what is in doubt once it has the file', lines)
  }
  const [answer, isNew] = await Promise.all([post(parts, batch, { file: part, own }), isMissing(batch.alias)])
  if (own !== current) return
  if (answer === undefined) return show(parts, 'unjudged', 'The node does not answer', lines)
  if (answer.status !== 200) return showRefusal(parts, answer, lines)
  showTimes(form, answer.body, isNew)
  const isPart = part.size < batch.file.size
  const count = Number(memberOf(answer.body, 'records'))
  const records = `${count.toLocaleString('en-US')} ${count === 1 ? 'record' : 'records'}`
  offer(parts, batch, isPart ? `It begins well: ${records}` : `It fits: ${records}`, [
    ...warningLines(form, answer.body),
    ...offersOf(form, answer.body),
    sideBySide(head?.lines, answer.body),
  ])
  if (!isNew) await tellKnown(parts, batch, { part, own })
}

/** A file may be sent that was not looked at, or not all of it. */
function offer(parts: Parts, batch: Batch, headline: string, content: readonly HTMLElement[]): void {
  const button = element('button', '', 'Send the file')
  button.addEventListener('click', () => {
    const time = parts.form.querySelector<HTMLSelectElement>('#event-time')
    if (time?.reportValidity() !== false) send(parts, batch).catch(() => showUnreadable(parts))
  })
  const hint = 'Nothing is stored yet. It is stored whole or not at all, and its faults are listed with their places.'
  const last = element('div', '', element('p', 'hint', hint), button)
  last.id = 'send'
  show(parts, headline.startsWith('It') ? 'good' : 'unjudged', headline, [...content, last])
}

/** Says of a body that the dataset has that it is there, in the place of the button that sends it. */
async function tellKnown(parts: Parts, batch: Batch, { part, own }: { part: Blob; own: number }): Promise<void> {
  const query = new URLSearchParams(batch.parameters)
  for (const name of ['create', 'visibility']) query.delete(name)
  const headers = { 'content-type': batch.mediaType, ...keyedBy(batch, await keyOf(batch.file)) }
  const block = own === current ? await knownBlock({ path: pathOf(batch, `${query}`), file: part, headers }) : undefined
  if (own !== current || block === undefined) return
  parts.details.querySelector('#send')?.remove()
  parts.result.append(...knownLines(parts, batch, block))
}

function knownLines(parts: Parts, batch: Batch, block: string): HTMLElement[] {
  const button = element('button', '', 'Store it once more')
  button.addEventListener('click', () => void send(parts, batch, newKey()))
  const where = block === '' ? '' : `, in block ${block}`
  const line = element('p', 'unjudged', `This very body is in ${batch.alias} already${where}.`)
  return batch.parameters.has('dedupe') ? [line] : [line, element('p', '', button)]
}

/** A batch has one key: where `dedupe` is to find it, none is given. */
function keyedBy({ parameters }: Batch, key: string): Readonly<Record<string, string>> {
  return parameters.has('dedupe') ? {} : { 'idempotency-key': key }
}

async function send(parts: Parts, batch: Batch, otherKey?: string): Promise<void> {
  const own = ++current
  const { form } = parts
  show(parts, '', 'Sending…', [])
  const key = otherKey ?? (await keyOf(batch.file))
  const answer = own === current ? await post(parts, batch, { file: batch.file, key, own }) : undefined
  if (own !== current) return
  if (answer === undefined || answer.status >= 500) return showUnknown(parts, { batch, key }, answer)
  if (memberOf(answer.body, 'error', 'kind') === 'IdempotencyKeyReused')
    return show(parts, 'unjudged', 'Nothing is stored', knownLines(parts, batch, ''))
  if (answer.status !== 200 && answer.status !== 202) return showRefusal(parts, answer)
  if (answer.status === 202) show(parts, '', 'Durable in the log, waiting for its block…', receiptLines(answer.body))
  const receipt = await settled(answer.body, () => own === current)
  if (own !== current) return
  const status = memberOf(receipt, 'status')
  if (status === 'rejected' || status === 'lost') return showRefusal(parts, { status: 422, body: receipt })
  const link = element('a', '', `Open ${batch.alias}`)
  link.setAttribute('href', `/${batch.alias}`)
  const block = textOf(memberOf(receipt, 'block', 'hash'))
  const known = memberOf(answer.body, 'replayed') === true ? knownLines(parts, batch, block) : undefined
  const headline = status === 'committed' ? '✓ Stored, and in a block' : '✓ Durable in the log; not in a block yet'
  // What is doubted stands in the first answer alone.
  const signed = receiptLink(textOf(memberOf(receipt, 'receiptId')))
  const lines = [...warningLines(form, answer.body), ...receiptLines(receipt), element('p', '', link), signed]
  show(parts, 'good', known === undefined ? headline : '✓ It was there: stored once', [...(known ?? []), ...lines])
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
function warningLines(form: HTMLFormElement, answer: unknown): HTMLElement[] {
  return listOf(memberOf(answer, 'warnings')).map((text) => sentence(form, 'unjudged', `Warning: ${textOf(text)}`))
}

/** Whether it was stored is not known: the same key makes the next attempt safe. */
function showUnknown(parts: Parts, sent: { batch: Batch; key: string }, answer: Answer | undefined): void {
  const button = element('button', '', 'Send it again')
  button.addEventListener('click', () => void send(parts, sent.batch, sent.key))
  show(parts, 'unjudged', '? The node has not said whether it is stored', [
    element('p', '', textOf(memberOf(answer?.body, 'detail'))),
    element('p', 'hint', 'It has its own key, so it is stored once even if sent again.'),
    element('p', '', button),
  ])
}

/** What is wrong with the file, with the place of each fault and what may settle it. */
function showRefusal(parts: Parts, { body }: Answer, lines: readonly HTMLElement[] = []): void {
  const { form } = parts
  const faults = listOf(memberOf(body, 'errors'))
  const rows = faults.map((fault) => [
    textOf(memberOf(fault, 'record')),
    textOf(memberOf(fault, 'line')),
    textOf(memberOf(fault, 'column') ?? memberOf(fault, 'pointer')),
    `${textOf(memberOf(fault, 'kind'))}: ${sentence(form, '', memberOf(fault, 'message')).textContent}`,
    textOf(memberOf(fault, 'excerpt')),
  ])
  const total = Number(memberOf(body, 'errorsTotal') ?? faults.length)
  const note = `${total} ${total === 1 ? 'fault' : 'faults'}${total > faults.length ? `, the first ${faults.length} of them` : ''}; records count from 0.`
  const candidates = candidatesOf(form, body)
  const isAsked = candidates.length > 0
  if (isAsked) showTimes(form, undefined, false)
  const title = textOf(memberOf(body, 'title')) || 'Rejected after it was logged'
  show(parts, isAsked ? 'unjudged' : 'bad', `${isAsked ? '?' : '✗'} ${title}. Nothing is stored`, [
    sentence(form, '', memberOf(body, 'detail')),
    ...(isAsked ? candidates : [sentence(form, '', memberOf(body, 'hint'))]),
    ...offersOf(form, body),
    ...(rows.length === 0
      ? []
      : [element('p', 'hint', note), tableOf('Faults', ['Record', 'Line', 'Column', 'Fault', 'There'], rows)]),
    ...lines,
  ])
}

type Tone = '' | 'good' | 'bad' | 'unjudged'

function show(parts: Parts, tone: Tone, headline: string, content: readonly HTMLElement[]): void {
  say(parts, tone, headline)
  parts.details.replaceChildren(...content)
  parts.details.inert = false
}

function say({ result }: Parts, tone: Tone, headline: string): void {
  result.replaceChildren(element('h2', tone, headline))
}
