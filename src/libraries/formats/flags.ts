// Parameters of ingest in words of a command: as flags that a shell takes as they are, and where a text of a node names them. Pure.

import type { FormatFacts } from './format.ts'
import { parameterRows } from './parameters.ts'

/** The flag of a name: `eventTime` is `--event-time`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** A word of a command that a shell takes as it is. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** Parameters by name as words of the command. */
export function flagsText(parameters: Readonly<Record<string, string | readonly string[]>>): string {
  const flags = Object.entries(parameters).flatMap(([name, value]) => [value].flat().map((one) => flagText(name, one)))
  return flags.join(' ')
}

/** `timeZone`, `UTC` as a shell takes it: `--time-zone UTC`. */
function flagText(name: string, value: string): string {
  if (name === 'flatten') return value === 'true' ? '--flatten' : '--no-flatten'
  return hasFlag(name) ? `${flagOf(name)} ${shellWord(value)}` : `--set ${shellWord(`${name}=${value}`)}`
}

function hasFlag(name: string): boolean {
  return name === 'header' || parameterRows.some(([one, { flag }]) => one === name && flag !== undefined)
}

const names = parameterRows.map(([name]) => name).join('|')
/** A full stop and a comma are of the value only before more of it. */
const named = new RegExp(
  `\\b((?:${names})(?:\\.[\\p{L}\\p{N}_-]+)?)=((?:%[0-9A-F]{2}|[\\p{L}\\p{N}_/<>+:-]|[.,](?=[\\p{L}\\p{N}<]))+)`,
  'gu',
)
const inMediaType = / in the media type: text\/[\w-]+; header=\w+/g

/** Of a text with escapes, in which an ill one is no reason to throw. */
function decoded(text: string): string {
  return new URLSearchParams(`text=${text.replaceAll('+', '%2B')}`).get('text') ?? text
}

/** A node's text with flags where it names parameters: `timeZone=UTC` is `--time-zone UTC`. */
export function withFlags(text: string): string {
  return (
    text
      .replaceAll(inMediaType, '')
      .replaceAll(named, (_, name: string, value: string) => flagText(name, decoded(value)))
      // What a reader puts something in place of is no word of a shell.
      .replaceAll(/'(<[\w<>,-]+>)'/g, '$1')
      .replaceAll(/\b(fill in) (\w+)/g, (all, words: string, name: string) =>
        hasFlag(name) ? `${words} ${flagOf(name)}` : all,
      )
  )
}

/** A node's text with the flag of a format where it names a media type. */
export function withFormats(text: string, formats: readonly FormatFacts[]): string {
  return text.replaceAll(/\bas (\w+\/[\w.+-]*\w)/g, (all, type: string) => {
    const name = formats.find(({ mediaTypes }) => mediaTypes.includes(type))?.name
    return name === undefined ? all : `with --format ${name}`
  })
}
