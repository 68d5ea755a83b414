// Longitudes are the same a turn of 360 degrees further on: data may count from -180, from 0, or on over the antimeridian.
// The boxes in which places lie that a box means. Pure.

import type { Bounds } from './geometry.ts'
import { maxLongitude } from './rules.ts'

const turn = 360
/** Beyond, numbers are no longitudes, and turns of them could not be counted. */
const mostDegrees = 1e6

export interface Turn {
  /** West is not greater than east. */
  readonly box: Bounds
  /** What longitudes in it are greater by than those of the box that was asked for. */
  readonly shift: number
}

/**
 * The boxes that stand for the same places, for longitudes from -360 to 360, which geometries have; those of the turn that was
 * asked for are unchanged. West greater than east: the box crosses the antimeridian.
 */
export function turnsOf([west, south, east, north]: Bounds): Turn[] {
  if (!(Math.abs(west) <= mostDegrees && Math.abs(east) <= mostDegrees)) {
    return [{ box: [west, south, east, north], shift: 0 }]
  }
  // How many turns the east is written too low by.
  const behind = west <= east ? 0 : Math.ceil((west - east) / turn)
  const first = Math.ceil((-maxLongitude - east) / turn)
  const last = Math.floor((maxLongitude - west) / turn) + behind
  const turns: Turn[] = []
  for (let number = first; number <= last; number++) {
    const shift = (number - behind) * turn
    turns.push({ box: [west + shift, south, east + number * turn, north], shift })
  }
  return turns
}

/** The same boxes, as few as may be: one where all longitudes are meant. */
export function placesOf(box: Bounds): Bounds[] {
  const turns = turnsOf(box)
  const [first, last] = [turns[0]?.box, turns.at(-1)?.box]
  const isAround = first !== undefined && first[2] - first[0] >= turn
  if (!isAround || last === undefined) return turns.map((one) => one.box)
  return [[first[0], first[1], last[2], last[3]]]
}
