import { readFileSync } from 'node:fs'
import { openParquet } from './src/formats/parquet/open-parquet.ts'
for (const f of process.argv.slice(2)) {
  const bytes = new Uint8Array(readFileSync(f))
  for (let k = 0; k < 4; k++) {
    const t = performance.now()
    const file = await openParquet({ bytes: bytes.length, at: async (s, e) => bytes.subarray(s, e) }, { limits: { columns: 2000, recordBytes: 1 << 24 } })
    let rows = 0
    for await (const b of file.batches(file.fields.map((_, i) => i))) rows += b.rows
    const ms = performance.now() - t
    console.log(f, rows, Math.round(ms), 'ms', (rows / ms / 1000).toFixed(2), 'M rows/s', Math.round(process.memoryUsage().rss / 2 ** 20))
  }
}
