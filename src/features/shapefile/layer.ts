// Which files of a zip make a layer: those of one name, beside a .shp. `layer` chooses among several layers.

import { NodeError } from '../../libraries/base/errors.ts'
import { shown, type ZipEntry } from '../../libraries/formats/zip.ts'
import { malformed } from './faults.ts'

/** The files of one layer. */
export interface Layer {
  /** Name of the .shp without its path and ending. */
  readonly name: string
  readonly shp: ZipEntry
  readonly dbf: ZipEntry
  readonly shx: ZipEntry | undefined
  readonly prj: ZipEntry | undefined
  readonly cpg: ZipEntry | undefined
}

type Part = 'shp' | 'dbf' | 'shx' | 'prj' | 'cpg'
const parts: readonly Part[] = ['shp', 'dbf', 'shx', 'prj', 'cpg']

/**
 * The layer called `asked`, or the only one. Throws NodeError `MalformedBody` where there is none, or it is not whole;
 * `InvalidRequest` where there are several and none is asked for; `InvalidParameter` where none has the name.
 */
export function layerOf(entries: readonly ZipEntry[], asked: string | undefined): Layer {
  const files = new Map<string, ZipEntry>()
  const stems: string[] = []
  for (const entry of entries) {
    const { stem, part } = split(entry.name)
    if (part === undefined) continue
    const key = `${stem.toLowerCase()}.${part}`
    if (files.has(key)) throw malformed(entry.name, 'the zip has this file twice.')
    files.set(key, entry)
    if (part === 'shp') stems.push(stem)
  }
  const stem = choose(stems, asked, entries)
  const file = (part: Part): ZipEntry | undefined => files.get(`${stem.toLowerCase()}.${part}`)
  const [shp, dbf] = [file('shp'), file('dbf')]
  if (shp === undefined || dbf === undefined) {
    throw malformed(
      `${stem}.dbf`,
      'the zip lacks this file, which holds the values of the .shp beside it.',
      'Add the .dbf.',
    )
  }
  return { name: baseName(stem), shp, dbf, shx: file('shx'), prj: file('prj'), cpg: file('cpg') }
}

function split(name: string): { readonly stem: string; readonly part: Part | undefined } {
  const dot = name.lastIndexOf('.')
  const ending = name.slice(dot + 1).toLowerCase()
  return { stem: name.slice(0, Math.max(dot, 0)), part: dot < 0 ? undefined : parts.find((part) => part === ending) }
}

function baseName(stem: string): string {
  return stem.slice(stem.lastIndexOf('/') + 1)
}

function choose(stems: readonly string[], asked: string | undefined, entries: readonly ZipEntry[]): string {
  const [only] = stems
  if (only === undefined) throw noLayer(entries)
  const names = layerNames(stems)
  if (asked === undefined) {
    if (stems.length === 1) return only
    throw new NodeError('InvalidRequest', `The zip has ${stems.length} layers. Nothing was stored.`, {
      hint: 'Name one with layer=<name>, and send the others in separate requests.',
      candidates: names.slice(0, mostNames),
    })
  }
  const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
  const at = [names.indexOf(asked), names.findIndex((name) => same(name, asked))].find((index) => index >= 0)
  const found = at === undefined ? stems.find((stem) => same(stem, asked)) : stems[at]
  if (found !== undefined) return found
  throw new NodeError('InvalidParameter', `The zip has no layer '${shown(asked)}'. Nothing was stored.`, {
    hint: 'Use one of its names.',
    candidates: names.slice(0, mostNames),
  })
}

const mostNames = 100

/** What layers are called: their base names, with the path where two have the same. */
function layerNames(stems: readonly string[]): string[] {
  const bases = stems.map((stem) => baseName(stem).toLowerCase())
  return stems.map((stem, i) =>
    bases.indexOf(bases[i] ?? '') === bases.lastIndexOf(bases[i] ?? '') ? baseName(stem) : stem,
  )
}

/** What a zip is that holds no .shp, by the names in it. */
const others: readonly (readonly [RegExp, string])[] = [
  [/^xl\/workbook\.xml$/i, 'It is an Excel workbook: send it with the media type of .xlsx.'],
  [/^xl\/workbook\.bin$/i, 'It is an Excel workbook in binary form: save it as .xlsx.'],
  [/^content\.xml$/i, 'It is an OpenDocument file: save the sheet as CSV and send that as text/csv.'],
  [
    /\.gdb\//i,
    'It holds a file geodatabase: ogr2ogr -f GeoJSON -t_srs EPSG:4326 out.geojson in.gdb LAYER, and send that.',
  ],
  [/\.kml$/i, 'It holds KML: ogr2ogr -f GeoJSON out.geojson in.kml, and send that.'],
  [/\.(?:csv|tsv|json|ndjson|geojson|parquet)$/i, 'Unpack it and send the file inside as what it is.'],
]

function noLayer(entries: readonly ZipEntry[]): NodeError {
  const hint = others.find(([pattern]) => entries.some(({ name }) => pattern.test(name)))?.[1]
  const held = entries.slice(0, 10).map(({ name }) => shown(name))
  const what = held.length === 0 ? 'it is empty.' : `it holds no .shp, but ${held.join(', ')}.`
  return malformed('The zip', what, hint ?? 'Send one zip with the .shp, .dbf, .prj and .cpg of a layer.')
}
