// Entry of a thread of the pool: takes one job at a time, answers, and knows nothing else. Started by thread-pool.ts,
// never imported.

import { parentPort } from 'node:worker_threads'
import { must } from '../lib/assert.ts'
import { type FromThread, type JobKind, type JobSettings, runJob, type ToThread } from './jobs.ts'
import { toldError } from './threads.ts'

const port = must(parentPort ?? undefined, 'this file runs as a thread')

port.on('message', (message: ToThread) => {
  void answer(message).then((reply) => port.postMessage(reply))
})

async function answer({ kind, pieces, settings }: ToThread): Promise<FromThread> {
  try {
    return { kind: 'done', result: await runJob(kind, pieces, settings as JobSettings<JobKind>) } // from thread-pool.ts
  } catch (error) {
    return toldError(error)
  }
}
