// Floats as text: the fewest digits that tell them, with an exponent where PostgreSQL has one.

import type { ByteBuffer } from '../base/byte-buffer.ts'
import { writeShortDecimal } from '../columnar/outputs/cells.ts'
import { shortestFloat32 } from '../columnar/outputs/value-text.ts'

const leastPlain = 1e-4
/** From here on there is an exponent: any two decimals of so few digits are different floats of the type. */
const [endPlain64, endPlain32] = [1e15, 1e6]

/** Writes a float of 64 bits. */
export function writeFloat8(out: ByteBuffer, value: number): void {
  if (!isPlain(value, endPlain64)) out.ascii(otherText(value, value.toExponential()))
  else if (!writeShortDecimal(out, value, 0)) out.ascii(String(value))
}

/** Writes a float of 32 bits. */
export function writeFloat4(out: ByteBuffer, value: number): void {
  const said = Number.isFinite(value) ? shortestFloat32(value) : ''
  out.ascii(isPlain(Number(said), endPlain32) ? String(Number(said)) : otherText(value, said))
}

function isPlain(value: number, end: number): boolean {
  const magnitude = Math.abs(value)
  return magnitude >= leastPlain && magnitude < end
}

/** Zeros, what is no number, and `1.5e-7` as `1.5e-07`. */
function otherText(value: number, exponential: string): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  return Number.isFinite(value) ? exponential.replace(/(e[+-])(\d)$/, '$10$2') : String(value)
}
