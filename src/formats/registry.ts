// The formats that a node reads, and which one a media type names. To add a format, make its folder and its row here:
// gateway, HTTP interface, OpenAPI document and command line read this list.

import { must } from '../lib/assert.ts'
import { NodeError } from '../model/errors.ts'
import { arrow } from './arrow/format.ts'
import { csv, tsv } from './csv/format.ts'
import type { CsvHeader, Format, StreamFormat } from './format.ts'
import { geojson, ndgeojson } from './geojson/format.ts'
import { json, ndjson } from './json/format.ts'
import { lineProtocol } from './line-protocol/format.ts'
import { otlpJson, otlpProtobuf } from './otlp/format.ts'
import { parquet } from './parquet/format.ts'
import { shapefile } from './shapefile/format.ts'

export const formats: readonly Format[] = [
  csv,
  tsv,
  json,
  ndjson,
  geojson,
  ndgeojson,
  lineProtocol,
  otlpJson,
  otlpProtobuf,
  arrow,
  parquet,
  shapefile,
]

/** What is meant where nobody says a format. */
export const defaultFormat: Format = ndjson

/** The canonical media type of each format, the default first. */
export function ingestMediaTypes(): string[] {
  return [defaultFormat, ...formats.filter((format) => format !== defaultFormat)].map(({ mediaTypes }) => mediaTypes[0])
}

/** The format called `name`, which the caller knows to be one. */
export function formatNamed(name: string): Format {
  return must(
    formats.find((format) => format.name === name),
    'a format',
  )
}

export interface BodyFormat {
  readonly format: Format
  /** What the parameter `header` says. */
  readonly csvHeader: CsvHeader | undefined
}

function unsupported(message: string, mediaType: string): NodeError {
  const candidates = formats.map(({ mediaTypes }) => mediaTypes[0])
  const form = mediaType === 'application/x-www-form-urlencoded'
  const hint = form
    ? "curl -d sends a form unless it is told otherwise: add -H 'Content-Type: application/x-ndjson', and --data-binary to keep line ends."
    : `Use ${candidates.join(', ')}.`
  return new NodeError('UnsupportedMediaType', message, { hint, candidates })
}

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

/** The query parameters that count for the format of `contentType` alone. */
export function parametersOf(contentType: string | undefined): readonly string[] {
  const mediaType = mediaTypeOf(contentType)
  const format = formats.find(({ mediaTypes }) => mediaTypes.includes(mediaType))
  return format?.kind === 'file' ? (format.parameters ?? []) : []
}

/** What the format of `contentType` has of places that parameters may name; nothing for one that is none of ours. */
export function placesTaken(
  contentType: string | undefined,
): Pick<StreamFormat, 'nesting' | 'hasRecords' | 'hasOwnTime'> {
  const mediaType = mediaTypeOf(contentType)
  const format = formats.find(({ mediaTypes }) => mediaTypes.includes(mediaType))
  return format?.kind === 'stream' ? format : {}
}

/** The format that a `Content-Type` names. Throws NodeError `UnsupportedMediaType`. */
export function formatOf(contentType: string | undefined): BodyFormat {
  const [, ...parameters] = (contentType ?? '').split(';')
  const mediaType = mediaTypeOf(contentType)
  const format = formats.find(({ mediaTypes }) => mediaTypes.includes(mediaType))
  if (format === undefined) {
    const shown =
      mediaType === '' ? 'The body has no media type.' : `The media type '${mediaType.slice(0, 100)}' is not supported.`
    throw unsupported(shown, mediaType)
  }
  let csvHeader: CsvHeader | undefined
  for (const text of parameters) {
    const [name, value] = parameter(text)
    if (name === 'charset' && value !== 'utf-8' && value !== 'utf8') {
      throw unsupported(`The charset '${value.slice(0, 100)}' is not supported; only UTF-8 is.`, mediaType)
    }
    if (name !== 'header' || format.kind === 'file' || format.hasHeader !== true) continue
    if (value !== 'present' && value !== 'absent') {
      throw unsupported(`The parameter header is 'present' or 'absent', not '${value.slice(0, 100)}'.`, mediaType)
    }
    csvHeader = value
  }
  return { format, csvHeader }
}
