// Statements that were asked on the SQL page of this node, kept in this browser alone: the newest twenty.

const key = 'proofstream-asked'
const most = 20
const longestChars = 4000

/** Newest first; none where the browser keeps nothing. */
export function history(): readonly string[] {
  try {
    const held: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(held) ? held.filter((sql) => typeof sql === 'string').slice(0, most) : []
  } catch {
    return []
  }
}

export function remember(sql: string): void {
  if (sql.trim() === '' || sql.length > longestChars) return
  try {
    localStorage.setItem(key, JSON.stringify([sql, ...history().filter((other) => other !== sql)].slice(0, most)))
  } catch {
    // A browser that keeps nothing has no history.
  }
}
