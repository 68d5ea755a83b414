// Load generator that does not wait, run as a process of its own: one HTTP request over and over at a rate, over some
// connections, each with at most `window` requests that are not answered. What TCP holds back is not sent later.
// Started by bench/overload.ts with a FloodOrder as JSON; prints a FloodResult as JSON.

import { connect, type Socket } from 'node:net'

export interface FloodOrder {
  readonly host: string
  readonly port: number
  /** The whole request, header and body. */
  readonly request: string
  readonly connections: number
  /** Requests of one connection without an answer, at most. */
  readonly window: number
  /** Requests that are wanted; no bound when absent. */
  readonly perSecond?: number
  readonly measureMs: number
}

export interface FloodResult {
  readonly sent: number
  readonly seconds: number
  /** Answers 200 and 202 that came while requests were sent. */
  readonly accepted: number
  /** Answers by status; failures of connections by message. */
  readonly statuses: Readonly<Record<string, number>>
  /** Requests whose answer did not come within 10 s of the last request. */
  readonly unanswered: number
}

interface Line {
  readonly socket: Socket
  open: number
  /** Last bytes of the chunk before, where a status line may begin. */
  tail: string
}

const order = JSON.parse(process.argv[2] ?? '{}') as FloodOrder // written by bench/overload.ts
const request = Buffer.from(order.request)
const tickMs = 10
const lastAnswersMs = 10_000
const statusLine = /HTTP\/1\.1 (\d{3})/g
const statuses: Record<string, number> = {}
const lines = new Set<Line>()
let sent = 0
let open = 0
let accepted = 0
let ended = false

function count(status: string): void {
  if (!ended && (status === '200' || status === '202')) accepted++
  statuses[status] = (statuses[status] ?? 0) + 1
}

function addLine(): void {
  const socket = connect(order.port, order.host)
  const line: Line = { socket, open: 0, tail: '' }
  socket.setNoDelay(true)
  socket.once('connect', () => lines.add(line))
  socket.on('data', (chunk) => {
    const text = line.tail + chunk.toString('latin1')
    for (const [, status = ''] of text.matchAll(statusLine)) {
      count(status)
      line.open--
      open--
    }
    line.tail = text.slice(-11)
    if (order.perSecond === undefined && !ended) send(line)
  })
  socket.on('error', (error) => count(error.message.replace(/ [\d.:]+$/, '')))
  socket.once('close', () => {
    lines.delete(line)
    open -= line.open
    if (!ended) setTimeout(addLine, 100)
  })
}

function send(line: Line): boolean {
  if (line.open >= order.window || line.socket.writableLength > 0) return false
  line.socket.write(request)
  line.open++
  open++
  sent++
  return true
}

/** Sends `wanted` requests over all connections in turn, less what they hold back. */
function sendMany(wanted: number): void {
  let left = wanted
  while (left > 0) {
    const before = left
    for (const line of lines) if (left > 0 && send(line)) left--
    if (left === before) return
  }
}

function sleep(ms: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

for (let i = 0; i < order.connections; i++) addLine()
while (lines.size < order.connections) await sleep(tickMs)
const startMs = performance.now()
let atMs = startMs
while (atMs - startMs < order.measureMs) {
  await sleep(tickMs)
  const nowMs = performance.now()
  sendMany(order.perSecond === undefined ? order.connections : Math.round(((nowMs - atMs) * order.perSecond) / 1000))
  atMs = nowMs
}
ended = true
for (let waitedMs = 0; open > 0 && waitedMs < lastAnswersMs; waitedMs += tickMs) await sleep(tickMs)
const seconds = (atMs - startMs) / 1000
const result: FloodResult = { sent, seconds, accepted, statuses, unanswered: open }
console.log(JSON.stringify(result))
for (const { socket } of lines) socket.destroy()
process.exit(0)
