// Arrays of PostgreSQL as text, in the words of the engine's lists. Pure.

const element = /\s*(?:"((?:[^"\\]|\\.)*)"|((?:[^"\\{},]|\\.)+?))\s*(?:,|$)/sy
/** What the engine reads as it is without quotes. */
const plain = /^[^'()[\]\s\\]+(?: [^'()[\]\s\\]+)*$/

/** `{a,"b c",NULL}` as `[a,"b c",NULL]`; undefined for what is no array of one dimension. */
export function listText(array: string): string | undefined {
  const inner = /^\s*\{(.*)\}\s*$/s.exec(array)?.[1]?.trim()
  if (inner === undefined) return undefined
  const elements: string[] = []
  element.lastIndex = 0
  while (element.lastIndex < inner.length) {
    const [, quoted, bare = ''] = element.exec(inner) ?? []
    if (quoted === undefined && bare === '') return undefined
    const isPlain = quoted === undefined && plain.test(bare)
    elements.push(isPlain ? bare : `"${(quoted ?? bare).replaceAll(/\\(.)/gs, needed)}"`)
  }
  return inner.endsWith(',') ? undefined : `[${elements.join(',')}]`
}

function needed(pair: string, unit: string): string {
  return unit === '"' || unit === '\\' ? pair : unit
}
