#!/usr/bin/env node
// Sends readings, one JSON object a line on standard input, to a dataset of a node over one long connection. Each is stored
// exactly once, however often the line breaks and the node or this program restarts: a reading gets a number, lies in a
// buffer on disk until the node has said that it is durable, and is sent again under its number after a cut. While the
// buffer is full nothing more is read. A reading that the node refuses lands in $REJECTED with the reason; where the node
// refuses the device itself (a wrong token, no right), it stops and says why: sending again would not help.
//
//   SERVER=http://localhost:8080 TOKEN=pst_… DATASET=demo/readings ./send-readings.mjs < readings.ndjson

import { appendFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { hostname } from 'node:os'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ReadingsBuffer } from './readings-buffer.mjs'

const { env } = process
const { TOKEN, DATASET = 'demo/readings', DEVICE = hostname() } = env
const SERVER = env.SERVER ?? env.PROOFSTREAM_SERVER ?? 'http://localhost:8080'
const { BUFFER = 'readings-buffer', BUFFER_BYTES = '8388608', REJECTED = 'rejected.ndjson' } = env
const [firstWaitMs, longestWaitMs] = [env.FIRST_WAIT_S ?? '1', env.LONGEST_WAIT_S ?? '60'].map((s) => Number(s) * 1000)
if (TOKEN === undefined) stop('TOKEN is missing: a token with the scope ingest, and create for a new dataset.')

const buffer = new ReadingsBuffer(BUFFER, Number(BUFFER_BYTES))
let inputHasEnded = false
let ring = () => {}
let news = new Promise((resolve) => (ring = resolve))
function wake() {
  ring()
  news = new Promise((resolve) => (ring = resolve))
}

async function readInput() {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue
    while (buffer.isFull) await news
    buffer.append(line)
    wake()
  }
  inputHasEnded = true
  wake()
}

/** Readings from the first that is not known to be durable; of a dataset that is to be made, that one alone. */
async function* body(creates) {
  for (let number = buffer.first; ; ) {
    for (; number < buffer.next; number++) {
      yield `${buffer.line(number)}\n`
      if (creates) return
    }
    if (inputHasEnded) return
    await news
  }
}

/** One connection, to its end: the problem that it ended with, if any. */
async function connection(creates) {
  const url = new URL(`${SERVER}/${DATASET}/stream${creates ? '?create=true' : ''}`)
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/x-ndjson',
      'producer-id': DEVICE,
      'producer-epoch': String(buffer.epoch),
      'producer-sequence': String(buffer.first),
    },
  })
  const answered = new Promise((resolve, reject) => request.on('response', resolve).on('error', reject))
  const sent = Readable.from(body(creates))
  sent.pipe(request)
  try {
    const answer = await answered
    // An answer that is cut off after its last line is told of here too, when nobody reads on.
    for await (const line of createInterface({ input: answer }).on('error', () => {})) {
      const told = JSON.parse(line)
      if (told.numbers !== undefined) release(told.numbers.last)
      // Blank lines after the last reading are told of by no receipt.
      else if (told.ended && told.problem === undefined && !creates) release(buffer.next - 1)
      const problem = told.problem ?? (told.error && told)
      if (problem !== undefined) return { ...problem, afterS: Number(answer.headers['retry-after'] ?? Number.NaN) }
      if (told.ended) return undefined
    }
    return { status: 0, message: 'The connection was cut.' }
  } catch (error) {
    return { status: 0, message: `No connection: ${error.message}` }
  } finally {
    sent.destroy()
    request.destroy()
  }
}

function release(last) {
  buffer.release(last)
  wake()
}

function stop(why) {
  console.error(why)
  process.exit(1)
}

void readInput()
let waitMs = firstWaitMs
let creates = false
for (;;) {
  while (buffer.first === buffer.next && !inputHasEnded) await news
  if (buffer.first === buffer.next) break
  const first = buffer.first
  const problem = await connection(creates)
  const hasMoved = buffer.first > first
  if (hasMoved) [waitMs, creates] = [firstWaitMs, false]
  if (problem === undefined) continue
  const { status, message, hint = '', error, errors } = problem
  const refused = error?.kind === 'RecordsDoNotFit' ? errors?.[0]?.record : undefined
  if (refused !== undefined) {
    appendFileSync(REJECTED, `${JSON.stringify({ reading: buffer.line(refused), error: errors[0] })}\n`)
    // A blank line uses up the number.
    buffer.giveUp(refused)
  } else if (status === 404 && first === 0 && !hasMoved && !creates) {
    // The dataset is made with the first reading alone; later ones never add columns or datasets.
    creates = true
  } else if (status === 0 || status === 408 || status === 429 || status >= 500) {
    if (status === 408) continue
    const pauseMs = Number.isNaN(problem.afterS) || status === 0 ? waitMs : problem.afterS * 1000
    console.error(`${status === 0 ? '' : `status ${status}: `}${message} Again in ${pauseMs / 1000} s.`)
    await sleep(pauseMs)
    waitMs = Math.min(waitMs * 2, longestWaitMs)
  } else {
    stop(`status ${status}: ${message} ${hint}\nstopped before reading ${buffer.first}, which is kept in ${BUFFER}`)
  }
}
process.exit(0)
