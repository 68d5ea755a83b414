// A run of kills: a node on a directory of its own is killed again and again, at moments drawn by chance, under
// load; then there is peace, and what callers saw is held against what the node has. A kill leaves the page cache of
// the machine: power cuts are not tried here.

import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { checkStore, type StoreReport, systemClock } from '../../src/index.ts'
import { type History, isAcknowledged, judge, type StoredDataset } from './history.ts'
import type { Verdict } from './verdicts.ts'
import {
  type Address,
  aliasesOf,
  checkProof,
  drained,
  type Random,
  randomOf,
  readBack,
  receiptFaults,
  Seen,
  startLoad,
  type Target,
} from './load.ts'
import { readLedger } from '../helpers/stored-ledger.ts'
import { openReadOnlyDirectoryStore } from '../../src/node/store/directory/directory-store.ts'
import { headOf, judgeLedger, type LedgerSeen } from './ledger.ts'
import type { TreeHead } from '../../src/libraries/ledger/ledger.ts'
import { programPath, tunedProgram } from '../helpers/run-node.ts'
import type { Tuning } from '../helpers/tuning.ts'

export interface ChaosSpec {
  /** An empty directory. */
  readonly dir: string
  readonly cycles: number
  readonly seed: number
  /** Options of `serve` beside those of every run, by name. */
  readonly options?: Readonly<Record<string, string>>
  readonly onCycle?: (done: number) => void
}

export interface ChaosReport {
  /** What was done and seen, by name. */
  readonly counts: Readonly<Record<string, number>>
  readonly verdicts: readonly Verdict[]
  /** What is wrong beside the history: the store, receipts, answers that nobody should get. */
  readonly problems: readonly string[]
}

const drainWithinMs = 60_000
/** Every block is in the ledger this long after everything is committed. */
const enteredWithinMs = 60_000
/** The store is checked between two lives this often, cycles. */
const checkEvery = 25
/** A node that answers little is killed all the same. */
const longestLifeMs = 2_000
/** Receipts that are asked for again in the end. */
const receiptsAsked = 200
const account = 'chaos'

/** A ledger whose keeper works four times a second. */
const ledgerOptions = { 'ledger-origin': 'chaos.example/ledger', 'ledger-delay': '1s' }

/** Quick cuts, so that a short life commits; one query process, so that a restart is quick. */
const quick: Tuning = {
  cut: { burstBlocks: 100_000, openAgeMs: 200, waitAgeMs: 20 },
  limits: { concurrentQueries: 1 },
}

/** Runs `cycles` lives and judges them. Rejects when the node cannot start at all. */
export async function runChaos(spec: ChaosSpec): Promise<ChaosReport> {
  const run = new Run(spec)
  await mkdir(run.dataDir, { recursive: true })
  const load = Promise.all([run.startLoad(), run.watchLedger()])
  try {
    for (let cycle = 1; cycle <= spec.cycles; cycle++) {
      await run.liveAndDie(cycle === 1)
      if (cycle % checkEvery === 0) run.problems.push(...problemsOf(await checkStore(run.dataDir)))
      if (run.problems.length + run.seen.faults.length > 0) break
      spec.onCycle?.(cycle)
    }
    await run.start()
    run.isOver = true
    await load
    // Whatever is only logged must survive one more kill.
    await run.die()
    return await run.judgeAll(await run.start())
  } finally {
    run.isOver = true
    await run.die()
  }
}

class Run {
  readonly spec: ChaosSpec
  readonly dataDir: string
  readonly seen = new Seen()
  readonly problems: string[] = []
  /** Of the ledger, as they were shown. */
  readonly ledgerHeads: TreeHead[] = []
  isOver = false
  readonly #random: Random
  readonly #readyMs: number[] = []
  #node: ServedNode | undefined
  #address: Address | undefined
  #starts = 0
  /** Of a node that was ready. */
  #kills = 0
  /** Of a node that was still starting. */
  #earlyKills = 0
  /** Times a node was stopped and let go on. */
  #pauses = 0

  constructor(spec: ChaosSpec) {
    this.spec = spec
    this.dataDir = join(spec.dir, 'data')
    this.#random = randomOf(spec.seed)
  }

  /** Producers and readers, until the run is over. */
  startLoad(): Promise<unknown> {
    const target: Target = {
      gateway: async () => {
        while (this.#address === undefined) await systemClock.sleep(10)
        return this.#address
      },
      replica: () => this.#address,
      isOver: () => this.isOver,
    }
    return startLoad({ account, keyed: 3, bare: 2, random: this.#random }, target, this.seen)
  }

  /** Notes the heads of the ledger, until the run is over. */
  async watchLedger(): Promise<void> {
    for (; !this.isOver; await systemClock.sleep(50)) {
      const url = this.#address?.url
      const note =
        url &&
        (await fetch(`${url}/ledger/checkpoint`)
          .then(bytesIfOk)
          .catch(() => undefined))
      const head = note && headOf(note)
      if (head && head.size !== this.ledgerHeads.at(-1)?.size) this.ledgerHeads.push(head)
    }
  }

  /** Waits until nothing is missing in the ledger; then what was seen of it. */
  async #ledger(): Promise<LedgerSeen> {
    const store = await openReadOnlyDirectoryStore(join(this.dataDir, 'store'))
    const endMs = systemClock.monotonicMs() + enteredWithinMs
    for (;;) {
      const stored = await readLedger(store)
      const seen = { ...stored, heads: this.ledgerHeads, early: [], log: [] }
      if (judgeLedger(seen).length === 0 || systemClock.monotonicMs() > endMs) return seen
      await systemClock.sleep(250)
    }
  }

  /** Starts the node and waits until it is ready. */
  async start(): Promise<Address> {
    const beganMs = systemClock.monotonicMs()
    const node = this.#spawn()
    this.#address = await node.ready
    if (this.#starts > 1) this.#readyMs.push(systemClock.monotonicMs() - beganMs)
    return this.#address
  }

  #spawn(): ServedNode {
    const { dataDir } = this
    const options = { ...ledgerOptions, ...this.spec.options }
    const compileCache = join(this.spec.dir, 'compiled')
    this.#node = startServed({ session: `life ${++this.#starts}`, dataDir, compileCache, options, tuning: quick })
    return this.#node
  }

  async die(): Promise<void> {
    this.#address = undefined
    await this.#node?.end('SIGKILL')
    this.#node = undefined
  }

  /** Starts the node and kills it at a moment drawn by chance, now and then before it is ready. */
  async liveAndDie(isFirst: boolean): Promise<void> {
    const random = this.#random
    if (!isFirst && random.next() < 0.15) {
      this.#spawn()
      await systemClock.sleep(random.between(20, 500))
      this.#earlyKills++
      return this.die()
    }
    await this.start()
    if (random.next() < 0.2) {
      await systemClock.sleep(random.between(20, 200))
      this.#node?.freeze()
      await systemClock.sleep(random.between(50, 400))
      this.#node?.thaw()
      this.#pauses++
    }
    // By what has been answered rather than by time: a life is worth the same on a slow machine.
    const enough = this.seen.receipts + random.between(0, 30)
    const endMs = systemClock.monotonicMs() + longestLifeMs
    while (this.seen.receipts < enough && systemClock.monotonicMs() < endMs) await systemClock.sleep(5)
    await systemClock.sleep(random.between(0, 100))
    this.#kills++
    await this.die()
  }

  /** Waits for the drain, reads all back, stops the node in order, checks its store. */
  async judgeAll(at: Address): Promise<ChaosReport> {
    const { seen, problems } = this
    const tookMs = await drained(at, seen, drainWithinMs)
    const stored = await readBack(at, new Set([...aliasesOf(account), ...seen.batches.map(({ dataset }) => dataset)]))
    const share = receiptsAsked / Math.max(1, seen.batches.length)
    const sample = seen.batches.filter(() => this.#random.next() < share)
    problems.push(...(await receiptFaults(at, sample, stored)))
    for (const id of seen.proofTexts.keys()) await checkProof(at, id, seen)
    const ledger = await this.#ledger()
    const code = await this.#node?.end('SIGTERM')
    if (code !== 0) problems.push(`the node ended with ${code} when it was told to stop`)
    problems.push(...problemsOf(await checkStore(this.dataDir)), ...seen.faults)
    const { batches, heads, proofs } = seen
    const temporary = (await readdir(join(this.dataDir, 'store', '.tmp')).catch(() => [])).length
    const history: History = {
      batches,
      heads,
      proofs,
      rejected: [],
      stored,
      drain: { tookMs, withinMs: drainWithinMs },
      // What a write leaves that is killed is deleted by a node that starts an hour later.
      held: [
        { name: 'temporary files', before: 0, after: temporary, mayGrow: (this.#kills + this.#earlyKills + 2) * 16 },
      ],
      ledger,
    }
    return { counts: { ...this.#counts(stored), entries: ledger.entries.length }, verdicts: judge(history), problems }
  }

  #counts(stored: readonly StoredDataset[]): ChaosReport['counts'] {
    const { batches, heads, proofTexts, requests, replays, lostConnections } = this.seen
    // From the start of a process to its being ready; without the first start.
    const readyMs = this.#readyMs.toSorted((a, b) => a - b)
    return {
      seed: this.spec.seed,
      cycles: this.spec.cycles,
      kills: this.#kills,
      earlyKills: this.#earlyKills,
      pauses: this.#pauses,
      batches: batches.length,
      acknowledged: batches.filter(isAcknowledged).length,
      requests,
      replays,
      lostConnections,
      heads: heads.length,
      ledgerHeads: this.ledgerHeads.length,
      proofs: proofTexts.size,
      datasets: stored.length,
      blocks: stored.reduce((sum, { blocks }) => sum + blocks.length, 0),
      rows: stored.reduce((sum, { rows }) => sum + rows.length, 0),
      readyMs: Math.round(readyMs[readyMs.length >> 1] ?? 0),
      slowestReadyMs: Math.round(readyMs.at(-1) ?? 0),
    }
  }
}

async function bytesIfOk(response: Response): Promise<Uint8Array | undefined> {
  return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined
}

function problemsOf(report: StoreReport): string[] {
  return [
    ...report.problems.map(({ kind, message }) => `${kind}: ${message}`),
    ...report.datasets.flatMap(({ alias, problems }) =>
      problems.map(({ kind, message }) => `${alias}: ${kind}: ${message}`),
    ),
  ]
}

export interface ServeSpec {
  /** Names the process in what is seen: a restarted one has another. */
  readonly session: string
  readonly dataDir: string
  /** Where Node.js may keep compiled sources, so that restarts are quick. */
  readonly compileCache: string
  /** Options of `serve` by name, without dashes. */
  readonly options?: Readonly<Record<string, string>>
  readonly tuning?: Tuning
  /** The environment of the process; default: empty. */
  readonly env?: Readonly<Record<string, string>>
  /** File with the admin token; default: the one in the data directory. */
  readonly tokenFile?: string
}

export interface ServedNode {
  /** Rejects, with what the process wrote to stderr, when it ends before it is ready. */
  readonly ready: Promise<Address>
  isAlive(): boolean
  /** SIGSTOP. */
  freeze(): void
  /** SIGCONT. */
  thaw(): void
  /** SIGKILL, or SIGTERM; resolves with the exit code when the process is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
}

/** Last characters of stderr that are kept. */
const keptErrors = 4_000

/** Starts a node on a free port. It is killed when this process exits. */
export function startServed(spec: ServeSpec): ServedNode {
  const options = { data: spec.dataDir, listen: '127.0.0.1:0', 'log-level': 'error', ...spec.options }
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const program = spec.tuning === undefined ? [programPath] : tunedProgram(spec.tuning)
  const child = spawn(process.execPath, [...program, 'serve', ...flags], {
    cwd: spec.dataDir,
    env: { ...spec.env, NODE_COMPILE_CACHE: spec.compileCache },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const killNow = (): void => void child.kill('SIGKILL')
  process.on('exit', killNow)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      process.off('exit', killNow)
      resolve(code)
    })
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-keptErrors)
  })
  const line = new Promise<string>((resolve) => createInterface({ input: child.stdout }).once('line', resolve))
  const ready = Promise.race([line, ended]).then(async (said): Promise<Address> => {
    if (typeof said !== 'string') throw new RangeError(`the node ended (${said}) before it was ready: ${errors}`)
    const { url } = JSON.parse(said) as { url: string } // the ready line of serve
    const token = (await readFile(spec.tokenFile ?? join(spec.dataDir, 'token'), 'utf8')).trim()
    return { url, token, session: spec.session }
  })
  // A node that is killed while it starts is not waited for.
  ready.catch(() => {})
  return {
    ready,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    end: (signal) => {
      child.kill(signal)
      return ended
    },
  }
}
