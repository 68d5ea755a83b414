// What these formats are, without their code, which is loaded for the first body of them.

import type { StreamFacts } from '../../libraries/formats/format.ts'

const logs = { kind: 'stream', isLines: false, nesting: 'objects', hasOwnTime: true } as const

export const otlpJsonFacts: StreamFacts = {
  ...logs,
  name: 'otlp-json',
  title: 'OpenTelemetry logs in JSON',
  mediaTypes: ['application/x-otlp-logs+json'],
  extensions: [],
  about: 'an export of logs; a row a log record',
  example:
    '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"pump"}}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1769860800000000000","severityText":"WARN","body":{"stringValue":"dry"}}]}]}]}',
}

export const otlpProtobufFacts: StreamFacts = {
  ...logs,
  name: 'otlp-protobuf',
  title: 'OpenTelemetry logs in protobuf',
  mediaTypes: ['application/x-otlp-logs+protobuf'],
  extensions: [],
  about: 'an export of logs; a row a log record',
  example: '',
}
