// The one place that writes to stdout and stderr. To a pipe or a file bytes go as they are. On a terminal nothing from outside
// is obeyed: what controls it or reorders text is shown (libraries/base/clean-text.ts); of stderr our own few styles are let through.

import { TextDecoder } from 'node:util'
import { Transform, type TransformCallback } from 'node:stream'
import { cleanText } from '../libraries/base/clean-text.ts'

/** stdout, stderr, or what stands for one. */
export interface Out {
  readonly isTTY?: boolean
  write(text: string | Uint8Array): unknown
}

/** Data. */
export function print(text: string | Uint8Array, out: Out = process.stdout): void {
  out.write(out.isTTY === true ? harmless(text) : text)
}

/** Bold, dim, red, yellow, cyan, and their ends: all that `styleText` is asked for here. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const ownStyles = /(\u001b\[(?:1|2|22|31|33|36|39)m)/

/** Words about the data, on stderr. */
export function tell(text: string, out: Out = process.stderr): void {
  if (out.isTTY !== true) out.write(text)
  // Every second part is a style.
  else
    out.write(
      text
        .split(ownStyles)
        .map((part, at) => (at % 2 === 1 ? part : harmless(part)))
        .join(''),
    )
}

const eraseLine = '\r\u001b[2K'

/** Puts `text`, or nothing, in the place of the last line of a terminal. */
export function rewriteLine(text: string, out: Out = process.stderr): void {
  out.write(eraseLine + harmless(text))
}

/** What data passes on its way to stdout. */
export function toStdout(isTerminal = process.stdout.isTTY): Transform {
  const decoder = new TextDecoder()
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done: TransformCallback) {
      done(null, isTerminal ? harmless(decoder.decode(chunk, { stream: true })) : chunk)
    },
    flush(done: TransformCallback) {
      done(null, isTerminal ? harmless(decoder.decode()) : undefined)
    },
  })
}

function harmless(text: string | Uint8Array): string {
  return cleanText(typeof text === 'string' ? text : new TextDecoder().decode(text), '\n\t')
}
