// A reader who asks for an endless file and takes nothing of it: the engine's process pauses, others' queries go on, and its
// place is free for the next file when it leaves.

import { readdir, readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { until } from '../../helpers/until.ts'

const endless = "select i, 'some text that takes room' as t from range(1000000000) r(i)"
const file = (sql: string): string => `/query?${new URLSearchParams({ query: sql, format: 'Csv' }).toString()}`

/** Ticks of processor time that the children of this process have had. */
async function childTicks(): Promise<number> {
  const numbers = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(numbers.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  const fields = stats.map((text) => text.slice(text.lastIndexOf(')') + 2).split(' '))
  const own = fields.filter(([, parent]) => parent === String(process.pid))
  return own.reduce((sum, { 11: user, 12: system }) => sum + Number(user) + Number(system), 0)
}

it.skipIf(process.platform !== 'linux')('pauses the engine, and stops nobody else', async () => {
  const live = await liveNode({}, { limits: { exportSlots: 1 } })
  await live.ingest('acme/goods', [{ n: 1 }], '?create=true')
  const unread = openUnread(live.node.url, live.adminToken)
  await until('the engine pauses', async () => {
    const before = await childTicks()
    await systemClock.sleep(500)
    return (await childTicks()) - before <= 2
  })
  expect((await live.query('select n from acme.goods')).at('output.data')).toEqual([[1]])
  expect((await live.call('/acme/goods/tail')).status).toBe(200)
  const next = live.call(file('select n from acme.goods'))
  const first = await Promise.race([next.then(() => 'answered'), systemClock.sleep(1500).then(() => 'waits')])
  expect(first).toBe('waits')
  unread.destroy()
  expect((await next).text).toBe('n\r\n1\r\n')
})

/** A connection that asks and does not read. */
function openUnread(url: string, token: string): Socket {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(`GET ${file(endless)} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  return socket
}
