// The beginning of a file, as it is looked at before anything of it is stored: whole lines for the node, and the first of them
// as the text that they are in their character set.

import { cleanText } from '../../../libraries/base/clean-text.ts'

export interface FileHead {
  /** The file or its first lines; undefined where it is too large for a look. */
  readonly part: Blob | undefined
  /** Undefined where the file is no text. */
  readonly lines: readonly string[] | undefined
}

const linesBytes = 256 * 1024
/** Of files whose beginning is no file. */
const wholeBytes = 8 * 1024 * 1024

/** `said`: fields of the page, each empty where it says nothing. */
export async function headOf(
  file: Blob,
  said: { readonly mediaType: string; readonly charset: string; readonly quote: string },
): Promise<FileHead> {
  const whole = file.size <= wholeBytes ? file : undefined
  const hasLines = /^text\/|nd(?:geo)?json$/.test(said.mediaType)
  if (!hasLines && !said.mediaType.endsWith('json')) return { part: whole, lines: undefined }
  const bytes = new Uint8Array(await file.slice(0, linesBytes).arrayBuffer())
  const decoder = decoderOf(bytes, said.charset)
  const lines = decoder.decode(bytes).split(/\r?\n/, 20)
  const shown = lines.map((line) => cleanText(line.length > 200 ? `${line.slice(0, 200)}…` : line, '\t'))
  if (!hasLines || file.size <= linesBytes) return { part: whole, lines: shown }
  if (decoder.encoding.startsWith('utf-16')) return { part: whole, lines: shown }
  const isTable = /csv|tab-separated/.test(said.mediaType)
  const end = endOfLines(bytes, isTable && said.quote !== 'none' ? said.quote || '"' : '')
  return { part: end === 0 ? whole : file.slice(0, end), lines: shown }
}

/** A byte order mark decides; of a name that no browser knows the node says what is wrong. */
function decoderOf([first, second, third]: Uint8Array, charset: string): InstanceType<typeof TextDecoder> {
  const wide =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : undefined
  const isMarked = first === 0xef && second === 0xbb && third === 0xbf
  try {
    return new TextDecoder(wide ?? (isMarked || charset === '' ? 'utf-8' : charset))
  } catch {
    return new TextDecoder()
  }
}

/** Where the last line ends that is whole and outside of quotes; 0 where none is. */
function endOfLines(bytes: Uint8Array, quote: string): number {
  let [end, isQuoted, before] = [0, false, '\n']
  for (const [at, byte] of bytes.entries()) {
    const character = String.fromCharCode(byte)
    // A quote begins where a cell does, or after another one: elsewhere it is text.
    if (character === quote) isQuoted = !isQuoted && '\t\n,;|"'.includes(before)
    if (character === '\n' && !isQuoted) end = at + 1
    before = character
  }
  return end
}
