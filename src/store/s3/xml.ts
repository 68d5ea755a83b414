// Reads the XML with which a store answers: elements, text, the predefined entities. What these answers never have
// (document types, CDATA, processing instructions) is refused, so that nothing is expanded or skipped unseen.

import { ownValue } from '../../lib/collections.ts'
import { DecodeError } from '../../model/errors.ts'

export interface XmlElement {
  readonly name: string
  /** The text directly in it. */
  readonly text: string
  readonly children: readonly XmlElement[]
}

const depthMost = 16
/** A page of a listing has some ten for each of a thousand keys. */
const elementsMost = 100_000
const token = /<(\/?)([A-Za-z_][\w.:-]*)(?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(\/?)>|([^<]+)/y
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The root element of a document. Throws `DecodeError`. */
export function parseXml(text: string): XmlElement {
  const refuse = (reason: string, at: number): never => {
    throw new DecodeError('answer in XML', reason, at)
  }
  type Open = { name: string; text: string; children: XmlElement[] }
  const document: Open = { name: '', text: '', children: [] }
  const open: Open[] = [document]
  let elements = 0
  token.lastIndex = /^(?:\uFEFF)?(?:<\?xml [^?>]*\?>)?/.exec(text)?.[0].length ?? 0
  while (token.lastIndex < text.length) {
    const at = token.lastIndex
    const [, closing, name = '', empty, characters] = token.exec(text) ?? refuse('neither an element nor text', at)
    const parent = open.at(-1) ?? refuse('more is closed than was opened', at)
    if (characters !== undefined) {
      parent.text += decodeEntities(characters, () => refuse('an unknown entity', at))
    } else if (closing === '/') {
      if (parent.name !== name || open.length === 1) refuse(`</${name}> closes <${parent.name}>`, at)
      open.pop()
    } else {
      const element: Open = { name, text: '', children: [] }
      parent.children.push(element)
      if (++elements > elementsMost) refuse(`more than ${elementsMost} elements`, at)
      if (empty === '/') continue
      if (open.push(element) > depthMost) refuse(`more than ${depthMost} levels`, at)
    }
  }
  const [root, more] = document.children
  if (root === undefined || more !== undefined || open.length > 1 || document.text.trim() !== '') {
    return refuse('no document of one element', text.length)
  }
  return root
}

function decodeEntities(text: string, refuse: () => never): string {
  return text.replace(/&([^;&]*);?/g, (entity, name: string) => {
    const code = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));$/.exec(entity.slice(1))
    const point = code === null ? undefined : Number.parseInt(code[1] ?? code[2] ?? '', code[1] === undefined ? 10 : 16)
    if (point !== undefined) return point <= 0x10ffff ? String.fromCodePoint(point) : refuse()
    return (entity.endsWith(';') ? ownValue(entities, name) : undefined) ?? refuse()
  })
}

/** The text of the child of `element` with that name, or undefined when it has none. */
export function childText({ children }: XmlElement, name: string): string | undefined {
  return children.find((child) => child.name === name)?.text
}
