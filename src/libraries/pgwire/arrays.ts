// Arrays of PostgreSQL as text, and as the engine writes lists. Pure.

const element = /\s*(?:"((?:[^"\\]|\\.)*)"|((?:[^"\\{},]|\\.)+?))\s*(?:,|$)/sy

/** The elements of `{a,"b c",NULL}`; undefined for what is no array of one dimension. */
export function elementsOf(array: string): (string | null)[] | undefined {
  const inner = /^\s*\{(.*)\}\s*$/s.exec(array)?.[1]?.trim()
  if (inner === undefined || inner.endsWith(',')) return undefined
  const elements: (string | null)[] = []
  element.lastIndex = 0
  while (element.lastIndex < inner.length) {
    const [, quoted, bare = ''] = element.exec(inner) ?? []
    if (quoted === undefined && bare === '') return undefined
    const isNull = quoted === undefined && bare.toLowerCase() === 'null'
    elements.push(isNull ? null : (quoted ?? bare).replaceAll(/\\(.)/gs, '$1'))
  }
  return elements
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
