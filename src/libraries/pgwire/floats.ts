// Floats as PostgreSQL prints them: the fewest digits that lie between the neighbours' midpoints, never on one, with an exponent from
// as many digits on as the type always holds.
// Source: PostgreSQL's d2s.c, f2s.c (to_chars) and ryu_common.h (STRICTLY_SHORTEST is 0)

import { AssertionFailed } from '../base/assert.ts'
import type { ByteBuffer } from '../base/byte-buffer.ts'

const [minus, point] = [0x2d, 0x2e]
const powers = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12] as const
const leastPlain = 1e-4
const leastPlain32 = Math.fround(leastPlain)
/** From here on there is an exponent. Any two decimals of so few digits are different floats of the type. */
const endPlain64 = 1e15
const endPlain32 = 1e6

/** Writes a float of 64 bits. */
export function writeFloat8(out: ByteBuffer, value: number): void {
  if (writeShort(out, value) || writeOther(out, value)) return
  const magnitude = Math.abs(value)
  out.ascii(magnitude >= leastPlain && magnitude < endPlain64 ? String(value) : withExponent(shortest64(value)))
}

/** Writes a float of 32 bits. */
export function writeFloat4(out: ByteBuffer, value: number): void {
  if (writePlain32(out, value) || writeOther(out, value)) return
  const text = shortest32(value)
  // The number that the digits say, which the float is not quite: 1e-4 is a little more than its float.
  const said = Math.abs(Number(text))
  out.ascii(said >= leastPlain && said < endPlain32 ? String(Number(text)) : withExponent(text))
}

/** Zeros and what is no number; false for all others. */
function writeOther(out: ByteBuffer, value: number): boolean {
  if (value === 0) out.ascii(Object.is(value, -0) ? '-0' : '0')
  else if (Number.isNaN(value)) out.ascii('NaN')
  else if (Number.isFinite(value)) return false
  else out.ascii(value > 0 ? 'Infinity' : '-Infinity')
  return true
}

/** Writes a double that is a decimal of few digits, as most measured numbers are; false where it is none. */
function writeShort(out: ByteBuffer, value: number): boolean {
  const magnitude = value < 0 ? -value : value
  if (!(magnitude >= leastPlain && magnitude < endPlain64)) return false
  // What has more than seven places has them for any power.
  if (magnitude < 1e8 && Math.round(magnitude * 1e7) / 1e7 !== magnitude) return false
  for (let places = 0; places <= 7; places++) {
    const power = powers[places] ?? 1
    const scaled = Math.round(magnitude * power)
    if (scaled >= endPlain64) return false
    if (scaled / power !== magnitude) continue
    writeScaled(out, value < 0, scaled, places)
    return true
  }
  return false
}

const single = new Float32Array(1)
const bitsOfSingle = new Int32Array(single.buffer)

/** Writes a float of 32 bits that has no exponent. The products are exact: 25 bits by those of 5^12, which are 28. */
function writePlain32(out: ByteBuffer, value: number): boolean {
  const magnitude = value < 0 ? -value : value
  if (!(magnitude >= leastPlain32 && magnitude < endPlain32)) return false
  single[0] = magnitude
  const bits = bitsOfSingle[0] ?? 0
  bitsOfSingle[0] = bits - 1
  const low = (magnitude + (single[0] ?? 0)) / 2
  bitsOfSingle[0] = bits + 1
  const high = (magnitude + (single[0] ?? 0)) / 2
  for (let places = 0; places < powers.length; places++) {
    const power = powers[places] ?? 1
    const scaled = magnitude * power
    const whole = Math.floor(scaled)
    const rest = scaled - whole
    const nearest = rest > 0.5 || (rest === 0.5 && whole % 2 === 1) ? whole + 1 : whole
    // Below a power of two neighbours are nearer than above it: the decimal above can be the only one that is near enough.
    const found = nearest > low * power ? nearest : whole + 1
    if (found >= high * power) continue
    if (found >= endPlain32 * power) return false
    writeScaled(out, value < 0, found, places)
    return true
  }
  return false
}

/** The fraction is below 2^31, as few digits are. */
function writeScaled(out: ByteBuffer, isNegative: boolean, scaled: number, places: number): void {
  const power = powers[places] ?? 1
  if (isNegative) out.byte(minus)
  const whole = Math.floor(scaled / power)
  out.integer(whole)
  if (places === 0) return
  out.byte(point)
  out.padded(scaled - whole * power, places)
}

/** `1.5e-7` as `1.5e-07`. */
function withExponent(text: string): string {
  return text.replace(/(e[+-])(\d)$/, '$10$2')
}

/** `d.ddde±x`. */
function shortest64(value: number): string {
  let text = value.toExponential()
  for (let places = placesOf(text) + 1; isMidpoint(text, 53); places++) {
    const next = value.toExponential(places)
    if (Number(next) === value) text = next
  }
  return text
}

/** A float tells six digits, and those below this one fewer. */
const leastNormal32 = 2 ** -126
/** No float of 32 bits is so near to the middle between two decimals of few digits without being there. */
const exactPlaces = 30

function shortest32(value: number): string {
  const magnitude = Math.abs(value)
  const [mantissa = '', exponent = ''] = magnitude.toExponential(exactPlaces).split('e')
  const digits = mantissa.replace('.', '')
  for (let places = magnitude < leastNormal32 ? 0 : 5; places <= 8; places++) {
    const whole = Number(digits.slice(0, places + 1))
    const rest = digits.slice(places + 1)
    const half = '5'.padEnd(rest.length, '0')
    const nearest = rest > half || (rest === half && whole % 2 === 1) ? whole + 1 : whole
    // Below a power of two neighbours are nearer than above it: the decimal above can be the only one that is near enough.
    for (const one of [nearest, whole + 1]) {
      const said = Number(`${one}e${Number(exponent) - places}`)
      const text = said.toExponential()
      if (Math.fround(said) === magnitude && !isMidpoint(text, 24)) return value < 0 ? `-${text}` : text
    }
  }
  throw new AssertionFailed('nine digits tell every float of 32 bits')
}

function placesOf(text: string): number {
  const end = text.indexOf('e')
  const at = text.indexOf('.')
  return at < 0 ? 0 : end - at - 1
}

/**
 * True when the number lies in the middle between two neighbours of so many bits: it needs one bit more. Only integers of few
 * digits are that short; others have more digits than any float needs.
 */
function isMidpoint(text: string, bits: number): boolean {
  const [mantissa = '', exponent = ''] = text.replace('-', '').split('e')
  const zeros = Number(exponent.slice(exponent.startsWith('+') ? 1 : 0)) - placesOf(text)
  // A power of five that has more bits than the number divides none of them.
  if (text.includes('e-') || zeros < 0 || zeros > bits / 2) return false
  let odd = BigInt(mantissa.replace('.', '')) * 5n ** BigInt(zeros)
  while (odd > 0n && (odd & 1n) === 0n) odd >>= 1n
  return odd.toString(2).length === bits + 1
}
