// Arrays of PostgreSQL as text, and as the engine writes lists. Pure.

const blanks = String.raw`[ \t\n\v\f\r]*`
const word = String.raw`(?:[^"\\{}, \t\n\v\f\r]|\\.)+`
/** Words, and the blanks between them, match in one way only: none is tried again and again. */
const element = new RegExp(
  String.raw`${blanks}(?:"((?:[^"\\]|\\.)*)"|(${word}(?:[ \t\n\v\f\r]+${word})*))${blanks}(,|$)`,
  'sy',
)
const array = new RegExp(String.raw`^${blanks}\{(?:${blanks}|(.*))\}${blanks}$`, 's')

/** The elements of `{a,"b c",NULL}`; undefined for what is no array of one dimension. */
export function elementsOf(text: string): (string | null)[] | undefined {
  const found = array.exec(text)
  const inner = found?.[1] ?? ''
  const elements: (string | null)[] = []
  let end = found === null ? ',' : ''
  element.lastIndex = 0
  while (element.lastIndex < inner.length) {
    const [all, quoted, bare = '', mark = ''] = element.exec(inner) ?? []
    if (all === undefined) return undefined
    end = mark
    const isNull = quoted === undefined && bare.toLowerCase() === 'null'
    elements.push(isNull ? null : (quoted ?? bare).replaceAll(/\\(.)/gs, '$1'))
  }
  return end === ',' ? undefined : elements
}

/** As the engine reads a list from text. */
export function listText(elements: readonly (string | null)[]): string {
  return `[${inText(elements)}]`
}

/** As PostgreSQL reads an array. */
export function arrayText(elements: readonly (string | null)[]): string {
  return `{${inText(elements)}}`
}

function inText(elements: readonly (string | null)[]): string {
  return elements.map((one) => (one === null ? 'NULL' : `"${one.replaceAll(/["\\]/g, String.raw`\$&`)}"`)).join(',')
}
