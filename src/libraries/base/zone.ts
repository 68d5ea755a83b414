// Zones of the world: which instants a local time is, by the time zone data of the platform (IANA tzdata through Intl). A time that
// a change of clocks leaves out is none, one that it repeats is two. Seconds since 1970 throughout.

const daySeconds = 86_400
/** No zone is further from UTC. */
const farthestSeconds = 26 * 3600
/** No zone changes its clocks twice within so short a time. */
const stepSeconds = 19 * 3600
/** Clocks of no zone were changed before, and from a later year on by rules of the calendar, which repeats itself. */
const firstDay = Date.UTC(1800, 0) / 1000 / daySeconds
const ruledDay = Date.UTC(2200, 0) / 1000 / daySeconds
const cycleDays = 146_097
const firstStep = Math.floor((firstDay * daySeconds) / stepSeconds) - 2
const stepCount = Math.ceil(((ruledDay + cycleDays) * daySeconds) / stepSeconds) + 4 - firstStep
/** Added to an offset that is kept, so that none is 0. */
const keptBias = 2 * daySeconds

const fixedForm = /^([+-])(\d\d):(\d\d)$/
const nameForm = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/
const longestName = 64

/** Version of the time zone data, such as `2026a`. */
export const zoneDataVersion: string = process.versions['tz'] ?? 'unknown'

/** Clocks are so far ahead of UTC from an instant on. */
interface Span {
  readonly from: number
  readonly offset: number
}

/** Most spans of local times that a zone has found at a time. */
export const mostSpans = 64
/** They are looked for so many days around a time; of a zone that never changes, in all years. */
const [reachDays, everDays] = [45, 1e7]

export class Zone {
  readonly name: string
  readonly #format: Intl.DateTimeFormat | undefined
  readonly #fixed: number
  /** Offsets at each step, as far as they were wanted. */
  #offsets: Uint32Array | undefined
  /** By step: the instant within it at which clocks change. */
  readonly #changes = new Map<number, number>()
  /** Local times of one instant each, as far as they were looked for: from, until, seconds ahead of UTC, and so on. */
  readonly found: number[] = []
  #lastDay = Number.NaN
  #lastSpans: readonly Span[] = []

  constructor(name: string, format: Intl.DateTimeFormat | undefined, fixedSeconds = 0) {
    this.name = name
    this.#format = format
    this.#fixed = fixedSeconds
  }

  /** Instants that the local time `local` is, the earlier first: one, two where clocks were put back, none where put forward. */
  instantsOf(local: number): readonly number[] {
    if (this.#format === undefined) return [local - this.#fixed]
    const day = Math.floor(local / daySeconds)
    const past = day < ruledDay ? 0 : Math.floor((day - ruledDay) / cycleDays) * cycleDays
    const spans = this.#spansOf(Math.max(firstDay, day - past))
    const [{ offset } = { offset: 0 }] = spans
    if (spans.length === 1) return [local - offset]
    const moved = past * daySeconds
    return spans.flatMap((span, at) => {
      const instant = local - span.offset
      const end = spans[at + 1]?.from ?? Number.POSITIVE_INFINITY
      return instant >= span.from + moved && instant < end + moved ? [instant] : []
    })
  }

  /** Finds the span around a local time; false where that is no instant, or two, or of years that are rarely written. */
  find(local: number): boolean {
    const isFixed = this.#format === undefined
    const day = Math.floor(local / daySeconds)
    const [first, last] = isFixed ? [-everDays, everDays] : [day - reachDays, day + reachDays]
    if (!isFixed && !(first >= firstDay && last < ruledDay)) return false
    const spans = isFixed ? [{ from: Number.NEGATIVE_INFINITY, offset: this.#fixed }] : this.#spansBetween(first, last)
    // Around a change clocks show no time, or each of them twice.
    const at = spans.findLastIndex(
      (span, i) => local >= span.from + Math.max(span.offset, (spans[i - 1] ?? span).offset),
    )
    const [span, next] = [spans[at], spans[at + 1]]
    const until = next && span ? next.from + Math.min(span.offset, next.offset) : Number.POSITIVE_INFINITY
    if (span === undefined || local >= until) return false
    const from = span.from + Math.max(span.offset, (spans[at - 1] ?? span).offset)
    if (this.found.length === 3 * mostSpans) this.found.length = 0
    this.found.push(Math.max(first * daySeconds, from), Math.min((last + 1) * daySeconds, until), span.offset)
    return true
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

  #spansOf(day: number): readonly Span[] {
    if (day !== this.#lastDay) this.#lastSpans = this.#spansBetween(day, day)
    this.#lastDay = day
    return this.#lastSpans
  }

  /** What clocks show around days, in order. */
  #spansBetween(from: number, to: number): readonly Span[] {
    const first = Math.floor((from * daySeconds - farthestSeconds) / stepSeconds)
    const last = Math.ceil(((to + 1) * daySeconds + farthestSeconds) / stepSeconds)
    let offset = this.#offsetAtStep(first)
    const spans: Span[] = [{ from: Number.NEGATIVE_INFINITY, offset }]
    for (let step = first + 1; step <= last; step++) {
      const next = this.#offsetAtStep(step)
      if (next !== offset) spans.push({ from: this.#changeBefore(step, offset), offset: next })
      offset = next
    }
    return spans
  }

  #offsetAtStep(step: number): number {
    this.#offsets ??= new Uint32Array(stepCount)
    const known = this.#offsets[step - firstStep] ?? 0
    if (known !== 0) return known - keptBias
    const offset = this.offsetAt(step * stepSeconds)
    this.#offsets[step - firstStep] = offset + keptBias
    return offset
  }

  /** The instant from which on clocks no longer show `offset`, within the step that ends here. */
  #changeBefore(step: number, offset: number): number {
    const known = this.#changes.get(step)
    if (known !== undefined) return known
    let [before, after] = [(step - 1) * stepSeconds, step * stepSeconds]
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (this.offsetAt(middle) === offset) before = middle
      else after = middle
    }
    this.#changes.set(step, after)
    return after
  }
}

/** Those wanted last, by name: what they have found out counts for the next body too. */
const known = new Map<string, Zone>()
const knownMost = 8

/** The zone of an IANA name, of a link to one, or of an offset such as `+01:00`; undefined where there is none. */
export function zoneNamed(name: string): Zone | undefined {
  const zone = known.get(name) ?? zoneOf(name)
  if (known.size === knownMost && !known.has(name)) known.clear()
  if (zone !== undefined) known.set(name, zone)
  return zone
}

function zoneOf(name: string): Zone | undefined {
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
