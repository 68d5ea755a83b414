// Entry of a thread of the pool: takes one job at a time, answers, and knows nothing else. Started by thread-pool.ts,
// never imported.

import { parentPort } from 'node:worker_threads'
import { must } from '../lib/assert.ts'
import { NodeError } from '../model/errors.ts'
import { type FromThread, type JobKind, type JobSettings, runJob, type ToThread } from './jobs.ts'

const port = must(parentPort ?? undefined, 'this file runs as a thread')

port.on('message', ({ kind, pieces, settings }: ToThread) => {
  port.postMessage(answer(() => runJob(kind, pieces, settings as JobSettings<JobKind>))) // from thread-pool.ts alone
})

function answer(job: () => unknown): FromThread {
  try {
    return { kind: 'done', result: job() }
  } catch (error) {
    if (!(error instanceof NodeError)) return { kind: 'broken', reason: String(error) }
    const { cause: _, ...details } = error.details
    return { kind: 'failed', error: { kind: error.kind, message: error.message, details } }
  }
}
