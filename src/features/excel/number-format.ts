// What the number of a cell is by its format: workbooks have no type for days and times but the way they are shown.
// Source: ISO/IEC 29500-1 §18.8.30, §18.8.31

/** `time`: day and time. `clock`: a time of day. `elapsed`: hours that go beyond 24. */
export type FormatKind = 'number' | 'day' | 'time' | 'clock' | 'elapsed'

/** Formats that workbooks have by number, those of East Asia among them. */
const builtIn: readonly (readonly [first: number, last: number, kind: FormatKind])[] = [
  [14, 17, 'day'],
  [18, 21, 'clock'],
  [22, 22, 'time'],
  [27, 31, 'day'],
  [32, 33, 'clock'],
  [34, 36, 'day'],
  [45, 45, 'clock'],
  [46, 46, 'elapsed'],
  [47, 47, 'clock'],
  [50, 58, 'day'],
]

export function kindOfBuiltIn(id: number): FormatKind {
  return builtIn.find(([first, last]) => id >= first && id <= last)?.[2] ?? 'number'
}

/** Of a format code, `dd.mm.yyyy hh:mm`; what it says of positive numbers counts. */
export function kindOfCode(code: string): FormatKind {
  const token = /"[^"]*"|[\\_*][^]|\[[^\][]*\]|general|am\/pm|a\/p|[ymdhsegb]+|[^]/gi
  const isScience = /[0#?.]e[+-]/i.test(code)
  let hasDay = false
  let hasClock = false
  let months = false
  for (const [found] of code.matchAll(token)) {
    const text = found.toLowerCase()
    if (text === ';') break
    if (/^\[(?:h+|m+|s+)\]$/.test(text)) return 'elapsed'
    if (/^(?:am\/pm|a\/p)$/.test(text)) hasClock = true
    if (!/^[ymdhsegb]+$/.test(text)) continue
    hasDay ||= /[ydgb]|^m{3,}$/.test(text)
    hasClock ||= /[hs]/.test(text)
    months ||= text.includes('m')
    // The year of an era; elsewhere an exponent.
    hasDay ||= /^e+$/.test(text) && !isScience
  }
  // `m` beside hours or seconds is minutes.
  hasDay ||= months && !hasClock
  if (hasDay) return hasClock ? 'time' : 'day'
  return hasClock ? 'clock' : 'number'
}
