// 1,000 devices that open numbered streams in one moment, with busy loops beside the node: each connects again as long as
// Retry-After says, until its records are taken. Every record must be in blocks once.

import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchNode, fail, startBenchNode } from './machine.ts'
import { type Measure, timeMs } from './measure.ts'

const devices = 1_000
const recordsEach = 5
const busyLoops = 4
const mostTries = 20

export async function measureStreamsAtOnce(): Promise<Measure[]> {
  const node = await startBenchNode({})
  await node.post('acme/devices', '{"device":-1,"n":0}\n', { query: '?create=true', prefer: 'wait=30' })
  const loops = Array.from({ length: busyLoops }, () => spawn(process.execPath, ['-e', 'for (;;);']))
  const answers: number[] = []
  let takenMs: number
  try {
    takenMs = await timeMs(() => Promise.all(Array.from({ length: devices }, (_, at) => sendAll(node, at, answers))))
  } finally {
    for (const loop of loops) loop.kill('SIGKILL')
  }
  const sql = 'SELECT count(*), count(DISTINCT (device, n)) FROM "acme/devices" WHERE device >= 0'
  const { output } = (await node.query(sql)) as { output: { data: number[][] } } // of two columns
  const wanted = devices * recordsEach
  if (output.data[0]?.some((count) => count !== wanted) !== false) fail('each record once', JSON.stringify(output.data))
  await node.remove()
  const of = (wrong: (status: number) => boolean): number => answers.filter(wrong).length
  const beside = `1,000 devices at once beside ${busyLoops} busy loops`
  return [
    { name: `${beside}: until all are taken`, value: takenMs / 1000, unit: 's' },
    { name: `${beside}: told to come again`, value: of((status) => status === 503), unit: 'answers' },
    {
      name: `${beside}: answers but 200 and 503`,
      value: of((status) => status !== 200 && status !== 503),
      unit: 'answers',
      bar: { most: 0 },
    },
  ]
}

async function sendAll(node: BenchNode, device: number, answers: number[]): Promise<void> {
  for (let tries = 0; tries < mostTries; tries++) {
    const { status, retryAfter, text } = await send(node, device)
    answers.push(status)
    if (status === 200 && text.includes(`"ended":true,"last":${recordsEach - 1}}`)) return
    if (status === 200) answers[answers.length - 1] = Number(/"status":(\d+)/.exec(text)?.[1])
    await sleep(1000 * (retryAfter || 1))
  }
  fail(`device ${device}`, 'its records were never taken')
}

function send(node: BenchNode, device: number): Promise<{ status: number; retryAfter: number; text: string }> {
  const headers = {
    authorization: `Bearer ${node.token}`,
    'content-type': 'application/x-ndjson',
    'producer-id': `device-${device}`,
    'producer-sequence': '0',
  }
  const records = Array.from({ length: recordsEach }, (_, n) => `{"device":${device},"n":${n}}\n`)
  return new Promise((resolve, reject) => {
    const call = request(`${node.url}/acme/devices/stream`, { method: 'POST', headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, retryAfter: Number(answer.headers['retry-after']), text }),
      )
    })
    call.on('error', reject)
    call.end(records.join(''))
  })
}
