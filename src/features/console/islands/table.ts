// Tables of rows in a browser: a click on a head sorts the rows that are shown, another one turns them round; a text over
// them leaves those that hold it. The node is not asked.

import { textOf } from '../browser/element.ts'

export function start(main: HTMLElement): void {
  main.classList.add('scripted')
  main.addEventListener('click', (event) => sortBy(headOf(event)))
  main.addEventListener('input', (event) => {
    const field = event.target
    if (!(field instanceof HTMLInputElement) || field.dataset['filter'] === undefined) return
    const wanted = field.value.toLowerCase()
    for (const row of main.querySelectorAll<HTMLTableRowElement>('table.rows tbody tr'))
      row.hidden = !textOf(row.textContent).toLowerCase().includes(wanted)
  })
}

function headOf({ target }: Event): HTMLTableCellElement | undefined {
  return (target instanceof Element && target.closest<HTMLTableCellElement>('table.rows thead th')) || undefined
}

function sortBy(head: HTMLTableCellElement | undefined): void {
  const body = head?.closest('table')?.tBodies[0]
  if (head === undefined || body === undefined) return
  const isTurned = head.ariaSort === 'ascending'
  for (const other of head.parentElement?.children ?? []) other.removeAttribute('aria-sort')
  head.ariaSort = isTurned ? 'descending' : 'ascending'
  const isNumber = head.classList.contains('number')
  const keyed = [...body.rows].map((row) => ({ row, cell: row.cells[head.cellIndex] }))
  const compare = (a: string, b: string): number => (isNumber ? Number(a) - Number(b) : a < b ? -1 : a > b ? 1 : 0)
  // Nulls come last, whichever way.
  keyed.sort(({ cell: a }, { cell: b }) => {
    const [aNull, bNull] = [a, b].map((cell) => cell?.classList.contains('null') === true)
    if (aNull || bNull) return Number(aNull) - Number(bNull)
    const order = compare(a?.textContent ?? '', b?.textContent ?? '')
    return isTurned ? -order : order
  })
  body.replaceChildren(...keyed.map(({ row }) => row))
}
