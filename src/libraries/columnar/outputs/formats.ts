// The formats of answers, one object each: the JSON layouts of layouts.ts and the file formats, one folder each. The
// engine's child, the HTTP routes and their documentation read them from here; a new format is one more object.

import { arrow } from './arrow/format.ts'
import { csv } from './csv/format.ts'
import type { FileFormat } from './file-format.ts'
import { geoJson, ndGeoJson } from './geojson/format.ts'
import { type JsonLayout, jsonLayoutNames, jsonLayoutOf } from './layouts.ts'
import { ndJson } from './ndjson/format.ts'
import { parquet } from './parquet/format.ts'

export const fileFormats: readonly FileFormat[] = [csv, ndJson, arrow, parquet, geoJson, ndGeoJson]

/** Names as answers, `/info` and the documentation list them. */
export const fileFormatNames: readonly string[] = fileFormats.map(({ name }) => name)

/** Names of the JSON layouts and then of the files; the first is the default. */
export const outputFormatNames: readonly string[] = [...jsonLayoutNames, ...fileFormatNames]

/** The file format of this name, in any accepted spelling, or undefined. */
export function fileFormatOf(text: string): FileFormat | undefined {
  return fileFormats.find(({ name, spellings }) => name === text || spellings.includes(text))
}

/** The layout or file format of this name, in any accepted spelling, or undefined. */
export function outputFormatOf(text: string): JsonLayout | FileFormat | undefined {
  return jsonLayoutOf(text) ?? fileFormatOf(text)
}
