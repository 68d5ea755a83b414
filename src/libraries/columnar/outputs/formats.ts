// The formats of answers: the JSON layouts of layouts.ts and the file formats, one folder each, with those of features. HTTP
// routes and their documentation read them from here; a new format is one more object.

import { NodeError } from '../../base/errors.ts'
import { arrow } from './arrow/format.ts'
import { csv } from './csv/format.ts'
import type { FileFacts, FileFormat } from './file-format.ts'
import { geoJson, ndGeoJson } from './geojson/format.ts'
import { jsonLayoutNames, jsonLayoutOf } from './layouts.ts'
import { ndJson } from './ndjson/format.ts'
import { parquet } from './parquet/format.ts'

const fileFormats: readonly FileFormat[] = [csv, ndJson, arrow, parquet, geoJson, ndGeoJson]

/** The file format of the library of this name, in any accepted spelling, or undefined. */
export function fileFormatOf(text: string): FileFormat | undefined {
  return named(fileFormats, text)
}

function named<T extends FileFacts>(files: readonly T[], text: string): T | undefined {
  return files.find(({ name, spellings }) => name === text || spellings.includes(text))
}

/** The formats of answers that a program gives. */
export class OutputFormats {
  readonly files: readonly FileFacts[]
  /** Names of the JSON layouts and then of the files; the first is the default. */
  readonly names: readonly string[]

  constructor(ofFeatures: readonly FileFacts[]) {
    this.files = [...fileFormats, ...ofFeatures]
    this.names = [...jsonLayoutNames, ...this.files.map(({ name }) => name)]
  }

  /**
   * The file format that is asked for: by its name where one is given, else by `Accept`. Undefined where the answer is JSON
   * (a name that is no format at all is left to the reader of the names of layouts).
   */
  asked(name: string | undefined, accept: string | undefined): FileFacts | undefined {
    if (name === undefined) return this.accepted(accept)
    return jsonLayoutOf(name) === undefined ? named(this.files, name) : undefined
  }

  /** The file format of the first media type in `Accept` that an answer can have; undefined where that is JSON or none. */
  accepted(header = ''): FileFacts | undefined {
    const accepted = header.toLowerCase().split(',').map(readAccept)
    const wanted = accepted.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality)
    for (const { type } of wanted) {
      if (type === '*/*' || type === 'application/*' || /^application\/(?:[\w.-]+\+)?json$/.test(type)) {
        if (!type.endsWith('geo+json')) return undefined
      }
      const format = this.files.find(({ mediaTypes }) => mediaTypes.some((one) => one.split(';')[0] === type))
      if (format !== undefined) return format
    }
    return undefined
  }

  /** The file format of this name, or NodeError `InvalidParameter` with the names of all. */
  file(name: string): FileFacts {
    const format = named(this.files, name)
    if (format !== undefined) return format
    throw new NodeError('InvalidParameter', `format is '${name.slice(0, 40)}'.`, {
      candidates: this.files.map((one) => one.name),
    })
  }
}

/** Those of the library alone. */
export const libraryOutputs = new OutputFormats([])

/** RFC 9110 §12.5.1. */
function readAccept(part: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = part.split(';').map((text) => text.trim())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return { type, quality: weight === undefined ? 1 : Number(weight.slice(2)) || 0 }
}
