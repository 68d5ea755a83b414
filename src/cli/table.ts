// Text in columns for terminals. Whatever comes from outside is made harmless first: no control character of a row
// reaches a terminal.

/** Wider cells are cut: a table is for reading, the other forms have the whole value. */
const widestCell = 80

export interface Column {
  readonly name: string
  readonly alignRight: boolean
}

/** `text` without control characters (escaped, `keep` excepted) and without what reorders text in a terminal. */
export function cleanText(text: string, keep = ''): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    keep.includes(character) ? character : (shortEscapes[character] ?? hexEscape(character)),
  )
}

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function hexEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Columns that a terminal gives the text: marks take none, wide East Asian characters and emoji take two. */
export function displayWidth(text: string): number {
  let width = 0
  for (const character of text.match(/\P{ASCII}|\p{ASCII}+/gu) ?? []) width += widthOf(character)
  return width
}

const noWidth = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const wide =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]$/u

function widthOf(run: string): number {
  if (run.charCodeAt(0) < 0x80) return run.length
  if (noWidth.test(run)) return 0
  return wide.test(run) ? 2 : 1
}

/** Lines of a table: header, rule, rows. Cells are cleaned and cut here. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map((cell) => cut(cleanText(cell))))
  const names = columns.map(({ name }) => cut(cleanText(name)))
  const widths = names.map((name, at) =>
    cells.reduce((width, row) => Math.max(width, displayWidth(row[at] ?? '')), displayWidth(name)),
  )
  const line = (row: readonly string[]): string =>
    widths
      .map((width, at) => pad(row[at] ?? '', { width, right: columns[at]?.alignRight ?? false }))
      .join(' │ ')
      .trimEnd()
  return [line(names), widths.map((width) => '─'.repeat(width)).join('─┼─'), ...cells.map(line)]
}

/** Columns with two spaces between them and no rule; for what goes under an error. */
export function plainTable(names: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = [names, ...rows.map((row) => row.map((cell) => cleanText(cell)))]
  const widths = names.map((_, at) => Math.max(...cells.map((row) => displayWidth(row[at] ?? ''))))
  return cells.map((row) =>
    widths
      .map((width, at) => pad(row[at] ?? '', { width, right: false }))
      .join('  ')
      .trimEnd(),
  )
}

/** Lines `name  value`, names padded to one width. */
export function pairLines(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(0, ...pairs.map(([name]) => displayWidth(name)))
  return pairs.map(([name, value]) => `${pad(name, { width, right: false })}  ${cleanText(value)}`.trimEnd())
}

function cut(text: string): string {
  if (displayWidth(text) <= widestCell) return text
  let out = ''
  let width = 0
  for (const character of text) {
    width += displayWidth(character)
    if (width >= widestCell) break
    out += character
  }
  return `${out}…`
}

function pad(text: string, { width, right }: { readonly width: number; readonly right: boolean }): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)))
  return right ? spaces + text : text + spaces
}
