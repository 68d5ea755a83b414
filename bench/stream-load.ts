// Devices that each keep a stream of records open, run as a process of its own: raw sockets, so that it costs little beside
// the node. Started by bench/stream.ts with a StreamOrder as JSON on its standard input; prints a line when all have been
// told of a record, and a StreamResult as JSON in the end.

import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { quantile } from './measure.ts'

export interface StreamOrder {
  readonly url: string
  readonly path: string
  readonly token: string
  readonly connections: number
  /** Of each connection. */
  readonly rowsPerSecond: number
  readonly measureMs: number
}

export interface StreamResult {
  readonly rowsPerSecond: number
  /** From a record to its receipt. */
  readonly p50Ms: number
  readonly p99Ms: number
}

const order = JSON.parse(readFileSync(0, 'utf8')) as StreamOrder // written by bench/stream.ts
const { host, hostname, port } = new URL(order.url)
const tookMs: number[] = []
let heard = 0
let measuring = false

function open(device: number): () => void {
  const sentMs: number[] = []
  let hasHeard = false
  let rest = ''
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  socket.write(
    `POST ${order.path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${order.token}\r\nTransfer-Encoding: chunked\r\n` +
      `Content-Type: application/x-ndjson\r\nProducer-Id: device-${device}\r\nProducer-Sequence: 0\r\n\r\n`,
  )
  socket.setEncoding('latin1').on('data', (text: string) => {
    const nowMs = performance.now()
    rest += text
    const receipts = [...rest.matchAll(/"numbers":\{"first":(\d+),"last":(\d+)\}/g)]
    const last = receipts.at(-1)
    if (last === undefined) return
    rest = rest.slice(last.index + last[0].length)
    if (!hasHeard) heard++
    hasHeard = true
    if (!measuring) return
    for (const [, from, to] of receipts) {
      for (let n = Number(from); n <= Number(to); n++) tookMs.push(nowMs - (sentMs[n] ?? nowMs))
    }
  })
  socket.on('close', () => {
    throw new Error(`the node closed a stream: ${rest.slice(0, 500)}`)
  })
  return () => {
    const row = `{"device":${device},"n":${sentMs.length},"text":"${'x'.repeat(80)}"}\n`
    sentMs.push(performance.now())
    socket.write(`${row.length.toString(16)}\r\n${row}\r\n`)
  }
}

const everyMs = 1000 / order.rowsPerSecond
const sends: (() => void)[] = []
const begin = setInterval(() => {
  // Devices come over some seconds, and do not all send in one moment.
  for (let n = 0; n < 5 && sends.length < order.connections; n++) {
    const send = open(sends.length)
    sends.push(send)
    setInterval(send, everyMs)
  }
  if (sends.length === order.connections) clearInterval(begin)
}, 20)
const waiting = setInterval(() => {
  if (heard < order.connections) return
  clearInterval(waiting)
  process.stdout.write('ready\n')
  measuring = true
  setTimeout(() => {
    const result: StreamResult = {
      rowsPerSecond: (tookMs.length * 1000) / order.measureMs,
      p50Ms: quantile(tookMs, 0.5),
      p99Ms: quantile(tookMs, 0.99),
    }
    process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0))
  }, order.measureMs)
}, 100)
