// A format that is only added to the registry is read by the gateway over HTTP, and named by /info, the OpenAPI document
// and the command line: nothing else in the source has a list of formats.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { runsWith } from '../../helpers/features.ts'
import { createProgram } from '../../../src/cli/program.ts'
import { clientEnvironment, loadConfig, optionTable } from '../../../src/app/config.ts'
import { tablePlan } from '../../../src/libraries/formats/column-plan.ts'
import { FaultLog } from '../../../src/libraries/formats/fault-log.ts'
import type {
  Inferrer,
  ParsedBody,
  ReaderOptions,
  RecordReader,
  StreamFormat,
} from '../../../src/libraries/formats/format.ts'
import { formatsBut } from '../../../src/app/formats.ts'
import { type KnownFormat, ownFormats } from '../../../src/libraries/formats/registry.ts'
import { TypedColumns } from '../../../src/libraries/formats/typed-columns.ts'
import { optional, timestampMs } from '../../../src/libraries/model/schema.ts'
import { type LiveNode, startLiveNode } from '../../helpers/live-node.ts'

const rowBytes = 8

/** A body of doubles, big-endian: rows without lines. */
class DoublesReader implements RecordReader {
  readonly fits = false
  readonly #columns: TypedColumns
  readonly #faults = new FaultLog()
  #records = 0
  #rest = Buffer.alloc(0)

  constructor(options: ReaderOptions) {
    this.#columns = new TypedColumns(tablePlan(options), options)
  }

  push(chunk: Uint8Array): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    for (; this.#rest.length >= rowBytes; this.#rest = this.#rest.subarray(rowBytes)) {
      this.#columns.builder(1).appendFloat64(this.#rest.readDoubleBE(0))
      this.#columns.endRow(rowBytes)
      this.#records += 1
    }
  }

  take(): ReturnType<RecordReader['take']> {
    return this.#columns.take()
  }

  finish(): ParsedBody {
    if (this.#rest.length > 0) {
      this.#faults.addBare({ record: this.#records, kind: 'MalformedRecord', message: 'The row is cut off.' })
      throw this.#faults.toError(false)
    }
    return { records: this.#records, batches: this.#columns.finish() }
  }
}

class DoublesInferrer implements Inferrer {
  #records = 0

  push(): boolean {
    this.#records += 1
    return false
  }

  finish(): ReturnType<Inferrer['finish']> {
    const fields = [{ name: 'value', type: optional({ kind: 'Float64' } as const) }]
    return { records: this.#records, fields, added: fields, eventTimeType: timestampMs, valueless: [] }
  }
}

const doubles: StreamFormat = {
  kind: 'stream',
  module: import.meta.url,
  name: 'doubles',
  title: 'doubles',
  mediaTypes: ['application/x-doubles'],
  extensions: ['f64'],
  about: 'eight bytes a row',
  example: '········',
  isLines: false,
  createReader: (options) => new DoublesReader(options),
  createInferrer: () => new DoublesInferrer(),
}

const list = ownFormats as KnownFormat[] // a row more, as a commit would add it
let live: LiveNode

beforeAll(async () => {
  list.push({ ...doubles, load: async () => doubles })
  live = await startLiveNode()
})
afterAll(async () => {
  list.pop()
  await live.stop()
})

function post(body: Uint8Array): ReturnType<LiveNode['call']> {
  const headers = { 'content-type': 'application/x-doubles', prefer: 'wait=20' }
  return live.call('/acme/waves/ingest?create=true', { method: 'POST', headers, body })
}

test('its rows are stored and answered', async () => {
  const body = Buffer.alloc(2 * rowBytes)
  body.writeDoubleBE(0.5, 0)
  body.writeDoubleBE(-3, rowBytes)
  const answer = await post(body)
  expect([answer.status, answer.at('mediaType')]).toEqual([200, 'application/x-doubles'])
  const rows = await live.query('select value from "acme/waves" order by "offset"')
  expect(rows.at('output.data')).toEqual([[0.5], [-3]])
})

test('a fault says its row, where there are no lines', async () => {
  const answer = await post(Buffer.alloc(rowBytes + 3))
  expect([answer.status, answer.at('errors')]).toEqual([
    422,
    [{ record: 1, kind: 'MalformedRecord', message: 'The row is cut off.' }],
  ])
})

test.runIf(runsWith('line-protocol', 'otlp', 'shapefile', 'excel'))('it is named wherever formats are', async () => {
  const info = await live.call('/info')
  expect(info.at('formats.ingest')).toEqual(formatsBut([]).all.map(({ mediaTypes }) => mediaTypes[0]))
  const document = await live.call('/openapi.json')
  const text = JSON.stringify(document.json)
  for (const part of ['"application/x-doubles":{', doubles.example, 'eight bytes a row']) expect(text).toContain(part)
  const wrong = await live.call('/acme/waves/ingest', { method: 'POST', headers: { 'content-type': 'x/y' }, body: 'x' })
  expect(wrong.at('candidates')).toContain('application/x-doubles')
  const program = createProgram({ clientEnvironment, loadConfig, optionTable }, formatsBut([]).all, async () => {})
  expect(program.commands.find((command) => command.name() === 'ingest')?.helpInformation()).toContain('"doubles"')
})
