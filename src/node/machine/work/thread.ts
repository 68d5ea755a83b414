// Entry of a thread: runs a job, or begins a task and answers what is said to it, one message after the other. Started by
// thread-pool.ts, never imported; what it needs for a kind of work is loaded with the first of that kind.

import { parentPort } from 'node:worker_threads'
import { must } from '../../../libraries/base/assert.ts'
import type { JobKind, JobSettings } from './jobs.ts'
import { beginTask, type TaskWork } from './tasks.ts'
import { Handover } from './handover.ts'
import { type FromThread, type ToThread, toldError } from './thread-messages.ts'
import { compressPage } from './zstd-page.ts'

const port = must(parentPort ?? undefined, 'this file runs as a thread')
let task: Promise<TaskWork> | undefined
let last: Promise<unknown> = Promise.resolve()

port.on('message', (message: ToThread) => {
  if (message.kind === 'begin') {
    task = beginTask(message.beginning, compressPage)
    task.catch(() => {})
    return
  }
  last = last.then(async () => {
    const over = new Handover()
    port.postMessage(await answerTo(message, over), over.buffers)
  })
})

async function answerTo(message: Exclude<ToThread, { kind: 'begin' }>, over: Handover): Promise<FromThread> {
  try {
    if (message.kind === 'say') {
      const work = await must(task, 'a task has begun')
      return { kind: 'answer', answer: await work.take(message.message, over) }
    }
    const { runJob } = await import('./jobs.ts')
    const { job, pieces } = message
    const settings = message.settings as JobSettings<JobKind> // as the pool was asked
    return { kind: 'answer', answer: await runJob(job, pieces, settings) }
  } catch (error) {
    return toldError(error)
  }
}
