// The random bytes of a simulated run: ids and keys come from the seed too, so that a seed gives one run.

import { type Random, randomOf } from '../history/load.ts'

let random: Random = randomOf(0)

export function seedBytes(seed: number): void {
  random = randomOf(seed)
}

/** In place of the system's generator. */
export function seededBytes(count: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => random.between(0, 255))
}
