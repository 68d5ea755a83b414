// The fields of the page that are parameters of ingest: filled by buttons, made for one column, and named by their labels where
// the node speaks of parameters of an address.

import { element, textOf } from './element.ts'

type Field = HTMLInputElement | HTMLSelectElement

/** The field of a parameter; of `nulls.site`, where it has none yet, that of `nulls`. */
function fieldOf(form: HTMLFormElement, name: string): Field | undefined {
  const [general = ''] = name.split('.')
  const others = ['create', 'visibility'].includes(general) ? form.elements.namedItem(general) : null
  const found = form.elements.namedItem(`p-${name}`) ?? form.elements.namedItem(`p-${general}`) ?? others
  return found instanceof HTMLSelectElement || found instanceof HTMLInputElement ? found : undefined
}

/** The field of a parameter for one column, made where it is missing. */
export function columnField(form: HTMLFormElement, name: string): Field | undefined {
  const field = fieldOf(form, name)
  const box = field?.closest<HTMLElement>('.parameter')
  if (field === undefined || box === null || box === undefined || field.name === `p-${name}`) return field
  const made = document.createElement('input')
  Object.assign(made, { type: 'text', id: `p-${name}`, name: `p-${name}`, spellcheck: false, autocomplete: 'off' })
  const label = element('label', '', labelOf(form, name))
  label.setAttribute('for', made.id)
  const one = element('div', 'parameter', label, made)
  Object.assign(one.dataset, box.dataset)
  box.after(one)
  return made
}

/** What stands over its field; `Date format of Tag` for one column. */
function labelOf(form: HTMLFormElement, name: string): string {
  const [general = '', ...column] = name.split('.')
  const parts = [...(fieldOf(form, general)?.labels?.[0]?.childNodes ?? [])].filter((node) => node instanceof Text)
  const label = parts.map(({ data }) => data.replace(/,$/, '').trim()).find((text) => text !== '') ?? name
  return column.length === 0 ? label : `${label} of ${textOf(column.join('.'))}`
}

/** `Delimiter: ; · Decimal: ,` */
export function changesText(form: HTMLFormElement, parameters: unknown): string {
  const said = Object.entries(Object(parameters))
  return said.map(([name, value]) => `${labelOf(form, name)}: ${String(value)}`).join(' · ')
}

/** Writes values into their fields, and has the file read so; an empty one is for a person to fill in. */
export function fill(form: HTMLFormElement, parameters: unknown): void {
  // What was pressed goes with what it stood in.
  let next = form.contains(document.activeElement) ? undefined : document.querySelector<HTMLElement>('#result')
  for (const [name, value] of Object.entries(Object(parameters))) {
    const field = columnField(form, name)
    if (field === undefined) continue
    if (field instanceof HTMLInputElement && field.type === 'checkbox') field.checked = value === 'true'
    else [field.value, field.required] = [String(value), value === '']
    if (value === '') next = field
  }
  next?.closest('details')?.setAttribute('open', '')
  next?.focus()
  form.dispatchEvent(new Event('input'))
}

/** `name=value`, where `<value>` stands for any; or a name that is no word of English. */
const parameter = /\b([a-zA-Z]+(?:\.[^\s=]+)?)=(<[^>]*>|\S+?)(?=[.,;:)]*(?:[\s&]|$))|\b([a-z]+[A-Z][a-zA-Z]*)\b/g

/** A sentence of the node: a parameter in it is a button that fills its field, or leads there. */
export function sentence(form: HTMLFormElement, className: string, text: unknown): HTMLElement {
  const [said, shown] = [textOf(text), element('p', className)]
  let end = 0
  for (const match of said.matchAll(parameter)) {
    const [whole, given, value = '<>', bare = ''] = match
    const name = given ?? bare
    const field = fieldOf(form, name)
    if (field === undefined || field.closest('[hidden]') !== null) continue
    const isOpen = value.startsWith('<')
    const isLabel = isOpen || field.type === 'checkbox'
    const button = element('button', 'quiet', isLabel ? labelOf(form, name) : changesText(form, { [name]: value }))
    button.addEventListener('click', () => {
      field.closest('details')?.setAttribute('open', '')
      if (isOpen) field.focus()
      else fill(form, { [name]: value })
    })
    shown.append(said.slice(end, match.index), button)
    end = match.index + whole.length
  }
  shown.append(said.slice(end))
  return shown
}
