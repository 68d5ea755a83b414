// The formats that a program reads, and which one a media type names. To add a format, make its folder and its row here:
// gateway, HTTP interface, OpenAPI document and command line are given this list, with the formats of features. The code of what
// is rare is loaded when it is wanted.

import { must } from '../base/assert.ts'
import { NodeError } from '../base/errors.ts'
import { arrowFacts } from './arrow/facts.ts'
import { csv, tsv } from './csv/format.ts'
import type { CsvHeader, Format, FormatFacts, StreamFacts } from './format.ts'
import { geojson, ndgeojson } from './geojson/format.ts'
import { json, ndjson } from './json/format.ts'
import { otherTypeHint } from './look-alike.ts'
import type { ParameterName } from './parameters.ts'
import { parquetFacts } from './parquet/facts.ts'

/** A format and its code, which is loaded for the first body of it. */
export type KnownFormat = FormatFacts & {
  /** The feature without which bodies of it are not taken. */
  readonly feature?: string
  readonly load: () => Promise<Format>
}

export const ownFormats: readonly KnownFormat[] = [
  ...[csv, tsv, json, ndjson, geojson, ndgeojson].map((format) => ({ ...format, load: async () => format })),
  { ...arrowFacts, load: async () => (await import('./arrow/format.ts')).arrow },
  { ...parquetFacts, load: async () => (await import('./parquet/format.ts')).parquet },
]

/** What is meant where nobody says a format. */
export const defaultFormat = ndjson

/** What a `Content-Type` says. */
interface NamedFormat {
  readonly format: KnownFormat
  /** What the parameter `header` says. */
  readonly csvHeader: CsvHeader | undefined
}

export type BodyFormat = Omit<NamedFormat, 'format'> & { readonly format: Format }

/** To ask for a module costs as much as to read a record, also where it is there. */
const withCode = new WeakMap<KnownFormat, Format>()

/** With its code. */
export async function loaded({ format, csvHeader }: NamedFormat): Promise<BodyFormat> {
  const known = withCode.get(format) ?? (await format.load())
  withCode.set(format, known)
  return { format: known, csvHeader }
}

/** The formats of a program, which may do without some features. */
export class Formats {
  readonly all: readonly KnownFormat[]
  /** Those that are read. */
  readonly read: readonly KnownFormat[]

  constructor(all: readonly KnownFormat[], without: readonly string[] = []) {
    this.all = all
    this.read = all.filter(({ feature }) => feature === undefined || !without.includes(feature))
  }

  /** The canonical media type of each that is read, the default first. */
  get mediaTypes(): string[] {
    return [...new Set([defaultFormat.mediaTypes[0], ...this.read.map(({ mediaTypes }) => mediaTypes[0])])]
  }

  /** The format called `name`, which the caller knows to be one. */
  named(name: string): KnownFormat {
    return must(
      this.all.find((format) => format.name === name),
      'a format',
    )
  }

  /** The parameters that count for the format of `contentType` and not for all. */
  parametersOf(contentType: string | undefined): readonly ParameterName[] {
    return this.#find(mediaTypeOf(contentType))?.parameters ?? []
  }

  /** Titles of the formats that a parameter counts for. */
  titlesWith(parameter: ParameterName): string[] {
    return this.read.filter(({ parameters }) => parameters?.includes(parameter)).map(({ title }) => title)
  }

  /** The places that parameters may name in the format of `contentType`. Empty where no format has that media type. */
  placesOf(contentType: string | undefined): Pick<StreamFacts, 'nesting' | 'hasRecords' | 'hasOwnTime'> {
    const format = this.#find(mediaTypeOf(contentType))
    return format?.kind === 'stream' ? format : {}
  }

  /** The format that a `Content-Type` names. Throws NodeError `UnsupportedMediaType`. */
  of(contentType: string | undefined): NamedFormat {
    const [, ...parameters] = (contentType ?? '').split(';')
    const mediaType = mediaTypeOf(contentType)
    const format = this.#find(mediaType)
    if (format === undefined) {
      const shown =
        mediaType === ''
          ? 'The body has no media type.'
          : `The media type '${mediaType.slice(0, 100)}' is not supported.`
      throw this.#unsupported(shown, mediaType)
    }
    if (!this.read.includes(format)) {
      const shown = `This node was started without the feature '${format.feature}' (--without), and reads no ${format.title}.`
      throw this.#unsupported(shown, mediaType)
    }
    let csvHeader: CsvHeader | undefined
    for (const text of parameters) {
      const [name, value] = parameter(text)
      if (name === 'charset' && value !== 'utf-8' && value !== 'utf8') {
        throw this.#unsupported(`The charset '${value.slice(0, 100)}' is not supported; only UTF-8 is.`, mediaType)
      }
      if (name !== 'header' || format.hasHeader !== true) continue
      if (value !== 'present' && value !== 'absent') {
        throw this.#unsupported(
          `The parameter header is 'present' or 'absent', not '${value.slice(0, 100)}'.`,
          mediaType,
        )
      }
      csvHeader = value
    }
    return { format, csvHeader }
  }

  #find(mediaType: string): KnownFormat | undefined {
    return this.all.find(({ mediaTypes }) => mediaTypes.includes(mediaType))
  }

  #unsupported(message: string, mediaType: string): NodeError {
    const candidates = this.read.map(({ mediaTypes }) => mediaTypes[0])
    const form = mediaType === 'application/x-www-form-urlencoded'
    const hint = form
      ? "curl -d sends a form by default. Add -H 'Content-Type: application/x-ndjson', and --data-binary to keep line ends."
      : (otherTypeHint(mediaType) ?? `Use ${candidates.join(', ')}.`)
    return new NodeError('UnsupportedMediaType', message, { hint, candidates })
  }
}

/** Those that are here. */
export const libraryFormats = new Formats(ownFormats)

function parameter(text: string): readonly [string, string] {
  const equals = text.indexOf('=')
  if (equals < 0) return [text.trim().toLowerCase(), '']
  const value = text.slice(equals + 1).trim()
  const unquoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
  return [text.slice(0, equals).trim().toLowerCase(), unquoted.toLowerCase()]
}

/** In lower case, without parameters. */
export function mediaTypeOf(contentType = ''): string {
  const end = contentType.indexOf(';')
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}
