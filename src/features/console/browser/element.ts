// Elements made of texts, and texts taken from what a node says: never markup, never what controls or reorders text.

import { cleanText } from '../../../libraries/base/clean-text.ts'

/** An element with these children; texts become text nodes. */
export function element(name: string, className: string, ...children: readonly (Node | string)[]): HTMLElement {
  const made = document.createElement(name)
  if (className !== '') made.className = className
  made.append(...children)
  return made
}

/** A table that scrolls by itself; each row begins with its header. */
export function tableOf(label: string, heads: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  const head = element('tr', '', ...heads.map((text) => element('th', '', text)))
  const body = rows.map((row) => element('tr', '', ...row.map((text, at) => element(at === 0 ? 'th' : 'td', '', text))))
  const table = element('table', '', element('thead', '', head), element('tbody', '', ...body))
  const box = element('div', 'scroll', table)
  box.tabIndex = 0
  box.setAttribute('role', 'region')
  box.setAttribute('aria-label', label)
  return box
}

/** A text or number that a node said; empty where it said none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? cleanText(String(value), '\n\t') : ''
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A member of an object that a node said, by its path. */
export function memberOf(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((found, name) => Object(found)[name], value)
}
