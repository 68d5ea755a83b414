// Which coordinate systems are taken for WGS 84: texts as GDAL, Esri and PROJ write them, and others.

import { describe, expect, test } from 'vitest'
import { demandWgs84 } from '../../../src/features/shapefile/prj.ts'
import { errorOf, featureLines, fixture } from './reading.ts'
import { changed, without } from './zips.ts'

const esri =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'
const ogc =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],TOWGS84[0,0,0,0,0,0,0],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AXIS["Latitude",NORTH],AXIS["Longitude",EAST],AUTHORITY["EPSG","4326"]]'
const wkt2 =
  'GEOGCRS["WGS 84",ENSEMBLE["World Geodetic System 1984 ensemble",MEMBER["World Geodetic System 1984 (Transit)"],MEMBER["World Geodetic System 1984 (G2139)"],ELLIPSOID["WGS 84",6378137,298.257223563,LENGTHUNIT["metre",1]],ENSEMBLEACCURACY[2.0]],PRIMEM["Greenwich",0,ANGLEUNIT["degree",0.0174532925199433]],CS[ellipsoidal,2],AXIS["geodetic latitude (Lat)",north,ORDER[1],ANGLEUNIT["degree",0.0174532925199433]],AXIS["geodetic longitude (Lon)",east,ORDER[2],ANGLEUNIT["degree",0.0174532925199433]],USAGE[SCOPE["Horizontal component of 3D system."],AREA["World."],BBOX[-90,-180,90,180]],ID["EPSG",4326]]'
const crs84 =
  'GEODCRS["WGS 84 (CRS84)",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]],CS[ellipsoidal,2],AXIS["longitude",east],AXIS["latitude",north],ANGLEUNIT["degree",0.0174532925199433]]'

describe('taken for WGS 84', () => {
  test.each([
    ['Esri', esri],
    ['OGC WKT 1', ogc],
    ['WKT 2', wkt2],
    ['CRS84', crs84],
    ['with lines and spaces', ogc.replaceAll(',', ',\n    ')],
    ['with a byte order mark', `\ufeff${esri}`],
    ['in lower case', esri.replaceAll(/[A-Z]+\[/g, (word) => word.toLowerCase())],
    ['with round brackets', esri.replaceAll('[', '(').replaceAll(']', ')')],
    ['of a realization', crs84.replace('System 1984', 'System 1984 (G1762)')],
  ])('%s', (_, text) => expect(() => demandWgs84(text, 'layer')).not.toThrow())
})

describe('refused', () => {
  test.each([
    ['projected', `PROJCS["WGS_1984_UTM_Zone_33N",${esri},PROJECTION["Transverse_Mercator"],UNIT["Meter",1.0]]`],
    ['another datum', esri.replace('D_WGS_1984', 'D_ETRS_1989')],
    ['an older WGS', esri.replace('D_WGS_1984', 'D_WGS_1972')],
    ['another ellipsoid', esri.replace('6378137.0,298.257223563', '6378206.4,294.9786982')],
    ['another meridian', esri.replace('"Greenwich",0.0', '"Paris",2.337229166666667')],
    ['grads', esri.replace('"Degree",0.0174532925199433', '"Grad",0.01570796326794897')],
    ['no unit', esri.replace(/,UNIT\[.*?\]/, '')],
    ['a shifted datum', ogc.replace('TOWGS84[0,0,0', 'TOWGS84[1,2,3')],
    ['an axis to the west', ogc.replace('EAST', 'WEST')],
    [
      'with heights of a geoid',
      `COMPD_CS["WGS 84 + EGM96",${ogc},VERT_CS["EGM96",VERT_DATUM["EGM96",2005],UNIT["metre",1]]]`,
    ],
    ['cut off', esri.slice(0, -9)],
    ['no WKT', 'EPSG:4326'],
    ['brackets without end', '['.repeat(10_000)],
    ['nested deeply', `GEOGCS${'[A'.repeat(10_000)}${']'.repeat(10_000)}`],
  ])('%s', (_, text) => {
    expect(() => demandWgs84(text, 'roads')).toThrow(
      expect.objectContaining({
        kind: 'UnsupportedCrs',
        details: {
          hint: expect.stringContaining('ogr2ogr -t_srs EPSG:4326 -lco ENCODING=UTF-8 roads-wgs84.shp roads.shp'),
        },
      }),
    )
  })

  test.each(['nad27', 'utm'])('the public layer %s', async (name) => {
    expect((await errorOf(fixture(`${name}.zip`))).kind).toBe('UnsupportedCrs')
  })
})

test('one of 64 KiB is read, a larger one is refused', async () => {
  const padded = (size: number) => changed(fixture('values.zip'), '.prj', () => Buffer.from(esri.padEnd(size)))
  expect(await featureLines(padded(65_536))).toEqual(await featureLines(padded(65_535)))
  expect((await errorOf(padded(65_537))).message).toContain('values.prj: it has 65537 bytes, too many')
})

test('a blank .prj is none', async () => {
  expect(await featureLines(changed(fixture('values.zip'), '.prj', () => Buffer.from(' \n')))).toHaveLength(5)
})

test('without a .prj degrees are taken for WGS 84, and nothing else', async () => {
  expect(await featureLines(without(fixture('values.zip'), '.prj'))).toHaveLength(5)
  const { kind, details } = await errorOf(without(fixture('feet.zip'), '.prj'))
  expect([kind, details.hint]).toEqual(['UnsupportedCrs', expect.stringContaining('-s_srs EPSG:<code>')])
})

test('what stands in a file name does not reach a command', () => {
  expect(() => demandWgs84('x', '$(rm -rf ~)')).toThrow(
    expect.objectContaining({ details: { hint: expect.stringContaining(' layer-wgs84.shp layer.shp') } }),
  )
})
