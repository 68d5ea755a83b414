// Records of cells without end over HTTP: the header that each of their batches has, and the numbers of records.

import { describe, expect, it } from 'vitest'
import { HttpStream, type Line, producer } from '../../helpers/http-stream.ts'
import { type Answer, liveNode } from '../../helpers/live-node.ts'

const live = await liveNode({}, { stream: { ageMs: 20 } })
const csv = { 'content-type': 'text/csv' }
const openStream = (path: string, headers: Readonly<Record<string, string>>): HttpStream =>
  new HttpStream(path, headers, live)

/** The values of `n` in the order of their offsets, once all of the log is in blocks. */
async function values(alias: string): Promise<unknown[]> {
  await live.ingest(alias, [{ n: -1 }])
  const answer = await live.query(`select n from "${alias}" where n >= 0 order by "offset"`, { limit: 1000 })
  return (answer.at('output.data') as unknown[][]).map(([n]) => n)
}

let made = 0
async function dataset(): Promise<string> {
  const alias = `acme/s${++made}`
  await live.call(`/${alias}`, {
    method: 'PUT',
    json: { schema: { fields: [{ name: 'n', type: { kind: 'Option', inner: { kind: 'Int64' } } }] } },
  })
  return alias
}

const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> =>
  live.call(path, { method: 'POST', headers: { 'content-type': 'application/x-ndjson', ...headers }, body })

describe('a stream of cells', () => {
  it('makes a dataset of its header, and numbers records, whatever line ends they have', async () => {
    const text = 'n,"na""me"\n1,"a\nb"\n\n2,\n3,"""c"""\n'
    const stream = openStream('/acme/cells/stream?create=true', csv)
    for (let at = 0; at < text.length; at += 3) stream.request.write(text.slice(at, at + 3))
    expect(await stream.end()).toEqual({ ended: true, last: 3 })
    await live.ingest('acme/cells', [{ n: 4 }])
    const rows = await live.query(
      'select n, columns(* exclude (n, "offset", op, system_time, event_time)) from "acme/cells" order by "offset"',
    )
    expect(rows.at('output.data')).toEqual([
      [1, 'a\nb'],
      [2, null],
      [3, '"c"'],
      [4, null],
    ])
  })

  it('goes on with its header and the number of its next record, each stored once', async () => {
    const alias = await dataset()
    const cut = openStream(`/${alias}/stream`, { ...csv, ...producer('p', 0) }).send('n,event_time\n1,\n"2","', '2026')
    await cut.told(0)
    cut.request.destroy()
    const again = openStream(`/${alias}/stream`, { ...csv, ...producer('p', 1) })
    again.send('event_time,n\n2026-01-01T00:00:00Z,2\n\n,3\n')
    expect(await again.end()).toEqual({ ended: true, last: 3 })
    expect(await values(alias)).toEqual([1, 2, 3])
  })

  it('ends with the number of a record that does not fit, and with a header that names no columns', async () => {
    const alias = await dataset()
    const wrong = await post(`/${alias}/stream`, 'n,event_time\n1,\n"2",\n"x\ny",\n4,\n', csv)
    expect(
      wrong.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line),
    ).toMatchObject([
      { numbers: { first: 0, last: 1 } },
      { ended: true, last: 1, problem: { error: { kind: 'RecordsDoNotFit' }, errors: [{ record: 2 }] } },
    ])
    const open = await post(`/${alias}/stream`, 'n,event_time\n5,\n"6,', csv)
    expect(open.text).toContain('"kind":"UnclosedQuote"')
    const header = await post(`/${alias}/stream`, 'n,nobody\n1,2\n', csv)
    expect([header.refusal, header.at('errors.0.line')]).toEqual(['422 RecordsDoNotFit', 1])
    expect(await values(alias)).toEqual([1, 2, 5])
  })
})
