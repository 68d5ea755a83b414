// The answer that a page shows, as its table has it.

import type { AnswerColumn, Rows } from '../charts/cells.ts'

export interface Answer {
  readonly columns: readonly AnswerColumn[]
  readonly rows: Rows
}

export function answerOf(table: HTMLTableElement): Answer {
  const columns = [...(table.tHead?.rows[0]?.cells ?? [])].map((head) => ({
    name: head.firstChild?.textContent ?? '',
    type: head.querySelector('small')?.textContent ?? '',
    isNumber: head.classList.contains('number'),
  }))
  const rows = [...(table.tBodies[0]?.rows ?? [])].map(({ cells }) =>
    [...cells].map((cell) => (cell.classList.contains('null') ? undefined : (cell.textContent ?? ''))),
  )
  return { columns, rows }
}
