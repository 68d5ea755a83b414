// Elements of a page from what charts are made of.

import type { Mark } from '../charts/marks.ts'

const svgNames = new Set(['svg', 'g', 'path', 'rect'])

export function elementOf({ name, attributes, children }: Mark): Element {
  const made = svgNames.has(name)
    ? document.createElementNS('http://www.w3.org/2000/svg', name)
    : document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, String(value))
  made.append(...children.map((child) => (typeof child === 'string' ? child : elementOf(child))))
  return made
}
