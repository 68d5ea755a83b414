// Files that take long are read no further when nobody waits for the rows: each format asks while it reads.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as apache from 'apache-arrow'
import { arrow } from '../../../src/libraries/formats/arrow/format.ts'
import type { FileFormat } from '../../../src/libraries/formats/format.ts'
import { parquet } from '../../../src/libraries/formats/parquet/format.ts'
import { excel } from '../../../src/features/excel/format.ts'
import { shapefile } from '../../../src/features/shapefile/format.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'
import { base, bodyFile, collected, readerOptions } from './reading.ts'

const fixture = (path: string): Uint8Array => readFileSync(new URL(`../../fixtures/${path}`, import.meta.url))
/** More rows than one piece has. */
const numbers = apache.tableToIPC(apache.tableFromArrays({ n: Int32Array.from({ length: 40_000 }, (_, i) => i) }))

const files: readonly (readonly [FileFormat, Uint8Array])[] = [
  [parquet, fixture('parquet/fewer-equal-items.parquet')],
  [arrow, numbers],
  [shapefile, fixture('shapefile/lines.zip')],
  [excel, fixture('ingest/excel/openpyxl.xlsx')],
]

test.each(files)('$name', async (format, bytes) => {
  let isGone = false
  const demandCaller = (): void => {
    if (isGone) throw new NodeError('QueryTimeout', 'The request was cancelled.')
  }
  const file = await format.openFile({ ...bodyFile(bytes), demandCaller }, { limits: defaultLimits() })
  const { fields, eventTimeType, valueless } = await file.infer({ ...base, columns: 2000 })
  isGone = true
  await expect(collected(file.read(readerOptions(fields, { eventTimeType, valueless })))).rejects.toMatchObject({
    kind: 'QueryTimeout',
  })
})
