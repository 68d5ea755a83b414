// A trace from the request through the message in the log to the line of the block, and never into what is hashed.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { systemClock } from '../../src/libraries/base/clock.ts'
import { type Logger, silentLogger } from '../../src/libraries/base/logger.ts'
import { openFileLog } from '../../src/node/log/file/file-log.ts'
import type { MessageHeader } from '../../src/node/log/messages.gen.ts'
import { decodeMessage } from '../../src/node/log/messages.ts'
import { type RunningNode, startNode } from '../../src/app/node.ts'
import { dataPaths } from '../../src/node/store/layout.ts'
import { send } from '../helpers/live-node.ts'

interface Line {
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

const lines: Line[] = []
const logger: Logger = { ...silentLogger, info: (fields, message) => lines.push({ fields, message }) }

let data: string
let node: RunningNode
let token: string

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'proofstream-traces-'))
  node = await startNode(loadConfig({ data, listen: '127.0.0.1:0', 'cut-interval': 1 }), logger)
  token = (await readFile(node.tokenFile, 'utf8')).trim()
})
afterAll(async () => {
  await rm(data, { recursive: true, force: true })
})

function traceOf(number: number): string {
  return `00-${String(number).padStart(32, 'a')}-${'b'.repeat(16)}-01`
}

async function post(rows: string, traceparent: string | undefined, query = ''): Promise<{ block: unknown }> {
  const answer = await send(node.url, `/acme/traced/ingest${query}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/x-ndjson',
      prefer: 'wait=20',
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    body: rows,
  })
  expect(answer.status).toBe(200)
  return { block: answer.at('block.hash') }
}

function linesOf(message: string): Line['fields'][] {
  return lines.filter((line) => line.message === message).map(({ fields }) => fields)
}

async function headers(): Promise<MessageHeader[]> {
  const directory = dataPaths(data).log
  const log = await openFileLog({ directory, clock: systemClock, logger: silentLogger })
  const found: MessageHeader[] = []
  const { start } = await log.range(0)
  for await (const entries of log.read(0, start, { follow: false })) {
    for (const { bytes } of entries) {
      const message = decodeMessage(bytes)
      if (message.kind === 'message') found.push(message.header)
    }
  }
  await log.close()
  return found
}

test('a trace goes from the request to its messages and to the line of its block', async () => {
  const [made, alone, large] = [traceOf(1), traceOf(2), traceOf(3)]
  await post('{"n":1}\n', made, '?create=true')
  const { block } = await post('{"n":2}\n', alone)
  await post('{"n":3}\n', undefined)
  await post('{"n":4}\n', 'of no known form')
  await post(`{"n":5}\n`.repeat(120_000), large)
  const together = [4, 5, 6].map(traceOf)
  await Promise.all(together.map((trace, i) => post(`{"n":${i}}\n`, trace)))
  const blocks = linesOf('a traced block')
  expect(blocks).toContainEqual({ dataset: 'acme/traced', sequence: expect.any(Number), block, traceparents: [alone] })
  expect(blocks.filter(({ traceparents }) => JSON.stringify(traceparents).includes(made))).toHaveLength(2)
  // Those that shared a message are named by the gateway beside the one that it carries.
  const shared = linesOf('rows share a message that carries another trace').map(({ traceparent }) => traceparent)
  const ofBlocks = blocks.flatMap(({ traceparents }) => traceparents)
  expect(new Set([...ofBlocks, ...shared])).toEqual(new Set([made, alone, large, ...together]))
  expect(shared.length + ofBlocks.filter((trace) => together.includes(String(trace))).length).toBe(3)
  await node.stop()
  const traced = (await headers()).map((header) => [header.kind, 'traceparent' in header ? header.traceparent : null])
  expect(traced.slice(0, 2)).toEqual([
    ['create', made],
    ['rows', made],
  ])
  const rows = (await headers()).filter(({ kind }) => kind === 'rows')
  const parts = rows.filter((header) => 'part' in header)
  expect(parts.length).toBeGreaterThan(1)
  for (const part of parts) expect(part).toMatchObject({ traceparent: large })
  expect(rows.filter((header) => !('traceparent' in header))).toHaveLength(2)
})
