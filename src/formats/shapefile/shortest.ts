// The fewest digits that make a double again, as `String` finds them, for the sizes that coordinates have, and faster: a
// product of two doubles is the exact sum of two others, so sixteen or seventeen digits and their error need no larger
// numbers. Sources: https://tc39.es/ecma262/#sec-numeric-types-number-tostring; T. J. Dekker, "A floating-point technique
// for extending the available precision", Numerische Mathematik 18 (1971), pp. 224–242.

/** Powers of ten that doubles hold exactly. */
const powers = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))
/** Cuts a double into two with half of its bits. */
const splitter = 2 ** 27 + 1
/** Digits are written in two parts, the lower one of eight. */
const lowDigits = 8
const lowPower = 1e8

const scratch = new Float64Array(1)
/** The bits of `scratch`, low half first. */
const halves = new Uint32Array(scratch.buffer)

const zero = 0x30
const point = 0x2e

/** Sizes that are written here; `String` knows all. */
export const leastSize = 1e-5
export const mostSize = 1e6
/** Most bytes of a number written here. */
export const mostDigitBytes = 32

/**
 * Writes `size`, from `leastSize` to below `mostSize` and with more than seven decimals, at `at`: index after it; -1 for
 * the few that are left to `String`: powers of two, and those that lie in the middle between numbers.
 */
export function writeShortest(bytes: Uint8Array, at: number, size: number): number {
  // Digits before the point; zero or less: zeros behind it.
  let whole = size >= 1 ? 1 : 0
  if (size >= 1) while (size >= (powers[whole] ?? 0)) whole += 1
  else while (size * (powers[1 - whole] ?? 0) < 1) whole -= 1
  // Decimals of up to fifteen digits and doubles go one to one.
  const short = powers[15 - whole] ?? 0
  let fifteen = Math.round(size * short)
  if (fifteen / short === size) {
    let digits = 15
    for (; fifteen % 10 === 0; fifteen /= 10) digits -= 1
    const high = Math.floor(fifteen / lowPower)
    writeDigits(bytes, startOf(at, whole), high, fifteen - high * lowPower, digits)
    return writePoint(bytes, at, whole, digits)
  }
  scratch[0] = size
  const upper = halves[1] ?? 0
  if (halves[0] === 0 && (upper & 0xf_ffff) === 0) return -1
  // Half of the distance to the next double.
  const half = powerOfTwo((upper >>> 20) - 1076)
  for (let digits = 16; ; digits++) {
    const power = powers[digits - whole] ?? 0
    const product = size * power
    const base = Math.floor(product)
    const rest = product - base + remainder(size, power, product)
    const up = Math.round(rest)
    const error = Math.abs(rest - up)
    if (error === half * power || error === 0.5) return -1
    if (digits === 16 && error > half * power) continue
    let high = Math.floor(base / lowPower)
    const highProduct = high * lowPower
    let low = base - highProduct - remainder(high, lowPower, highProduct) + up
    if (low < 0) {
      high -= 1
      low += lowPower
    } else if (low >= lowPower) {
      high += 1
      low -= lowPower
    }
    writeDigits(bytes, startOf(at, whole), high, low, digits)
    return writePoint(bytes, at, whole, digits)
  }
}

/** What `a` times `b` has beyond the double `product`. */
function remainder(a: number, b: number, product: number): number {
  const aScaled = splitter * a
  const aHigh = aScaled - (aScaled - a)
  const aLow = a - aHigh
  const bScaled = splitter * b
  const bHigh = bScaled - (bScaled - b)
  const bLow = b - bHigh
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow)
}

/** 2 to the power of `exponent`, which is that of a normal number. */
function powerOfTwo(exponent: number): number {
  halves[0] = 0
  halves[1] = (exponent + 1023) << 20
  return scratch[0] ?? 0
}

/** Where digits are written: where one byte for the point fits before those behind it, or after `0.` and zeros. */
function startOf(at: number, whole: number): number {
  return whole > 0 ? at + 1 : at + 2 - whole
}

/** Writes `digits` digits at `at`: those of `high`, then eight of `low`; fewer than nine are all in `low`. */
function writeDigits(bytes: Uint8Array, at: number, high: number, low: number, digits: number): void {
  const middle = Math.max(digits - lowDigits, 0)
  let rest = low | 0
  for (let i = at + digits - 1; i >= at + middle; i--) {
    const next = (rest / 10) | 0
    bytes[i] = zero + rest - next * 10
    rest = next
  }
  rest = high | 0
  for (let i = at + middle - 1; i >= at; i--) {
    const next = (rest / 10) | 0
    bytes[i] = zero + rest - next * 10
    rest = next
  }
}

/** Puts the point into the `digits` digits behind `at`: index after them. */
function writePoint(bytes: Uint8Array, at: number, whole: number, digits: number): number {
  if (whole > 0) {
    for (let i = at; i < at + whole; i++) bytes[i] = bytes[i + 1] ?? 0
    bytes[at + whole] = point
    return at + digits + 1
  }
  bytes[at] = zero
  bytes[at + 1] = point
  for (let i = at + 2; i < at + 2 - whole; i++) bytes[i] = zero
  return at + 2 - whole + digits
}
