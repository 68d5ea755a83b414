// Columns and cells of an answer as charts take them: which are times, numbers or names; what a cell is as a number; units that
// a name surely says; numbers and times as people read them. Runs on the server and in browsers. Pure.

export interface AnswerColumn {
  readonly name: string
  /** `Timestamp(ms)`, `Float64`. */
  readonly type: string
  readonly isNumber: boolean
}

/** Cells as the page shows them; undefined where the value is null. */
export type Rows = readonly (readonly (string | undefined)[])[]

export function isTime({ type }: AnswerColumn): boolean {
  return /^(?:Timestamp|Date)/.test(type)
}

/** Texts and truth values, which name what a row is of. */
export function isName({ type }: AnswerColumn): boolean {
  return type === 'String' || type === 'Bool'
}

/** Of a time milliseconds since 1970; not a number where the cell is neither. */
export function numberOf(cell: string | undefined, column: AnswerColumn): number {
  if (cell === undefined) return Number.NaN
  if (isTime(column)) return Date.parse(/T.*(?:Z|[+-]\d\d:\d\d)$/.test(cell) ? cell : utc(cell))
  return column.isNumber && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(cell) ? Number(cell) : Number.NaN
}

/** Times without a zone are drawn as if in UTC: all of a column are moved alike. */
function utc(text: string): string {
  return text.includes('T') ? `${text}Z` : text
}

/** Five digits, of whole numbers all of twelve: for reading off, the rows have the rest. */
export function valueText(value: number): string {
  const size = Math.abs(value)
  if (Number.isInteger(value) && size < 1e12) return value.toLocaleString('en-US')
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(2)
  return value.toLocaleString('en-US', { maximumSignificantDigits: 5 })
}

/** `2026-03-01 10:00`, UTC; empty where it is no time of the calendar. */
export function timeText(ms: number): string {
  const time = new Date(ms)
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().slice(0, 16).replace('T', ' ')
}

/** A number or time at the edge of a chart. */
export function edgeText(place: number, column: AnswerColumn): string {
  if (!isTime(column)) return Number.isInteger(place) && Math.abs(place) < 1e7 ? String(place) : valueText(place)
  return column.type === 'Date' ? timeText(place).slice(0, 10) : timeText(place)
}

/** Words at the end of a name that can only be a unit. `_m`, `_s` and `_f` may be something else. */
const units: Readonly<Record<string, string>> = {
  c: '°C',
  celsius: '°C',
  fahrenheit: '°F',
  kelvin: 'K',
  ms: 'ms',
  seconds: 's',
  minutes: 'min',
  pct: '%',
  percent: '%',
  kmh: 'km/h',
  mph: 'mph',
  km: 'km',
  cm: 'cm',
  mm: 'mm',
  kg: 'kg',
  hpa: 'hPa',
  kpa: 'kPa',
  kw: 'kW',
  kwh: 'kWh',
  mv: 'mV',
  volts: 'V',
  hz: 'Hz',
  lux: 'lx',
  ppm: 'ppm',
  bytes: 'B',
}
/** These are a unit without a word before them, too. */
const alone = /^(?:celsius|fahrenheit|kelvin|percent|seconds|minutes|bytes|kmh|lux|ppm|kwh|hpa)$/

/** The unit that the end of a column's name says; undefined where it says none for sure. */
export function unitOf(name: string): string | undefined {
  const [, before, last = ''] = /^(.*_)?([a-z]+)$/i.exec(name) ?? []
  const word = last.toLowerCase()
  return Object.hasOwn(units, word) && (before !== undefined || alone.test(word)) ? units[word] : undefined
}
