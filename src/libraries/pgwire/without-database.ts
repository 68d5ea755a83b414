// Tables with their database, `FROM database.account.dataset`, as dbt writes them: the engine knows them without. Blanks stand for it,
// so places stay, and addresses of proofs have none. Pure.

import { foldAscii } from '../model/names.ts'
import { lexSql, type SqlToken } from '../sql/lexer.ts'

/** The text of statements to somebody who is connected to `database`. */
export function withoutDatabase(sql: string, database: string): string {
  if (!foldAscii(sql).includes(foldAscii(database))) return sql
  const tokens = lexSql(sql)
  let written = ''
  for (const at of tokens.keys()) {
    const [before, first, , second] = tokens.slice(at, at + 4)
    if (before === undefined || first === undefined || second === undefined) continue
    const name = sql.slice(first.start, first.end).replaceAll('"', '')
    if (!isTable(before, tokens.slice(at + 1, at + 6)) || foldAscii(name) !== foldAscii(database)) continue
    written += sql.slice(written.length, first.start) + ' '.repeat(second.start - first.start)
  }
  return written + sql.slice(written.length)
}

/** Three names after a word that tables stand behind. */
function isTable({ kind, text }: SqlToken, path: readonly SqlToken[]): boolean {
  if (kind !== 'word' || !['from', 'join', 'copy'].includes(text) || path.length < 5) return false
  return path.every((part, at) => (at % 2 === 1 ? part.text === '.' : part.kind === 'word' || part.kind === 'name'))
}
