// Rows that benchmarks post.

/** NDJSON rows of 150 bytes, numbered from `first`. */
export function ndjsonRows(first: number, count: number): string {
  const lines: string[] = []
  for (let i = first; i < first + count; i++) {
    lines.push(
      `{"device":"device-${String((i * 7919) % 1000).padStart(4, '0')}","k":${(i * 31) % 100_000},"temp":${(i / 3).toFixed(6)},` +
        `"at":"2026-03-01T10:${String(i % 60).padStart(2, '0')}:00Z","note":"reading ${i} of the second run"}\n`,
    )
  }
  return lines.join('')
}
