// The header of a CSV body: whether the first record is one, and which column each cell names.

import { foldAscii } from '../../model/names.ts'
import { classOfText, valueClass } from '../value-class.ts'
import type { CsvCells } from './cells.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The cells of the record last split, as text. */
export function cellTexts(cells: CsvCells): string[] {
  const out: string[] = []
  for (let i = 0; i < cells.count; i++) {
    out.push(decoder.decode(cells.source(i).subarray(cells.starts[i], cells.ends[i])))
  }
  return out
}

/** True when every cell is the name of another column, in any ASCII case. */
export function namesColumns(cells: readonly string[], isColumn: (folded: string) => boolean): boolean {
  const seen = new Set<string>()
  for (const cell of cells) {
    const folded = foldAscii(cell)
    if (!isColumn(folded) || seen.has(folded)) return false
    seen.add(folded)
  }
  return true
}

/** The index of the first cell that no header would have: empty, repeated, or a value; -1 when all look like names. */
export function firstNonName(cells: CsvCells): number {
  const seen = new Set<string>()
  const texts = cellTexts(cells)
  for (const [i, text] of texts.entries()) {
    const folded = foldAscii(text)
    if (text === '' || seen.has(folded)) return i
    seen.add(folded)
    if (classOfText(cells.source(i), cells.starts[i] ?? 0, cells.ends[i] ?? 0) !== valueClass.text) return i
  }
  return -1
}
