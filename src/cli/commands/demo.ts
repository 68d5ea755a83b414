// `demo`: loads real data, which the package brings, into a node, and says what to try with it. Once more does no harm: each
// file has a key of its own.

import { join, relative } from 'node:path'
import { openClient } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { note } from '../failure.ts'
import { ingest } from './ingest.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'demo')

/** File → dataset. */
const files = [
  ['airports.csv.gz', 'us/airports'],
  ['flights.csv.gz', 'us/flights'],
  ['earthquakes.geojson.gz', 'us/earthquakes'],
] as const

/** Loads the demo data. Resolves when all of it is in blocks; the exit code is that of the first file that failed. */
export async function demo(context: CommandContext): Promise<number> {
  const { server } = await openClient(context)
  // A sentence a file, also where no person reads: three receipts say nothing more.
  const form = context.isFormSaid ? context.form : 'table'
  for (const [file, dataset] of files) {
    const exitCode = await ingest({ ...context, form }, [dataset, join(relative(process.cwd(), folder), file)], {
      create: true,
      wait: true,
      key: `demo-1-${file}`,
      retries: 8,
      batchRows: 1000,
      batchAge: 1000,
    })
    if (exitCode !== 0) return exitCode
  }
  const client = server === 'http://127.0.0.1:8080' ? 'proofstream' : `proofstream --server ${server}`
  note(
    [
      '',
      'Try, for instance:',
      '',
      `  ${client} query --proof answer.json "${question}"`,
      `  ${client} verify answer.json`,
      `  ${client} export us/earthquakes --where "mag >= 4.5" -o quakes.geojson`,
      '',
      `In a browser: ${server}/`,
    ].join('\n'),
  )
  return 0
}

/** From which states do most flights leave? */
const question =
  'select a.state, sum(f.count) as flights from us.flights f join us.airports a on a.iata = f.origin group by a.state order by flights desc limit 3'
