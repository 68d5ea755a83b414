// A text file as mail, editors and terminals may have left it: with a mark at its start, in UTF-16, with other line ends, with
// blanks at the ends of lines. What it says is the text without them, and a list has what was taken away.

import { decodeUtf8, utf8 } from './bytes.ts'

export interface TextForm {
  /** UTF-8 without a mark; of lines, each ends in LF alone, the last one too. */
  readonly bytes: Uint8Array
  /** What a transport has changed, in words; empty where nothing was. */
  readonly changes: readonly string[]
}

/** Texts of lines are small: of what is larger only the mark counts. */
const mostLineBytes = 1024 * 1024

/** The text in its own form. Bytes that are no text come back as they are. JSON keeps its white space, which says nothing. */
export function textForm(bytes: Uint8Array): TextForm {
  const { bytes: text, changes } = withoutMark(bytes)
  const isJson = text.find((byte) => !isSpace(byte)) === 0x7b
  if (isJson || text.length > mostLineBytes) return { bytes: text, changes }
  const lines = decodedText(text)
  if (lines === undefined || lines === '') return { bytes: text, changes }
  const told = [...changes]
  const change = (from: string, pattern: RegExp, to: string, what: string): string => {
    const changed = from.replace(pattern, to)
    if (changed !== from) told.push(what)
    return changed
  }
  const unixed = change(lines, /\r\n/g, '\n', 'line ends of Windows')
  const trimmed = change(unixed, /(?<![\t ])[\t ]+(?=\n|$)/g, '', 'blanks at the ends of lines')
  const ended = change(trimmed, /(?<!\n)\n*$/, '\n', 'line ends at the end of the file')
  return { bytes: told.length === changes.length ? text : utf8(ended), changes: told }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d
}

function withoutMark(bytes: Uint8Array): TextForm {
  const [first, second, third] = bytes
  if (first === 0xef && second === 0xbb && third === 0xbf) {
    return { bytes: bytes.subarray(3), changes: ['a byte order mark'] }
  }
  const wide =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : undefined
  if (wide === undefined) return { bytes, changes: [] }
  try {
    return { bytes: utf8(new TextDecoder(wide, { fatal: true }).decode(bytes)), changes: ['UTF-16'] }
  } catch {
    return { bytes, changes: [] }
  }
}

function decodedText(bytes: Uint8Array): string | undefined {
  try {
    return decodeUtf8(bytes)
  } catch {
    return undefined
  }
}
