// The largest body that a node takes by default, nearly 245 MB: how much memory the process has at most, from its start
// until the body is in a block. A node that has less (docs/roles.md) refuses such a body: it must not die of it.

import { fail, peakMiB, startBenchNode } from './machine.ts'
import type { Measure } from './measure.ts'

const bodyBytes = 245_000_000
const MiB = 1024 * 1024

/** Rows of `line` until the body is full; the last line repeats no other. */
function* lines(line: (row: number) => string): Generator<Uint8Array> {
  let text = ''
  let bytes = 0
  for (let row = 0; bytes < bodyBytes; row++) {
    const next = `${line(row)}\n`
    text += next
    bytes += next.length
    if (text.length < MiB) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(text)
}

const word = (row: number, i: number): string => (Math.imul(row + i * 7_919, 2_654_435_761) >>> 0).toString(36)

const bodies: Readonly<Record<string, (row: number) => string>> = {
  'small records': (row) => `{"n":${row},"x":${row / 7},"city":"c${row % 100}","at":"2026-03-01T00:00:00Z"}`,
  'texts that do not compress': (row) =>
    `{"n":${row},"text":"${Array.from({ length: 150 }, (_, i) => word(row, i)).join('')}"}`,
}

export async function measureLargeBody(): Promise<Measure[]> {
  const measures: Measure[] = []
  for (const [name, line] of Object.entries(bodies)) {
    const node = await startBenchNode()
    await node.post('acme/large', line(0), { query: '?create=true', prefer: 'wait=30' })
    const answer = await fetch(`${node.url}/acme/large/ingest`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${node.token}`,
        'content-type': 'application/x-ndjson',
        prefer: 'wait=60',
      },
      body: ReadableStream.from(lines(line)),
      duplex: 'half',
    })
    const { status } = (await answer.json()) as { status?: string }
    if (status !== 'committed') fail('245 MB', `${answer.status} ${status}`)
    measures.push({
      name: `peak memory of 245 MB of ${name}`,
      value: peakMiB(node.pid),
      unit: 'MiB',
      bar: { most: 896 },
    })
    await node.remove()
  }
  return measures
}
