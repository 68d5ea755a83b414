// The powers that the compiled reader makes doubles with: of ten, as doubles; of five, as their first 128 bits.

import { leastPower, mostPower } from './layout.ts'

const bits = 128n
const half = 2n ** 64n

/** 10^0 to 10^22, which doubles hold. */
export const powersOfTen: readonly number[] = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))

/** From 5^leastPower on, high half before low half; cut off, and where the power is negative the next one above. */
export function powersOfFive(): bigint[] {
  const powers: bigint[] = []
  for (let power = leastPower; power <= mostPower; power++) {
    const value = power < 0 ? inverse(5n ** BigInt(-power), power >= -27) : 5n ** BigInt(power)
    const length = BigInt(value.toString(2).length)
    const cut = length > bits ? value >> (length - bits) : value << (bits - length)
    powers.push(cut / half, cut % half)
  }
  return powers
}

function inverse(power: bigint, isShort: boolean): bigint {
  const length = BigInt((power - 1n).toString(2).length)
  return 2n ** (isShort ? length + 127n : 2n * length + 128n) / power + 1n
}
