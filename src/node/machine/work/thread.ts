// Entry of a thread: runs a job, or begins a task and answers what is said to it, one message after the other. Started by
// thread-pool.ts, never imported; what it needs for a kind of work is loaded with the first of that kind.

import { parentPort } from 'node:worker_threads'
import { zstdCompressSync } from 'node:zlib'
import { must } from '../../../libraries/base/assert.ts'
import type { JobKind, JobSettings } from './jobs.ts'
import { beginTask, type TaskWork } from './tasks.ts'
import { type FromThread, handedOver, type ToThread, toldError } from './thread-messages.ts'

const port = must(parentPort ?? undefined, 'this file runs as a thread')
let task: Promise<TaskWork> | undefined
let last: Promise<unknown> = Promise.resolve()

port.on('message', (message: ToThread) => {
  if (message.kind === 'begin') {
    task = beginTask(message.beginning, (bytes) => zstdCompressSync(bytes))
    task.catch(() => {})
    return
  }
  last = last.then(async () => {
    const { value, buffers } = await answerTo(message)
    port.postMessage(value, buffers)
  })
})

async function answerTo(
  message: Exclude<ToThread, { kind: 'begin' }>,
): Promise<{ readonly value: FromThread; readonly buffers: ArrayBuffer[] }> {
  try {
    if (message.kind === 'say') {
      const work = await must(task, 'a task has begun')
      return handedOver({ kind: 'answer', answer: work.take(message.message) })
    }
    const { runJob } = await import('./jobs.ts')
    const { job, pieces } = message
    const settings = message.settings as JobSettings<JobKind> // as the pool was asked
    return { value: { kind: 'answer', answer: await runJob(job, pieces, settings) }, buffers: [] }
  } catch (error) {
    return { value: toldError(error), buffers: [] }
  }
}
