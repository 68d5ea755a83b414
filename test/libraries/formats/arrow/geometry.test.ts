// GeoArrow of GeoPandas: well-known binary and every native encoding, against the GeoJSON of shapely
// (test/fixtures/arrow/make_geo.py).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { arrow } from '../../../../src/libraries/formats/arrow/format.ts'
import { defaultLimits } from '../../../helpers/default-limits.ts'
import { bodyFile, failureOf, optionalField, readFileBody, readerOptions, collected, rowsOf } from '../reading.ts'

const folder = join(import.meta.dirname, '../../../fixtures/arrow')
const expected: Readonly<Record<string, unknown[]>> = JSON.parse(readFileSync(join(folder, 'geo.json'), 'utf8'))

describe('a geometry column', () => {
  test.each(Object.keys(expected))('becomes the column geometry, as GeoJSON text: %s', async (name) => {
    const { inferred, body } = await readFileBody(arrow, readFileSync(join(folder, name)))
    expect(inferred.fields.map((field) => field.name)).toEqual(['n', 'geometry'])
    const texts = rowsOf(body).map((row) => row[2])
    expect(texts.map((text) => (typeof text === 'string' ? JSON.parse(text) : text))).toEqual(expected[name])
  })

  test('in another coordinate system is refused, with the way to reproject', async () => {
    const error = await failureOf(readFileBody(arrow, readFileSync(join(folder, 'refused-crs.arrows'))))
    expect([error.kind, error.details.hint]).toEqual(['UnsupportedCrs', expect.stringContaining('ogr2ogr')])
  })

  test('in another coordinate system is left out only where the dataset has no geometry', async () => {
    const bytes = readFileSync(join(folder, 'refused-crs.arrows'))
    const file = await arrow.openFile(bodyFile(bytes), { limits: defaultLimits() })
    const n = optionalField('n', { kind: 'Int64' })
    const ignoring = { unknownFields: 'ignore' } as const
    expect((await collected(file.read(readerOptions([n], ignoring)))).length).toBe(1)
    const fields = [n, optionalField('geometry', { kind: 'String' })]
    const error = await failureOf(collected(file.read(readerOptions(fields, ignoring))))
    expect(error.kind).toBe('UnsupportedCrs')
  })

  test('of positions that are none is refused by its record', async () => {
    const file = await arrow.openFile(bodyFile(readFileSync(join(folder, 'refused-positions.arrows'))), {
      limits: defaultLimits(),
    })
    const fields = [optionalField('n', { kind: 'Int64' }), optionalField('geometry', { kind: 'String' })]
    const error = await failureOf(collected(file.read(readerOptions(fields))))
    expect(error.kind).toBe('RecordsDoNotFit')
    expect(error.details.errors).toMatchObject([{ record: 1, column: 'shape', kind: 'InvalidGeometry' }])
  })
})
