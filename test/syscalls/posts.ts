// The batches of the run under strace, in turns; those of one turn are sent at once.

import type { Answer } from '../history/history.ts'

export interface Line {
  readonly id: string
  readonly answer: Answer | undefined
}

export interface WorkPost {
  readonly id: string
  readonly alias: string
  readonly rows: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

function workPost(id: string, rows: number, prefer: string, fillBytes = 0): WorkPost {
  let body = ''
  for (let i = 0; i < rows; i++) {
    body += `${JSON.stringify({ batch: id, i, of: rows, fill: 'x'.repeat(fillBytes) })}\n`
  }
  return { id, alias: 'acme/work', rows, body, headers: { 'idempotency-key': id, prefer } }
}

export function postsOf(): WorkPost[][] {
  return [
    [workPost('first', 2, 'wait=2')],
    [workPost('pair-1', 3, 'wait=2'), workPost('pair-2', 1, 'respond-async')],
    [workPost('large', 3, 'wait=2', 200_000)],
    [workPost('last', 2, 'wait=2')],
  ]
}
