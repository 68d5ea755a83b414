// Cells that rows may take in the columns that they bring: no more than the bytes of their body allow, however few bytes bring
// how many columns. They are counted while rows are read, batch by batch, and once more where they are gathered.

import { bodyMemory, type Limits, limitTable } from '../base/limits.ts'
import { NodeError } from '../base/errors.ts'

export interface CellBound {
  /** Whatever the bytes are. */
  readonly least: number
  readonly perByte: number
  /** For all bodies: those that are held at once have a part of it, which tells for formats that read a body as a whole. */
  readonly bodyMemoryBytes: number
}

const heldShare = 2

/** Throws NodeError `BodyTooLarge` for more cells than so many bytes may have. */
export function demandCells(
  cells: number,
  bytes: number,
  { least, perByte }: Omit<CellBound, 'bodyMemoryBytes'>,
): void {
  const most = Math.max(least, perByte * bytes)
  if (cells > most) throw tooManyCells(most, 'cellRatio', perByte)
}

/** Throws NodeError `BodyTooLarge` for more cells than may be held at once of one body. */
export function demandHeld(cells: number, { bodyMemoryBytes }: CellBound): void {
  const bytes = Math.min(bodyMemoryBytes / heldShare, bodyMemory.mostBytes)
  const most = Math.floor(bytes / (bodyMemory.perByte * bodyMemory.cellBytes))
  if (cells > most) throw tooManyCells(most, 'bodyMemoryBytes', bodyMemoryBytes)
}

export function tooManyCells(
  most: number,
  name: 'cellRatio' | 'inflatedRatio' | 'bodyMemoryBytes',
  value: Limits[typeof name],
): NodeError {
  return new NodeError('BodyTooLarge', `The rows take more than ${most} cells in the columns that they bring.`, {
    hint: 'A row takes a cell in each column that any record of its body brings: send fewer records at a time, those with the same columns together.',
    limit: { name, value, unit: limitTable[name].unit },
  })
}
