// OpenTelemetry's own Python SDK, configured as docs/devices.md shows: what it sends, whole and once, over a line that loses
// answers and while the node is killed. Skipped, loudly, where python3 has it not (pip install opentelemetry-exporter-otlp-proto-http).

import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJsonLogs } from '../../src/features/otlp/json.ts'
import { LogRows } from '../../src/features/otlp/log-rows.ts'
import { readProtobufLogs } from '../../src/features/otlp/protobuf.ts'
import { until } from '../helpers/until.ts'
import { NodeError } from '../../src/libraries/base/errors.ts'
import { run } from '../examples/run.ts'
import { blockOf } from '../helpers/page-blocks.ts'
import { ProducerNode, runProducer } from '../helpers/producer-node.ts'

const isThere = spawnSync('python3', ['-c', 'import opentelemetry.exporter.otlp.proto.http._log_exporter']).status === 0
if (!isThere && process.env['CI'] === 'true')
  throw new Error('python3 has no opentelemetry: pip install opentelemetry-exporter-otlp-proto-http')
if (!isThere)
  console.warn('NOT RUN: the tests of OpenTelemetry need python3 with opentelemetry-exporter-otlp-proto-http')

/** Logs 100 records in batches of ten, as a program does whose environment has the variables of the page. */
const program = `
import logging, sys, time
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
provider = LoggerProvider()
provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(), schedule_delay_millis=100, max_export_batch_size=10))
logger = logging.getLogger('pump')
logger.setLevel(logging.DEBUG)
logger.addHandler(LoggingHandler(logger_provider=provider))
for n in range(100):
    record = logger.makeRecord('pump', logging.WARNING, 'pump.py', 7, 'dry for %d s', (n,), None, extra={'n': n, 'bar': n / 8, 'wet': False, 'tags': ['a', 'b']})
    record.created = 1769860800 + n
    logger.handle(record)
    time.sleep(0.03)
time.sleep(600) # a shutdown would give up what is to be sent again
`

test.skipIf(!isThere)('what the SDK sends is there once', async () => {
  const node = await ProducerNode.start((before) => (before % 3 === 1 && before < 12 ? 'lost' : 'passed'))
  const variables = node.configuration(blockOf('docs/devices.md', 'export OTEL_SERVICE_NAME'))
  const env = Object.fromEntries(
    [...variables.matchAll(/^export (\w+)="(.*)"$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
  // Longer than a node takes to start on a busy machine: then the SDK gives a batch up.
  const patience = { OTEL_EXPORTER_OTLP_TIMEOUT: '60' }
  runProducer('python3', ['-c', program], node.directory, { ...env, ...patience })
  await until('requests came', () => node.line.requests > 4)
  await node.stop('SIGKILL')
  await new Promise((resolve) => setTimeout(resolve, 500))
  await node.restart()
  const sql = `select count(*), count(distinct attributes_n), sum(attributes_n), sum(attributes_bar), min(epoch_ms(event_time) - attributes_n * 1000),
    max(epoch_ms(event_time) - attributes_n * 1000), min(body), max(severity_text), min(severity_number), min("resource_service.name"), min(scope_name), min(attributes_tags)
    from "acme/logs"`
  await node.becomes(sql, [
    [
      100,
      100,
      4950,
      618.75,
      1_769_860_800_000,
      1_769_860_800_000,
      'dry for 0 s',
      'WARN',
      13,
      'pump',
      'pump',
      '["a","b"]',
    ],
  ])
})

/** Each export on stdin, in JSON, as protobuf in hexadecimal. Ids are base64 in protobuf's own JSON. */
const encode = `
import base64, json, sys
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
for line in sys.stdin:
    export = json.loads(line)
    for resource in export['resourceLogs']:
        for scope in resource['scopeLogs']:
            for record in scope['logRecords']:
                for name in ('traceId', 'spanId'):
                    if name in record: record[name] = base64.b64encode(bytes.fromhex(record[name])).decode()
    print(json_format.ParseDict(export, ExportLogsServiceRequest()).SerializeToString().hex())
`

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)
const uint64 = fc.bigInt({ min: 1n, max: 2n ** 62n }).map(String)
const word = fc.string({ maxLength: 8, unit: fc.constantFrom(...'ab "\\\n\u0000é😀'.split(/(?:)/u)) })
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((id) => Buffer.from(id).toString('hex'))
const { value } = fc.letrec<{ value: object; pairs: object[] }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.record({ stringValue: word }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ intValue: int64 }),
    fc.record({ doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
    fc.record({ bytesValue: fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes).toString('base64')) }),
    fc.constant({}),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { maxLength: 3 }) }) }),
    fc.record({ kvlistValue: fc.record({ values: tie('pairs') }) }),
  ),
  pairs: fc.uniqueArray(fc.record({ key: word, value: tie('value') }), { maxLength: 3, selector: ({ key }) => key }),
}))
const attributes = fc.uniqueArray(fc.record({ key: word, value }), { maxLength: 4, selector: ({ key }) => key })
const logRecord = fc.record(
  {
    timeUnixNano: uint64,
    observedTimeUnixNano: uint64,
    severityNumber: fc.integer({ min: 0, max: 24 }),
    severityText: word,
    body: value,
    attributes,
    droppedAttributesCount: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    flags: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    traceId: hex(16),
    spanId: hex(8),
    eventName: word,
  },
  { requiredKeys: [] },
)
const scope = fc.record({ name: word, version: word, attributes }, { requiredKeys: [] })
const exported = fc.record({
  resourceLogs: fc.array(
    fc.record({
      resource: fc.record({ attributes }),
      scopeLogs: fc.array(fc.record({ scope, logRecords: fc.array(logRecord, { maxLength: 3 }) }), { maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
})

type ReadLogs = typeof readJsonLogs

/** The rows as texts. */
function rowTexts(read: ReadLogs, bytes: Uint8Array): string[] {
  const rows: string[] = []
  const take = (line: Uint8Array): boolean => rows.push(Buffer.from(line).toString('utf8')) > 0
  read(bytes, new LogRows(bytes.length, { eventTimeColumn: 'event_time', flatten: false, numbered: new Map() }, take))
  return rows
}

/** What becomes of bytes that may be an export: rows, or the kind of a refusal. */
function kindOf(bytes: Uint8Array): string {
  try {
    rowTexts(readProtobufLogs, bytes)
    return 'rows'
  } catch (error) {
    return error instanceof NodeError ? error.kind : String(error)
  }
}

test.skipIf(!isThere)(
  'an export in protobuf has the rows that it has in JSON, and none when it is cut or changed',
  async () => {
    const samples = fc.sample(exported, { numRuns: 1_000, seed: 20_260_131 }).map((one) => JSON.stringify(one))
    const { code, stdout, stderr } = await run('python3', ['-c', encode], { input: samples.join('\n') })
    expect([code, stderr]).toEqual([0, ''])
    const encoded = stdout.trimEnd().split('\n')
    expect(encoded).toHaveLength(samples.length)
    let rows = 0
    for (const [i, text] of samples.entries()) {
      const bytes = Buffer.from(encoded[i] ?? '', 'hex')
      const found = rowTexts(readProtobufLogs, bytes)
      expect(found).toEqual(rowTexts(readJsonLogs, Buffer.from(text)))
      rows += found.length
      for (const row of found) JSON.parse(row)
      if (bytes.length === 0) continue
      const damaged = Buffer.from(bytes)
      damaged[(i * 7) % bytes.length] = (i * 31) % 256
      for (const other of [bytes.subarray(0, (i * 13) % bytes.length), damaged]) {
        expect(kindOf(other)).toMatch(/^(?:rows|MalformedBody)$/)
      }
    }
    expect(rows).toBeGreaterThan(1_000)
  },
)
