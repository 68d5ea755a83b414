// HTML that is escaped by construction: the one template of every page that the server makes. Whatever is put into it is
// text: signs of markup are escaped, and what controls or reorders text is shown instead of obeyed.

import { cleanText } from './clean-text.ts'

/** A piece of HTML, which `html` alone makes. */
export class Html {
  readonly text: string

  constructor(parts: readonly string[], values: readonly HtmlValue[]) {
    this.text = parts.map((part, i) => part + (i < values.length ? textOf(values[i]) : '')).join('')
  }
}

type HtmlValue = string | number | undefined | Html | readonly Html[]

/** HTML as it is written in the program, with values between: text is escaped, in content and in quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts, values)
}

/** Nothing where `value` is undefined. */
export function where<T>(value: T | undefined, make: (value: T) => Html): Html | undefined {
  return value === undefined ? undefined : make(value)
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function textOf(value: HtmlValue): string {
  if (value === undefined) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(textOf).join('\n')
  return cleanText(String(value), '\n\t').replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)
}
