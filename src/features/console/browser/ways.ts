// How a file is read, and could be: its lines beside its rows, what the node offers, and which column is the event time before the
// first block settles it.

import { element, listOf, memberOf, tableOf, textOf } from './element.ts'
import { changesText, fill, sentence } from './parameter-fields.ts'

const shownColumns = 100
const cellChars = 100

/** The lines that were looked at, beside the columns and rows of the answer, if there are any. */
export function sideBySide(lines: readonly string[] | undefined, answer?: unknown): HTMLElement {
  const columns = listOf(memberOf(answer, 'columns'))
  const cut = columns.length > shownColumns ? `, ${shownColumns} of ${columns.length} columns` : ''
  const shown = columns.slice(0, shownColumns)
  const isDated = memberOf(answer, 'eventTime', 'from') === 'field'
  const about = (title: string, member: string): string[] => [
    title,
    ...shown.map((one) => cellText(memberOf(one, member))),
  ]
  const rows = listOf(memberOf(answer, 'rows')).map((row, at) => [
    String(at),
    ...shown.map((one, place) =>
      place > 0 || isDated ? cellText(memberOf(row, String(memberOf(one, 'name')))) : 'on arrival',
    ),
  ])
  const facts = [about('Type', 'type'), about('Read as', 'read'), about('Nulls', 'nulls')]
  const raw = lines === undefined ? element('p', 'hint', 'Files of this format are no text.') : element('pre', '')
  if (lines !== undefined) Object.assign(raw, { textContent: lines.join('\n'), tabIndex: 0 })
  const table = (): HTMLElement => tableOf('First rows', about('Record', 'name'), [...facts, ...rows])
  return element(
    'div',
    'sides',
    element('div', '', element('h3', '', 'In the file'), raw),
    ...(columns.length === 0 ? [] : [element('div', '', element('h3', '', `As it is read${cut}`), table())]),
  )
}

function cellText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return textOf(text.length > cellChars ? `${text.slice(0, cellChars)}…` : text)
}

/** Dialects that the node tried on the beginning of the file, each with its first record. */
export function offersOf(form: HTMLFormElement, answer: unknown): HTMLElement[] {
  return listOf(memberOf(answer, 'offers')).map((offer) => {
    const parameters = memberOf(offer, 'parameters')
    const first = Object.entries(Object(memberOf(offer, 'first')))
    const button = element('button', '', 'Read it so')
    button.addEventListener('click', () => fill(form, parameters))
    const [heads, cells] = [first.map(([name]) => textOf(name)), first.map(([, value]) => cellText(value))]
    const changes = changesText(form, parameters)
    const table = tableOf(`First record, ${changes}`, heads, [cells])
    return element('div', 'way', element('p', '', element('strong', '', changes)), table, button)
  })
}

/** The question which candidate is the event time; nothing where the node asks none. */
export function candidatesOf(form: HTMLFormElement, answer: unknown): HTMLElement[] {
  const candidates = memberOf(answer, 'error', 'kind') === 'SayHow' ? listOf(memberOf(answer, 'candidates')) : []
  if (candidates.length === 0) return []
  const choices = candidates.map((candidate, at) => {
    const radio = document.createElement('input')
    Object.assign(radio, { type: 'radio', name: 'way', value: String(at), required: true })
    const field = textOf(memberOf(candidate, 'field'))
    const why = sentence(form, '', memberOf(candidate, 'why')).textContent
    return element('label', 'choice', radio, field === 'received' ? '' : `${field}: `, why)
  })
  const legend = element('legend', '', 'Which is the time of each record?')
  const asked = element('form', 'way', element('fieldset', '', legend, ...choices), element('button', '', 'Read it so'))
  asked.addEventListener('submit', (event) => {
    event.preventDefault()
    const chosen = Number(asked.querySelector<HTMLInputElement>(':checked')?.value)
    fill(form, memberOf(candidates[chosen], 'parameters'))
  })
  return [asked]
}

/** The field in which the event time of a dataset is chosen that is to be made; hidden where there is nothing to choose. */
export function showTimes(form: HTMLFormElement, answer: unknown, isNew: boolean): void {
  const select = form.querySelector<HTMLSelectElement>('#event-time')
  const box = select?.closest('div')
  if (select === null || box === null || box === undefined) return
  box.hidden = !isNew
  select.required = isNew
  const { from, name = '' } = Object(memberOf(answer, 'eventTime'))
  const taken = from === 'field' ? String(name) : ''
  const times = listOf(memberOf(answer, 'columns')).filter((column, at) => {
    const isTime = ['Timestamp', 'Date'].includes(textOf(memberOf(column, 'type')))
    return isTime && (at > 0 || memberOf(column, 'name') === taken)
  })
  const columns = ['', ...listOf(memberOf(answer, 'columns')).map((column) => String(memberOf(column, 'name')))]
  form.querySelector('#of-column')?.replaceChildren(...columns.map((one) => new Option(textOf(one), one)))
  const names = times.map((column) => String(memberOf(column, 'name')))
  const said = form.querySelector<HTMLInputElement>('#p-eventTime')?.value ?? ''
  const chosen = said || taken || (names.length === 0 ? 'received' : '')
  const all = new Set([...(chosen === '' ? [''] : []), ...names, chosen, 'received'])
  const titles: Readonly<Record<string, string>> = { '': 'Choose…', received: 'Time of arrival' }
  select.replaceChildren(...[...all].map((one) => new Option(titles[one] ?? textOf(one), one)))
  select.value = chosen
}
