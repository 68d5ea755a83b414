// Zones of the world: which instants a local time is, by the time zone data of the platform (IANA tzdata through Intl). A time that
// a change of clocks leaves out is none, one that it repeats is two. Seconds since 1970 throughout.

const daySeconds = 86_400
/** No zone is further from UTC. */
const farthestSeconds = 26 * 3600
/** Days that are remembered; a body of more begins anew. */
const daysMost = 32_768

const fixedForm = /^([+-])(\d\d):(\d\d)$/
const nameForm = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/
const longestName = 64

/** Version of the time zone data, such as `2026a`. */
export const zoneDataVersion: string = process.versions['tz'] ?? 'unknown'

export class Zone {
  readonly name: string
  readonly #format: Intl.DateTimeFormat | undefined
  readonly #fixed: number
  /** By day of a local time: the offsets that it may have. */
  readonly #offsetsOf = new Map<number, readonly number[]>()
  #lastDay = Number.NaN
  #lastOffsets: readonly number[] = []

  constructor(name: string, format: Intl.DateTimeFormat | undefined, fixedSeconds = 0) {
    this.name = name
    this.#format = format
    this.#fixed = fixedSeconds
  }

  /** Instants that the local time `local` is, the earlier first: one, two where clocks were put back, none where put forward. */
  instantsOf(local: number): readonly number[] {
    const offsets = this.#offsets(Math.floor(local / daySeconds))
    const [only = 0] = offsets
    if (offsets.length === 1) return [local - only]
    const instants = offsets.map((offset) => local - offset).filter((at) => at + this.offsetAt(at) === local)
    return instants.sort((a, b) => a - b)
  }

  /** Seconds that clocks are ahead of UTC at an instant. */
  offsetAt(instant: number): number {
    if (this.#format === undefined) return this.#fixed
    const whole = Math.floor(instant)
    const parts: Record<string, string> = {}
    for (const { type, value } of this.#format.formatToParts(whole * 1000)) parts[type] = value
    const year = Number(parts['year'])
    const local = new Date(0)
    local.setUTCFullYear(parts['era'] === 'BC' ? 1 - year : year, Number(parts['month']) - 1, Number(parts['day']))
    local.setUTCHours(Number(parts['hour']), Number(parts['minute']), Number(parts['second']))
    return local.getTime() / 1000 - whole
  }

  #offsets(day: number): readonly number[] {
    if (day === this.#lastDay) return this.#lastOffsets
    const known = this.#offsetsOf.get(day)
    const offsets = known ?? this.#offsetsAround(day)
    if (known === undefined) {
      if (this.#offsetsOf.size === daysMost) this.#offsetsOf.clear()
      this.#offsetsOf.set(day, offsets)
    }
    this.#lastDay = day
    this.#lastOffsets = offsets
    return offsets
  }

  /** No zone changes its clocks twice within so short a time and ends where it was. */
  #offsetsAround(day: number): readonly number[] {
    const [from, to] = [day * daySeconds - farthestSeconds, (day + 1) * daySeconds + farthestSeconds]
    const step = (to - from) / 4
    return [...new Set([0, 1, 2, 3, 4].map((at) => this.offsetAt(from + at * step)))]
  }
}

/** The zone of an IANA name, of a link to one, or of an offset such as `+01:00`; undefined where there is none. */
export function zoneNamed(name: string): Zone | undefined {
  const [, sign, hours = '', minutes = ''] = fixedForm.exec(name) ?? []
  if (sign !== undefined) {
    const seconds = Number(hours) * 3600 + Number(minutes) * 60
    return Number(hours) > 23 || Number(minutes) > 59
      ? undefined
      : new Zone(name, undefined, sign === '-' ? -seconds : seconds)
  }
  if (name.length > longestName || !nameForm.test(name)) return undefined
  try {
    return name === 'UTC' ? new Zone(name, undefined) : new Zone(name, formatOf(name))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const numeric = 'numeric'
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    era: 'short',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  })
}
