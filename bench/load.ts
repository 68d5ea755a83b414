// Load generator, run as a process of its own: the same HTTP request over and over on some connections, each of which
// sends the next one when the answer to the last has come, or, at a given rate, when one is due and a connection free.
// Raw sockets, so that it costs little beside the server.
// Started by bench/machine.ts with a LoadOrder as JSON on its standard input; prints a LoadResult as JSON.

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

export interface LoadOrder {
  readonly host: string
  readonly port: number
  /** The whole request, header and body; `{key}` in it is another text each time. */
  readonly request: string
  readonly connections: number
  /** Requests per second; without it, as many as are answered. */
  readonly rate?: number
  readonly warmMs: number
  readonly measureMs: number
}

export interface LoadResult {
  readonly perSecond: number
  /** All answers, those of warming up too. */
  readonly answers: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>
}

const order = JSON.parse(readFileSync(0, 'utf8')) as LoadOrder // written by bench/machine.ts
const request = Buffer.from(order.request)
const isKeyed = order.request.includes('{key}')
const statuses: Record<string, number> = {}
const latencies: number[] = []
let answers = 0
let measuring = false
let ended = false
/** Connections without a request in flight, where a rate is given. */
const free: (() => void)[] = []

function work(socket: Socket): void {
  let held: Buffer = Buffer.alloc(0)
  let sentMs = 0
  const send = (): void => {
    sentMs = performance.now()
    socket.write(isKeyed ? order.request.replace('{key}', randomUUID()) : request)
  }
  const next = order.rate === undefined ? send : (): void => void free.push(send)
  socket.on('data', (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    const headerEnd = held.indexOf('\r\n\r\n')
    if (headerEnd < 0) return
    const header = held.toString('latin1', 0, headerEnd)
    const length = /\r\ncontent-length: (\d+)/i.exec(header)
    const size = headerEnd + 4 + Number(length?.[1] ?? 0)
    if (held.length < size) return
    held = held.subarray(size)
    answers++
    if (measuring) {
      const status = header.slice(9, 12)
      statuses[status] = (statuses[status] ?? 0) + 1
      latencies.push(performance.now() - sentMs)
    }
    if (!ended) next()
  })
  socket.on('error', (error) => {
    statuses[error.message] = (statuses[error.message] ?? 0) + 1
  })
  socket.setNoDelay(true)
  next()
}

/** Sends what is due, several times in the time that an answer takes. */
function keepRate(rate: number): void {
  let sent = 0
  const startMs = performance.now()
  const timer = setInterval(() => {
    if (ended) return clearInterval(timer)
    const due = Math.floor(((performance.now() - startMs) / 1000) * rate)
    for (; sent < due; sent++) {
      const send = free.shift()
      if (send === undefined) return
      send()
    }
  }, 2)
}

const sockets = Array.from({ length: order.connections }, () => {
  const socket = connect(order.port, order.host, () => work(socket))
  return socket
})
if (order.rate !== undefined) keepRate(order.rate)
await new Promise((resolve) => setTimeout(resolve, order.warmMs))
measuring = true
const startMs = performance.now()
await new Promise((resolve) => setTimeout(resolve, order.measureMs))
const seconds = (performance.now() - startMs) / 1000
measuring = false
ended = true
const count = latencies.length
latencies.sort((a, b) => a - b)
const at = (share: number): number => latencies[Math.min(count - 1, Math.floor(share * count))] ?? 0
const result: LoadResult = { perSecond: count / seconds, answers, p50Ms: at(0.5), p99Ms: at(0.99), statuses }
console.log(JSON.stringify(result))
for (const socket of sockets) socket.destroy()
