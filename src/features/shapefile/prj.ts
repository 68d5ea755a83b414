// Whether a .prj is longitude and latitude of WGS 84, by its datum, ellipsoid, meridian and unit; all else is refused.
// Forms as they occur: OGC WKT 1 with the names of EPSG or Esri, WKT 2. Source: https://docs.ogc.org/is/18-010r7/18-010r7.html

import { NodeError } from '../../libraries/base/errors.ts'
import { shown } from '../../libraries/formats/zip.ts'

/** `KEYWORD["text", 1.5, OTHER[…], word]`. */
interface Node {
  readonly keyword: string
  readonly values: readonly (Node | string | number)[]
}

/** Throws NodeError `UnsupportedCrs` unless `text`, which is not blank, is WGS 84; `layer` is for the advice. */
export function demandWgs84(text: string, layer: string): void {
  const root = parse(text)
  if (root !== undefined && isWgs84(root)) return
  const name = root === undefined ? undefined : textOf(root)
  const what = name === undefined ? 'a coordinate system that cannot be read' : `the coordinate system '${shown(name)}'`
  throw new NodeError(
    'UnsupportedCrs',
    `${shown(layer)}.prj has ${what}; only WGS 84 in degrees is read. Nothing was stored.`,
    { hint: `Reproject it: ogr2ogr ${reprojectArguments(layer)}, then zip what it writes.` },
  )
}

/** The error for coordinates that are no degrees, where no .prj says what they are. */
export function unknownCrs(layer: string, message: string): NodeError {
  const text = `The zip has no .prj, and the coordinates are not degrees: ${message} Nothing was stored.`
  return new NodeError('UnsupportedCrs', text, { hint: `Say their system: ${sourceCommand(layer)}` })
}

/** What to do about coordinates that are no degrees, where the .prj says that they are. */
export function wrongCrsHint(layer: string): string {
  return `The .prj says degrees of WGS 84. Name the actual system of the coordinates: ${sourceCommand(layer)}`
}

function sourceCommand(layer: string): string {
  return `ogr2ogr -s_srs EPSG:<code> ${reprojectArguments(layer)}, then zip what it writes.`
}

function reprojectArguments(layer: string): string {
  const name = shown(layer)
  const quoted = /^[\w.-]+$/.test(name) ? name : 'layer'
  return `-t_srs EPSG:4326 -lco ENCODING=UTF-8 ${quoted}-wgs84.shp ${quoted}.shp`
}

const geographic: ReadonlySet<string> = new Set(['GEOGCS', 'GEOGCRS', 'GEOGRAPHICCRS', 'GEODCRS', 'GEODETICCRS'])
/** Without what is no letter or digit, in lower case; realizations such as WGS 84 (G1762) stand behind. */
const datumNames = /^(?:d?wgs(?:19)?84|worldgeodeticsystem(?:of)?1984)(?:ensemble|g\d+)?$/
const semiMajorMetres = 6_378_137
const inverseFlattening = 298.257_223_563
const degree = Math.PI / 180

function isWgs84(root: Node): boolean {
  const datum = child(root, 'DATUM', 'GEODETICDATUM', 'TRF', 'ENSEMBLE')
  if (!geographic.has(root.keyword) || datum === undefined) return false
  const ellipsoid = child(datum, 'SPHEROID', 'ELLIPSOID')
  const [semiMajor, flattening] = ellipsoid === undefined ? [] : numbers(ellipsoid)
  const isDatum = datumNames.test((textOf(datum) ?? '').toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
  const isEllipsoid = isNear(semiMajor, semiMajorMetres) && isNear(flattening, inverseFlattening)
  const meridian = child(root, 'PRIMEM', 'PRIMEMERIDIAN')
  const isGreenwich = meridian === undefined || numbers(meridian)[0] === 0
  const shift = child(datum, 'TOWGS84')
  const isUnshifted = shift === undefined || numbers(shift).every((value) => value === 0)
  return isDatum && isEllipsoid && isGreenwich && isUnshifted && isInDegrees(root) && !isTurned(root)
}

/** The unit stands in the root, or in each axis, or in the coordinate system of WKT 2. */
function isInDegrees(root: Node): boolean {
  const axes = children(root, 'AXIS')
  const units = [root, ...axes, ...children(root, 'CS')].flatMap((node) => children(node, 'UNIT', 'ANGLEUNIT'))
  return units.length > 0 && units.every((unit) => isNear(numbers(unit)[0], degree))
}

/** Whether an axis runs west or south. */
function isTurned(root: Node): boolean {
  return children(root, 'AXIS').some(({ values }) =>
    values.some((value) => typeof value === 'object' && /^(?:WEST|SOUTH)$/.test(value.keyword)),
  )
}

function isNear(value: number | undefined, wanted: number): boolean {
  return value !== undefined && Math.abs(value - wanted) <= 1e-8 * wanted
}

function children(node: Node, ...keywords: readonly string[]): Node[] {
  return node.values.filter((value): value is Node => typeof value === 'object' && keywords.includes(value.keyword))
}

function child(node: Node, ...keywords: readonly string[]): Node | undefined {
  return children(node, ...keywords)[0]
}

function numbers(node: Node): number[] {
  return node.values.filter((value) => typeof value === 'number')
}

function textOf(node: Node): string | undefined {
  return node.values.find((value) => typeof value === 'string')
}

/** As deep as any system is described, with room. */
const mostDepth = 32

/** The one node that `text` is; undefined where it is none. Words without brackets are nodes without values. */
function parse(text: string): Node | undefined {
  const tokens = text.replace(/^\ufeff/, '').match(/"(?:[^"]|"")*"|[[\](),]|[^\s"[\](),]+|"/g) ?? []
  let at = 0
  const node = (depth: number): Node | undefined => {
    const keyword = tokens[at]
    if (keyword === undefined || !/^[a-z]\w*$/i.test(keyword) || depth > mostDepth) return undefined
    at += 1
    const values: (Node | string | number)[] = []
    if (tokens[at] !== '[' && tokens[at] !== '(') return { keyword: keyword.toUpperCase(), values }
    do {
      at += 1
      const token = tokens[at] ?? ''
      const isValue = /^"[^]*"$/.test(token) || (token !== '' && Number.isFinite(Number(token)))
      const value = isValue ? valueOf(token) : node(depth + 1)
      if (value === undefined) return undefined
      if (isValue) at += 1
      values.push(value)
    } while (tokens[at] === ',')
    if (tokens[at] !== ']' && tokens[at] !== ')') return undefined
    at += 1
    return { keyword: keyword.toUpperCase(), values }
  }
  const root = node(0)
  return at === tokens.length ? root : undefined
}

function valueOf(token: string): string | number {
  return token.startsWith('"') ? token.slice(1, -1).replaceAll('""', '"') : Number(token)
}
