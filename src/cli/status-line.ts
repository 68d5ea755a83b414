// One line on stderr that is written over again and again while something takes its time; nothing where stderr is no
// terminal.

import { type Clock, systemClock } from '../index.ts'
import { displayWidth } from './table.ts'

export interface StatusLine {
  /** Shows `text` in place of what stands there, at most ten times a second unless `now`. */
  readonly show: (text: string, now?: boolean) => void
  /** Removes the line. */
  readonly clear: () => void
}

const betweenMs = 100
const eraseLine = '\r\u001b[2K'

export function createStatusLine(clock: Clock = systemClock): StatusLine {
  if (!process.stderr.isTTY) return { show() {}, clear() {} }
  let shownAtMs = Number.NEGATIVE_INFINITY
  let visible = false
  return {
    show(text, now = false) {
      if (!now && clock.monotonicMs() - shownAtMs < betweenMs) return
      shownAtMs = clock.monotonicMs()
      visible = true
      process.stderr.write(eraseLine + fit(text, (process.stderr.columns || 80) - 1))
    },
    clear() {
      if (visible) process.stderr.write(eraseLine)
      visible = false
      shownAtMs = Number.NEGATIVE_INFINITY
    },
  }
}

/** A line that wraps could not be written over. */
function fit(text: string, width: number): string {
  let out = text
  while (displayWidth(out) > width) out = out.slice(0, -1)
  return out
}

const barCells = 20

/** `file  ████░░░░  63%  12.3/19.5 MB  8.1 MB/s  0:03 left`; without a total: what was sent so far. */
export function progressText(
  label: string,
  state: { readonly doneBytes: number; readonly totalBytes: number | undefined; readonly elapsedMs: number },
): string {
  const { doneBytes, totalBytes, elapsedMs } = state
  const perSecond = elapsedMs > 0 ? (doneBytes * 1000) / elapsedMs : 0
  const rate = `${megabytes(perSecond)} MB/s`
  if (totalBytes === undefined) return `${label}  ${megabytes(doneBytes)} MB  ${rate}`
  const share = totalBytes === 0 ? 1 : Math.min(1, doneBytes / totalBytes)
  const full = Math.round(share * barCells)
  const bar = '█'.repeat(full) + '░'.repeat(barCells - full)
  const left = perSecond > 0 ? `  ${minutes((totalBytes - doneBytes) / perSecond)} left` : ''
  return `${label}  ${bar} ${String(Math.floor(share * 100)).padStart(3)}%  ${megabytes(doneBytes)}/${megabytes(totalBytes)} MB  ${rate}${left}`
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}

function minutes(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}
