// One engine process: what its death means for the job in flight, and that an interrupt leaves it usable.
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { ChildHandle } from '../../../src/node/engine/process/child-handle.ts'
import { engineVersion, type ToChild } from '../../../src/node/engine/messages.ts'
import { must } from '../../../src/libraries/base/assert.ts'
import { type Clock, systemClock } from '../../../src/libraries/base/clock.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { until } from '../../helpers/until.ts'
import { benchOptions, refusal } from './helpers.ts'

const mebibyte = 1024 * 1024
const settings = {
  engineVersion,
  memoryBytes: 256 * mebibyte,
  killBytes: 1024 * mebibyte,
  resultBytes: mebibyte,
  exportBytes: mebibyte,
  dataRoots: ['/nowhere'],
}

/** A busy machine takes its time: no grace ends. */
const patientClock: Clock = {
  ...systemClock,
  sleep: async (_ms, signal) => {
    await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }))
  },
}

async function open(clock = systemClock): Promise<ChildHandle> {
  const { native } = benchOptions
  const child = new ChildHandle(settings, { folder: native.folder, state: await native.state() }, clock)
  onTestFinished(async () => {
    child.kill(new NodeError('Draining', 'the test is over'))
    await child.exited
  })
  await child.ready()
  return child
}

function run(sql: string): () => ToChild {
  return () => ({
    kind: 'run',
    job: {
      analysis: {
        sql,
        tables: [],
        volatile: undefined,
        catalogue: undefined,
        isRaced: false,
        isProvable: true,
        listings: [],
        parameters: [],
        narrowing: undefined,
        columns: undefined,
      },
      tables: [],
      forget: false,
      reproducible: false,
      threads: 1,
      dataFormat: 'JsonAoa',
      wantSchema: false,
      keyOrder: 'column',
      ascii: false,
      skip: 0,
      limit: 10,
    },
  })
}

/** Hundredths of a second of processor time. */
function ticksOf({ pid }: ChildHandle): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /s, '').split(' ')
  return Number(fields[11]) + Number(fields[12])
}

const endless =
  'SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c WHERE a.range + b.range + c.range < 0'
const patient = { within: { name: 'queryMs', value: 20_000 }, signal: undefined } as const

test('a process that is killed fails its job, and is not used again', async () => {
  const child = await open()
  const running = refusal(child.perform(run(endless), patient))
  process.kill(must(child.pid, 'a running process has a pid'), 'SIGKILL')
  const error = await running
  // Only the kernel does so, where memory runs out.
  expect([error.kind, error.details.cause]).toEqual(['Saturated', 'the process died: it ended with SIGKILL'])
  expect(child.usable).toBe(false)
  expect((await refusal(child.perform(run('SELECT 1'), patient))).kind).toBe('Internal')
})

test.runIf(process.platform === 'linux')('the kernel ends it before others where memory runs out', async () => {
  const child = await open()
  expect(readFileSync(`/proc/${child.pid}/oom_score_adj`, 'utf8').trim()).toBe('1000')
})

test('an interrupted query leaves the process usable', async () => {
  const child = await open(patientClock)
  const leaving = new AbortController()
  const begunTicks = ticksOf(child)
  const running = refusal(child.perform(run(endless), { ...patient, signal: leaving.signal }))
  // An interrupt stops what runs: the engine is at work when the process has used so much more than planning takes.
  await until('the query runs', () => ticksOf(child) > begunTicks + 30)
  leaving.abort()
  await running
  expect(child.usable).toBe(true)
  const outcome = await child.perform(run('SELECT 1'), patient)
  expect(outcome.kind === 'answer' && Buffer.from(outcome.answer.data).toString()).toBe('[[1]]')
})

test('the gate stands in the child: a statement that nobody analysed does not run', async () => {
  const child = await open()
  const error = await refusal(child.perform(run("SELECT * FROM read_text('/etc/passwd')"), patient))
  expect(error.kind).toBe('QueryNotAllowed')
  const unbound = await refusal(child.perform(run('SELECT * FROM "acme/trips"'), patient))
  expect(unbound.kind).toBe('Internal')
})
