// A report as elements of a page. Whatever a file holds goes into the page as text, never as markup.

import { cleanText } from '../../../libraries/base/clean-text.ts'
import { rowsTitle } from '../../../libraries/evidence/layout.ts'
import { type Line, type Report, type ShownRows, toneOf } from '../../../libraries/evidence/report.ts'
import { element } from './element.ts'

const marks = { good: '✓', bad: '✗', open: '?' } as const

export interface Headline {
  readonly tone: 'good' | 'bad' | 'unjudged'
  readonly text: string
}

export function headlineOf(report: Report): Headline {
  const tone = toneOf(report)
  return { tone: tone === 'open' ? 'unjudged' : tone, text: cleanText(`${marks[tone]} ${report.headline}`) }
}

/** All but the headline. */
export function reportContent(report: Report): HTMLElement[] {
  const { what, why, about, rows, signed, when, checked, open, remarks, hashes } = report
  return [
    element('p', 'hint', cleanText(`The file is ${what}.`)),
    ...why.map((text) => element('p', '', cleanText(text))),
    ...(rows === undefined ? [] : rowsTable(rows)),
    ...part('What it is about', pairs(about)),
    ...part('Who signed', pairs(signed)),
    ...part('When', pairs(when)),
    ...part('Checked', list(checked)),
    ...part('Not checked', list(open)),
    ...part('Remarks', list(remarks)),
    ...(hashes.length === 0 ? [] : [element('details', '', element('summary', '', 'Hashes'), ...pairs(hashes))]),
  ]
}

function part(title: string, content: readonly HTMLElement[]): HTMLElement[] {
  return content.length === 0 ? [] : [element('h3', '', title), ...content]
}

function pairs(lines: readonly Line[]): HTMLElement[] {
  const named = lines.filter(([name]) => name !== '')
  const loose = lines.filter(([name]) => name === '')
  return [
    ...(named.length === 0
      ? []
      : [
          element(
            'dl',
            '',
            ...named.flatMap(([name, text]) => [
              element('dt', '', cleanText(name)),
              element('dd', '', cleanText(text, '\n\t')),
            ]),
          ),
        ]),
    ...loose.map(([, text]) => element('p', '', cleanText(text))),
  ]
}

function list(texts: readonly string[]): HTMLElement[] {
  return texts.length === 0 ? [] : [element('ul', '', ...texts.map((text) => element('li', '', cleanText(text))))]
}

function rowsTable(shown: ShownRows): HTMLElement[] {
  const { columns, rows } = shown
  if (rows.length === 0) return []
  const cells = (name: string, texts: readonly string[]): HTMLElement =>
    element('tr', '', ...texts.map((text) => element(name, '', text)))
  const head = columns.length === 0 ? [] : [element('thead', '', cells('th', columns))]
  const body = element('tbody', '', ...rows.map((row) => cells('td', row)))
  const box = element('div', 'scroll', element('table', '', element('caption', '', rowsTitle(shown)), ...head, body))
  box.tabIndex = 0
  box.setAttribute('role', 'group')
  box.setAttribute('aria-label', 'Rows')
  return [box]
}
