// JSON tokens of single values, as deployed Open Data Fabric nodes print them: floats, times, dates, intervals, bytes.
// Pure; node/engine/duckdb/results.ts decides which one a column needs.

/** Token of a float64: shortest digits, `.0` on integers, exponents outside 1e-5…1e15; NaN and infinities are null. */
export function float64Token(value: number): string {
  if (!Number.isFinite(value)) return 'null'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const magnitude = Math.abs(value)
  if (magnitude >= 1e-5 && magnitude < 1e16) {
    const text = String(value)
    return Number.isInteger(value) ? `${text}.0` : text
  }
  return value.toExponential()
}

/** Token of a float32: shortest digits that round-trip in 32 bits, exponents outside 1e-6…1e12. */
export function float32Token(value: number): string {
  if (!Number.isFinite(value)) return 'null'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const shortest = shortestFloat32(value)
  const at = shortest.indexOf('e')
  const exponent = Number(shortest.slice(at + 1))
  if (exponent >= -6 && exponent <= 12) return plainDecimal(shortest.slice(0, at), exponent)
  return shortest
}

/** `d.ddde±x` with the fewest digits that read back as the same float32. */
export function shortestFloat32(value: number): string {
  for (let digits = 0; digits < 8; digits++) {
    const text = value.toExponential(digits)
    if (Math.fround(Number(text)) === value) return text
  }
  return value.toExponential(8)
}

/** Plain decimal of `d.ddd` times ten to the `exponent`, always with a point. */
function plainDecimal(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith('-') ? '-' : ''
  const digits = mantissa.replace('-', '').replace('.', '')
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`
}

/** A decimal of `scale` digits after the point, without quotes. */
export function decimalText(scaled: bigint, scale: number): string {
  if (scale === 0) return String(scaled)
  const sign = scaled < 0n ? '-' : ''
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(scale + 1, '0')
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** `2024-09-02` for days since 1970; years past 9999 and before 0 carry a sign. Proleptic Gregorian calendar. */
export function dateText(days: number): string {
  // Howard Hinnant's civil_from_days: years run from March in eras of 400 years.
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return `${yearText(year)}-${two(month)}-${two(day)}`
}

function yearText(year: number): string {
  const digits = String(Math.abs(year)).padStart(4, '0')
  if (year < 0) return `-${digits}`
  return year > 9999 ? `+${digits}` : digits
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}

let lastDay = 0
let lastDate = '1970-01-01'

/** `dateText` that remembers the last day: neighbouring rows share it. */
export function nearbyDateText(days: number): string {
  if (days !== lastDay) {
    lastDate = dateText(days)
    lastDay = days
  }
  return lastDate
}

const dayMicros = 86_400_000_000
const dayNanos = 86_400_000_000_000n
/** Within ±2^53 µs (until the year 2255) plain numbers are exact. */
const exactMicros = BigInt(Number.MAX_SAFE_INTEGER)

/** `2024-09-02T21:50:00.120` of microseconds since 1970: fraction of 0, 3 or 6 digits as the value needs. */
export function timestampMicrosText(micros: bigint): string {
  if (micros > exactMicros || micros < -exactMicros) return timestampNanosText(micros * 1000n)
  const exact = Number(micros)
  const days = Math.floor(exact / dayMicros)
  const inDay = exact - days * dayMicros
  return `${nearbyDateText(days)}T${secondsText(Math.floor(inDay / 1e6))}${fractionText((inDay % 1e6) * 1000)}`
}

/** As `timestampMicrosText`, of nanoseconds: fraction of 0, 3, 6 or 9 digits. */
export function timestampNanosText(nanos: bigint): string {
  let days = nanos / dayNanos
  let inDay = nanos % dayNanos
  if (inDay < 0n) {
    days -= 1n
    inDay += dayNanos
  }
  return `${dateText(Number(days))}T${timeNanosText(inDay)}`
}

/** `21:50:00.000001` of nanoseconds since midnight; 24:00:00 is possible. */
export function timeNanosText(nanos: bigint): string {
  return `${secondsText(Number(nanos / 1_000_000_000n))}${fractionText(Number(nanos % 1_000_000_000n))}`
}

function secondsText(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}`
}

/** `.120`, `.000001`, `.000000001` or nothing. */
function fractionText(nanos: number): string {
  if (nanos === 0) return ''
  const digits = String(nanos).padStart(9, '0')
  if (digits.endsWith('000000')) return `.${digits.slice(0, 3)}`
  return digits.endsWith('000') ? `.${digits.slice(0, 6)}` : `.${digits}`
}

/** ISO 8601 duration `P14M3DT4H5M6.789S`; each part carries its own sign; nothing at all is `PT0S`. */
export function intervalText(months: number, days: number, micros: bigint): string {
  const sign = micros < 0n ? '-' : ''
  const total = micros < 0n ? -micros : micros
  const hours = total / 3_600_000_000n
  const minutes = (total / 60_000_000n) % 60n
  const seconds = (total / 1_000_000n) % 60n
  const rest = Number(total % 1_000_000n)
  let time = ''
  if (hours !== 0n) time += `${sign}${hours}H`
  if (minutes !== 0n) time += `${sign}${minutes}M`
  if (seconds !== 0n || rest !== 0) {
    const fraction = rest === 0 ? '' : `.${String(rest).padStart(6, '0').replace(/0+$/, '')}`
    time += `${sign}${seconds}${fraction}S`
  }
  const date = `${months === 0 ? '' : `${months}M`}${days === 0 ? '' : `${days}D`}`
  if (date === '' && time === '') return 'PT0S'
  return time === '' ? `P${date}` : `P${date}T${time}`
}

/** A JSON string; with `ascii` everything from U+007F on is `\uxxxx`, as in canonical JSON. */
export function stringToken(text: string, ascii: boolean): string {
  const token = JSON.stringify(text)
  return ascii && nonAscii.test(token) ? token.replace(nonAsciiAll, escapeUnit) : token
}

const nonAscii = /[\u007f-\uffff]/
const nonAsciiAll = /[\u007f-\uffff]/g

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
