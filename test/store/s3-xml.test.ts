// XML of stores: what any writer makes of a tree is read back; what these answers never have is refused.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { DecodeError } from '../../src/model/errors.ts'
import { childText, parseXml, type XmlElement } from '../../src/store/s3/xml.ts'

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,8}$/)
const text = fc.string({ unit: 'binary', maxLength: 12 }).map((value) => value.replaceAll('\r', ''))

const tree = fc.letrec<{ element: XmlElement }>((tie) => ({
  element: fc.record({
    name,
    text,
    children: fc.oneof({ maxDepth: 4 }, fc.constant([]), fc.array(tie('element'), { maxLength: 3 })),
  }),
})).element

function escaped(value: string): string {
  return Array.from(value)
    .map((sign) => ('<>&"\''.includes(sign) ? `&#x${sign.codePointAt(0)?.toString(16)};` : sign))
    .join('')
}

function written({ name: tag, text: inside, children }: XmlElement): string {
  if (inside === '' && children.length === 0) return `<${tag} a="b>&amp;" c = 'd'/>`
  return `<${tag}\n xmlns="urn:x">${escaped(inside)}${children.map(written).join('')}</${tag} >`
}

test('every tree is read as it was written', () => {
  fc.assert(
    fc.property(tree, (element) => {
      expect(parseXml(`<?xml version="1.0" encoding="UTF-8"?>\n${written(element)}\n`)).toEqual(element)
    }),
    { numRuns: 300 },
  )
})

test('entities are the five of XML and numbers', () => {
  const root = parseXml('<a><Key>x&amp;&lt;&gt;&quot;&apos;&#65;&#x1F600;</Key></a>')
  expect(childText(root, 'Key')).toBe('x&<>"\'A😀')
  expect(childText(root, 'Other')).toBeUndefined()
})

test.each([
  '',
  'no element',
  '<a>',
  '<a></b>',
  '</a>',
  '<a/><b/>',
  '<a/>text',
  '<a><![CDATA[x]]></a>',
  '<a><!-- x --></a>',
  '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>',
  '<a>&e;</a>',
  '<a>& </a>',
  '<a>&#x110000;</a>',
  '<a b></a>',
  '<a b="<"></a>',
  '<?xml version="1.0"?><?other?><a/>',
  '<a>'.repeat(20) + '</a>'.repeat(20),
])('%j is refused', (document) => {
  expect(() => parseXml(document)).toThrow(DecodeError)
})

test('long texts without an end take no long time', () => {
  const startMs = performance.now()
  for (const part of ['<a ', '<a b="', '<a b=" c="', '&', '&a', '<', '<a><']) {
    expect(() => parseXml(part + ' x="y"'.repeat(50_000))).toThrow(DecodeError)
  }
  expect(performance.now() - startMs).toBeLessThan(5_000)
})
