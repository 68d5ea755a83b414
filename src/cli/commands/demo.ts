// `demo`: loads real data, which the package brings, into a node, and says what to try with it. Once more does no harm: each
// file has a key of its own.

import { join, relative } from 'node:path'
import { type NodeClient, openClient } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { memberAt, objectOf } from '../../libraries/base/json/members.ts'
import { ingest } from './ingest.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'demo')

/** File → dataset, and what it says of itself. */
const files = [
  ['airports.csv.gz', 'us/airports', 'Airports of the United States with their places, from data.gov.'],
  [
    'flights.csv.gz',
    'us/flights',
    'Flights of 2008 between two airports, by pair (Bureau of Transportation Statistics).',
  ],
  ['earthquakes.geojson.gz', 'us/earthquakes', 'All earthquakes from 31 January to 7 February 2018 (USGS).'],
] as const

/** Loads the demo data. Resolves when all of it is in blocks; the exit code is that of the first file that failed. */
export async function demo(context: CommandContext): Promise<number> {
  const client = await openClient(context)
  const { server } = client
  // A sentence a file, also where no person reads: three receipts say nothing more.
  const form = context.isFormSaid ? context.form : 'table'
  for (const [file, dataset, description] of files) {
    const exitCode = await ingest({ ...context, form }, [dataset, join(relative(process.cwd(), folder), file)], {
      create: true,
      wait: true,
      key: `demo-1-${file}`,
      retries: 8,
      batchRows: 1000,
      batchAge: 1000,
    })
    if (exitCode !== 0) return exitCode
    await describe(client, dataset, description)
  }
  const program = server === 'http://127.0.0.1:8080' ? 'proofstream' : `proofstream --server ${server}`
  note(
    [
      '',
      'Try, for instance:',
      '',
      `  ${program} query --proof answer.json "${question}"`,
      `  ${program} verify answer.json`,
      `  ${program} export us/earthquakes --where "mag >= 4.5" -o quakes.geojson`,
      '',
      `In a browser: ${server}/`,
    ].join('\n'),
  )
  return 0
}

/** Describes a dataset that nobody has described yet, where the token may. */
async function describe(client: NodeClient, dataset: string, description: string): Promise<void> {
  try {
    const held = (await client.call({ path: `/${dataset}/metadata`, query: { include: 'info' } })).json()
    if (memberAt(held, 'output', 'info', 'description') !== undefined) return
    await client.call({ method: 'PATCH', path: `/${dataset}`, json: objectOf({ info: objectOf({ description }) }) })
  } catch (error) {
    if (!(error instanceof CommandFailure && error.exitCode === exitCodes.notAllowed)) throw error
  }
}

/** From which states do most flights leave? */
const question =
  'select a.state, sum(f.count) as flights from us.flights f join us.airports a on a.iata = f.origin group by a.state order by flights desc limit 3'
