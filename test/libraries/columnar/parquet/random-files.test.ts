// Random files of pyarrow, where python3 has it (pip install pyarrow); skipped elsewhere. Ten by a seed
// (SEED to repeat one); PARQUET_FILES=1000 for more. The script is that of the fixtures.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAll } from './parquet-helper.ts'
import { seed } from '../../../helpers/seed.ts'

const files = Number(process.env['PARQUET_FILES'] ?? 10)
const python = process.env['PYTHON'] ?? 'python3'
const script = join(import.meta.dirname, '../../../fixtures/parquet/make.py')
const hasPyArrow = spawnSync(python, ['-c', 'import pyarrow.parquet, numpy']).status === 0

test.skipIf(!hasPyArrow)('random files have the values that pyarrow wrote', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'random-parquet-'))
  try {
    const made = spawnSync(python, [script, 'random', String(seed), String(files), folder], { encoding: 'utf8' })
    expect(made.stderr).toBe('')
    for (let file = 0; file < files; file++) {
      const path = join(folder, `${file}.parquet`)
      const expected: unknown = JSON.parse(readFileSync(`${path}.json`, 'utf8'))
      expect(await readAll(new Uint8Array(readFileSync(path))), `seed ${seed}, file ${file}`).toEqual(expected)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
