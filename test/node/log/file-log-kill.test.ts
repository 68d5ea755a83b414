// The file log on a real disk under SIGKILL: what the killed process had been told is stored is there afterwards.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/libraries/base/clock.ts'
import { silentLogger } from '../../../src/libraries/base/logger.ts'
import { openFileLog } from '../../../src/node/log/file/file-log.ts'
import { readAll } from './contract-suite.ts'

const segmentBytes = 64 * 1024
let directory = ''
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'proofstream-kill-'))
})
afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
})

/** A process with 16 callers that append forever and write `<position> <length>` for each answer. */
function startWriter(): ReturnType<typeof spawn> {
  const source = (path: string): string => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href)
  const script = `
    import { writeSync } from 'node:fs'
    import { openFileLog } from ${source('node/log/file/file-log.ts')}
    import { systemClock } from ${source('libraries/base/clock.ts')}
    import { silentLogger } from ${source('libraries/base/logger.ts')}
    const log = await openFileLog({ directory: ${JSON.stringify(directory)}, clock: systemClock, logger: silentLogger, segmentBytes: ${segmentBytes} })
    const caller = async (seed) => {
      for (let i = seed; ; i += 37) {
        const length = 1 + (i % 3000)
        writeSync(1, (await log.append(0, [new Uint8Array(length)])) + ' ' + length + '\\n')
      }
    }
    for (let i = 0; i < 16; i++) void caller(i)`
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
}

test('keeps every acknowledged message over several kills', async () => {
  const acknowledged = new Map<number, number>()
  for (let cycle = 1; cycle <= 3; cycle++) {
    const writer = startWriter()
    const closed = once(writer, 'close')
    let text = ''
    writer.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.length > 500 * cycle) writer.kill('SIGKILL')
    })
    await closed
    for (const line of text.split('\n').slice(0, -1)) {
      const [position = '', length = ''] = line.split(' ')
      acknowledged.set(Number(position), Number(length))
    }
    const log = await openFileLog({ directory, clock: systemClock, logger: silentLogger, segmentBytes })
    const found = new Map((await readAll(log)).map(({ position, bytes }) => [position, bytes.length]))
    await log.close()
    expect([...acknowledged].filter(([position, length]) => found.get(position) !== length)).toEqual([])
    expect([...found.keys()]).toEqual(Array.from({ length: found.size }, (_, i) => i))
  }
  expect(acknowledged.size).toBeGreaterThan(100)
})
