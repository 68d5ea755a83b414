// A hint for who writes the name of a dataset without its quotes: the engine takes / and - for operators, and says no more
// than "syntax error". Pure.

/** After words that a table follows: a name of two parts, with a slash or a hyphen in it. */
const bareName =
  /\b(?:from|join|describe|summarize)\s+([a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*)([/.])([a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*)/gi
/** Text and comments, in which a name is no name. */
const quoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//g

/** What to write instead, where a name in `sql` lacks its quotes. */
export function unquotedNameHint(sql: string): string | undefined {
  const bare = sql.replace(quoted, (text) => ' '.repeat(text.length))
  for (const [, account = '', separator = '', dataset = ''] of bare.matchAll(bareName)) {
    if (separator === '/' || account.includes('-') || dataset.includes('-')) {
      return `Names of datasets with '/' or '-' stand in double quotes: "${account}/${dataset}".`
    }
  }
  return undefined
}
