// What runs under strace: the whole of a node's first start, a first batch with its admin token, and an orderly stop.

import { readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config.ts'
import { startNode } from '../../src/app/node.ts'

const [dir = ''] = process.argv.slice(2)
const options = { listen: '127.0.0.1:0', 'log-level': 'silent', roles: 'gateway,builder' }
const node = await startNode(loadConfig({ ...options, data: join(dir, 'data') }))
void node.failed.then(() => process.exit(3))
const token = readFileSync(node.tokenFile, 'utf8').trim()
const answer = await fetch(`${node.url}/acme/first/ingest?create=true`, {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson', 'idempotency-key': 'first' },
  body: '{"n":1}\n',
})
// The token stands in a line because it was shown: from here on it must open the node.
writeSync(1, `${JSON.stringify({ id: token, answer: { kind: String(answer.status), did: node.did } })}\n`)
await node.stop()
writeSync(1, `${JSON.stringify({ id: 'stopped' })}\n`)
