// AssemblyScript: the double that is nearest to a decimal number, by the algorithm of Eisel and Lemire: one product of 128
// bits. Source: D. Lemire, Number Parsing at a Gigabyte per Second (2021), §5–8.

import { leastPower, mostPower } from './layout'

/** Greatest integer up to which doubles hold each. */
const mostExact: u64 = 9007199254740992

let tens: usize = 0
let fives: usize = 0

/** Where powers of ten that doubles hold begin, and those of five from `leastPower` on: 128 bits each, the high half first. */
export function setPowers(ofTen: usize, ofFive: usize): void {
  tens = ofTen
  fives = ofFive
}

/** mantissa × 10^power, rounded to the nearest; NaN where this cannot tell. */
export function nearest(mantissa: u64, power: i32): f64 {
  if (mantissa <= mostExact && power >= -22 && power <= 22) {
    // One exact operand multiplied or divided by one exact power of ten rounds once, correctly.
    const exact = <f64>mantissa
    return power < 0
      ? exact / load<f64>(tens + ((<usize>-power) << 3))
      : exact * load<f64>(tens + ((<usize>power) << 3))
  }
  if (mantissa == 0) return 0
  return power < leastPower || power > mostPower ? NaN : byProduct(mantissa, power)
}

let high: u64 = 0
let low: u64 = 0

/** Sets `high` and `low` to a × b. */
function multiply(a: u64, b: u64): void {
  const aLow = a & 0xffffffff
  const aHigh = a >> 32
  const bLow = b & 0xffffffff
  const bHigh = b >> 32
  const lowest = aLow * bLow
  const middle = aHigh * bLow + (lowest >> 32)
  const other = aLow * bHigh + (middle & 0xffffffff)
  high = aHigh * bHigh + (middle >> 32) + (other >> 32)
  low = (other << 32) | (lowest & 0xffffffff)
}

function byProduct(mantissa: u64, power: i32): f64 {
  const zeros = <i32>clz(mantissa)
  const word = mantissa << zeros
  const five = fives + ((<usize>(power - leastPower)) << 4)
  multiply(word, load<u64>(five))
  if ((high & 0x1ff) == 0x1ff) {
    const firstHigh = high
    const firstLow = low
    multiply(word, load<u64>(five, 8))
    low = firstLow + high
    high = high > low ? firstHigh + 1 : firstHigh
  }
  const upper = <i32>(high >> 63)
  const shift = upper + 9
  let bits = high >> shift
  let exponent = ((217_706 * power) >> 16) + 63 + upper - zeros + 1023
  // Doubles that are not normal.
  if (exponent <= 0) return NaN
  // Exactly between two doubles: to the even one.
  if (low <= 1 && power >= -4 && power <= 23 && (bits & 3) == 1 && bits << shift == high) bits &= ~(<u64>1)
  bits += bits & 1
  bits >>= 1
  if (bits >= (<u64>1) << 53) {
    bits = (<u64>1) << 52
    exponent += 1
  }
  if (exponent >= 2047) return NaN
  return reinterpret<f64>((bits & ~((<u64>1) << 52)) | ((<u64>exponent) << 52))
}
