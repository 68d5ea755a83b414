// Every system call that makes something durable fails in turn: each write, pwrite, fsync, fdatasync, link, rename and
// unlink of one run from an empty directory to the last commit is killed at, ends with EIO, or with ENOSPC. Afterwards
// the node starts again on what is there, callers repeat what was not acknowledged, and history and store are judged.
// SYSCALL_RUNS says how many of all these runs to make (default 40, `all` for each), SYSCALL_REPEATS how often to kill
// at each named point (default 5, with `all` 100), SEED which ones.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fsck } from '../../src/node/upkeep/fsck.ts'
import { type Answer, type BatchSent, type History, judge } from '../history/history.ts'
import { randomOf } from '../history/load.ts'
import { readStored } from '../helpers/stored.ts'
import { type Core, openCore } from './core.ts'
import { orderFaults, parseTrace, type TracedCall } from './order.ts'
import { crashPoints } from './points.ts'
import { postsOf } from './posts.ts'
import { type Injection, injectionsOf, runTraced, type TracedRun, whyNoStrace } from './trace.ts'
import { seed } from '../helpers/seed.ts'
import { storeChecks } from '../../src/app/features.ts'

const unlinks = 'unlink,unlinkat'
const calls = ['write', 'pwrite64', 'fsync', 'fdatasync', 'link,linkat', 'rename,renameat,renameat2', unlinks] as const
const wanted = process.env['SYSCALL_RUNS'] ?? '40'
/** Kills at each named point. */
const repeats = wanted === 'all' ? 100 : Number(process.env['SYSCALL_REPEATS'] ?? 5)
const drainWithinMs = 20_000
/** Runs at the same time. */
const atOnce = 3

const missing = whyNoStrace()
if (missing !== undefined) {
  if (process.env['CI'] === 'true') throw new Error(`The system call tests need strace and ptrace: ${missing}.`)
  console.warn(`\n=== THE SYSTEM CALL TESTS DID NOT RUN: ${missing} ===\n`)
}

let root = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'proofstream-syscalls-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

let count = 0
function nextPaths(): { dir: string; output: string } {
  count++
  return { dir: join(root, `${count}`), output: join(root, `${count}.trace`) }
}

/** The calls of an undisturbed run, those of other files than the node's left out, by place among their thread's. */
async function calibrate(): Promise<{ run: TracedRun; calls: TracedCall[]; dir: string }> {
  const { dir, output } = nextPaths()
  // How a file was opened says whether its writes are durable.
  const run = await runTraced(dir, { calls: [...calls, 'openat'].join(','), output })
  expect({ ended: run.ended, said: run.lines.at(-1)?.id }).toEqual({ ended: '0', said: 'stopped' })
  return { run, calls: parseTrace(run.trace), dir }
}

/** Starts again, repeats what was not acknowledged, waits for all of it, stops. */
async function recover(dir: string, run: TracedRun) {
  const batches = new Map<string, BatchSent>()
  let at = 0
  const told = new Map(run.lines.map(({ id, answer }) => [id, answer]))
  for (const { id, alias, rows } of postsOf().flat()) {
    const answer: Answer = told.get(id) ?? { kind: 'unknown', error: run.ended }
    const attempts = [{ sentAt: 0, answeredAt: ++at, session: 'first', answer }]
    batches.set(id, { id, dataset: alias, rows, key: id, attempts })
  }
  const core = await openCore(dir, () => {})
  const beganMs = performance.now()
  for (const { id, alias, body, headers } of postsOf().flat()) {
    const batch = batches.get(id)
    const { body: receipt } = await core.post(alias, body, { ...headers, prefer: 'wait=10' })
    if ('dryRun' in receipt) continue
    const { receiptId, block, offsets } = receipt
    const answer: Answer = { kind: 'ok', receiptId, ...(block && { block }), ...(offsets && { offsets }) }
    batch?.attempts.push({ sentAt: ++at, answeredAt: ++at, session: 'second', answer })
  }
  const tookMs = (await isDrained(core, batches.values())) ? performance.now() - beganMs : undefined
  const halted = core.builder.status().halted
  await core.stop()
  const report = await fsck(core.store, { checks: storeChecks })
  const stored = await readStored(core.store)
  const temporary = (await readdir(join(dir, 'store/.tmp'))).length
  const history: History = {
    batches: [...batches.values()],
    heads: [],
    proofs: [],
    rejected: [],
    stored,
    drain: { tookMs, withinMs: drainWithinMs },
    held: [{ name: 'temporary files', before: 0, after: temporary, mayGrow: 8 }],
  }
  const problems = [...report.problems, ...report.datasets.flatMap((dataset) => dataset.problems)]
  return { verdicts: judge(history), problems, halted }
}

async function isDrained(core: Core, batches: Iterable<BatchSent>): Promise<boolean> {
  for (const { attempts } of batches) {
    for (const { answer } of attempts) {
      if (answer.kind !== 'ok') continue
      const { receipt } = await core.gateway.receipt(answer.receiptId)
      if (receipt.status !== 'committed') return false
    }
  }
  return true
}

/** After an fsync that failed with EIO nothing may be trusted any more, except where only one new file was lost. */
function mustHaveEnded({ fault, call }: Injection, injected: readonly string[]): boolean {
  return fault === 'EIO' && call.endsWith('sync') && injected.some((line) => !line.includes('/store/.tmp/'))
}

describe.skipIf(missing !== undefined)('under strace', () => {
  test('files are durable before they are named, names before they are told, rows before they are acknowledged', async () => {
    const { calls: made } = await calibrate()
    expect(orderFaults(made)).toEqual([])
    expect(made.filter(({ name }) => name === 'link').length).toBeGreaterThan(15)
    expect(made.filter(({ isSaid }) => isSaid).length).toBeGreaterThan(3)
  })

  test(`whatever call fails, no promise breaks (SYSCALL_RUNS=${wanted} SEED=${seed})`, async () => {
    const { calls: made } = await calibrate()
    const { all, chosen } = injectionsOf(made, calls, { wanted, seed })
    const counts: Record<string, number> = {}
    const bad = await injectAll(chosen, (injection, isReached) => {
      const what = isReached ? `${injection.call} ${injection.fault}` : 'not reached'
      counts[what] = (counts[what] ?? 0) + 1
    })
    console.log(`system calls: ${chosen.length} of ${all} runs`, JSON.stringify(counts))
    expect(bad).toEqual([])
    expect((counts['not reached'] ?? 0) * 2).toBeLessThan(chosen.length)
  })

  test(`killed at each point between a batch and its block, no promise breaks (${repeats} times, SEED=${seed})`, async () => {
    const { calls: made } = await calibrate()
    const points = crashPoints(made.filter(({ ours }) => ours))
    expect([...points.keys()]).toEqual(expect.arrayContaining(expectedPoints))
    const random = randomOf(seed)
    const names = new Map<Injection, string>()
    for (const [point, at] of points) {
      for (let n = 0; n < repeats; n++) {
        const { name, nth } = at[random.between(0, at.length - 1)] ?? { name: '', nth: 0 }
        const call = calls.find((one) => one.split(',').includes(name)) ?? name
        names.set({ call, nth, fault: 'kill' }, point)
      }
    }
    const counts: Record<string, number> = {}
    const bad = await injectAll([...names.keys()], (injection, isReached) => {
      const what = isReached ? (names.get(injection) ?? '') : 'not reached'
      counts[what] = (counts[what] ?? 0) + 1
    })
    console.log(`kills at ${points.size} points: ${JSON.stringify(counts)}`)
    expect(bad).toEqual([])
    expect((counts['not reached'] ?? 0) * 4).toBeLessThan(names.size)
  })
})

const expectedPoints = [
  'frame being written',
  'frame written, not durable',
  'slice being written',
  'slice written, not durable',
  'slice durable, not named',
  'slice named, name not durable',
  'checkpoint durable, not named',
  'block being written',
  'block durable, not named',
  'block named, name not durable',
  'commit being written',
  'commit durable, not named',
  'commit named, name not durable',
  'head durable, not named',
  'floor durable, not named',
  'segments being deleted',
]

/** Makes each run, some at the same time; returns those that broke something. */
async function injectAll(
  injections: readonly Injection[],
  told: (injection: Injection, isReached: boolean) => void,
): Promise<object[]> {
  const waiting = [...injections]
  const bad: object[] = []
  const work = async (): Promise<void> => {
    for (let injection = waiting.shift(); injection !== undefined; injection = waiting.shift()) {
      const { dir, output } = nextPaths()
      const run = await runTraced(dir, { calls: injection.call, output, inject: injection })
      const found = await recover(dir, run).catch((error: unknown) => ({
        verdicts: [],
        problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
        halted: [],
      }))
      const wentOn = mustHaveEnded(injection, run.injected) && run.ended === '0'
      if (found.verdicts.length + found.problems.length + found.halted.length > 0 || wentOn) {
        bad.push({ injection, ...found, wentOn, injected: run.injected, ended: run.ended })
      }
      // Who is killed takes the end of the trace along.
      told(injection, run.injected.length > 0 || (injection.fault === 'kill' && run.ended.startsWith('SIGKILL')))
      await rm(dir, { recursive: true, force: true })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return bad
}
