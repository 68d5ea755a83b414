// Processes of each role on one store and one topic, for the storm: each can be killed, frozen and started again.

import { kafkaUrl } from '../helpers/kafka-shared.ts'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type ServedNode, startServed } from '../history/chaos.ts'
import { isAcknowledged, judge } from '../history/history.ts'
import {
  type Address,
  aliasesOf,
  checkProof,
  drained,
  type Random,
  readBack,
  receiptFaults,
  type Seen,
  startLoad,
} from '../history/load.ts'
import { checkStore } from '../../src/index.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { systemClock } from '../../src/libraries/base/clock.ts'

export interface FleetSpec {
  /** An empty directory. */
  readonly dir: string
  /** Names of the processes, each `role-number`. */
  readonly names: readonly string[]
  /** Kafka as a process of that name reaches it. */
  readonly brokersOf: (name: string) => string
  readonly topicPrefix: string
  readonly random: Random
  /** A store elsewhere than in a directory of all: options, and the environment of each process. */
  readonly elsewhere?: {
    readonly options: Readonly<Record<string, string>>
    readonly env: Readonly<Record<string, string>>
  }
}

interface Member {
  readonly node: ServedNode
  /** Set once it is ready. */
  address: Address | undefined
}

const drainWithinMs = 120_000
/** Between two kills. */
const longestWaitMs = 5_000

const quick = {
  cut: { burstBlocks: 100_000, openAgeMs: 200, waitAgeMs: 20 },
  limits: { concurrentQueries: 1 },
}

export class Fleet {
  readonly counts: Record<string, number> = {}
  readonly #spec: FleetSpec
  readonly #members = new Map<string, Member>()
  readonly #frozen = new Set<string>()
  #starts = 0

  constructor(spec: FleetSpec) {
    this.#spec = spec
  }

  note(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1
  }

  /** Starts the process `name`; resolves when it is ready. */
  async start(name: string): Promise<Address> {
    const { dir, brokersOf, topicPrefix, elsewhere } = this.#spec
    const dataDir = join(dir, name)
    mkdirSync(dataDir, { recursive: true })
    const options = {
      roles: roleOf(name),
      store: join(dir, 'store'),
      ...elsewhere?.options,
      log: kafkaUrl(topicPrefix, 4, brokersOf(name)),
    }
    const session = `${name} life ${++this.#starts}`
    const compileCache = join(dir, 'compiled')
    const tokenFile = join(dir, 'gateway-1', 'token')
    const node = startServed({
      session,
      dataDir,
      compileCache,
      options,
      tuning: quick,
      tokenFile,
      ...(elsewhere && { env: elsewhere.env }),
    })
    const member: Member = { node, address: undefined }
    this.#members.set(name, member)
    member.address = await node.ready
    return member.address
  }

  /** SIGKILL, whatever state it is in. */
  async kill(name: string): Promise<void> {
    this.note(`${roleOf(name)} killed`)
    const member = must(this.#members.get(name), `${name} was started`)
    member.address = undefined
    await member.node.end('SIGKILL')
  }

  freeze(name: string): void {
    this.note(`${roleOf(name)} frozen`)
    this.#frozen.add(name)
    this.#members.get(name)?.node.freeze()
  }

  thaw(name: string): void {
    this.#frozen.delete(name)
    this.#members.get(name)?.node.thaw()
  }

  /** Names of processes that are ready and not frozen. */
  ready(role = ''): string[] {
    return [...this.#members].flatMap(([name, { address, node }]) =>
      address !== undefined && node.isAlive() && !this.#frozen.has(name) && name.startsWith(role) ? [name] : [],
    )
  }

  /** One of a role, by chance; undefined while there is none. */
  pick(role: string): Address | undefined {
    const names = this.ready(role)
    const name = names[this.#spec.random.between(0, names.length - 1)]
    return name === undefined ? undefined : this.#members.get(name)?.address
  }

  async some(role: string): Promise<Address> {
    for (;;) {
      const found = this.pick(role)
      if (found !== undefined) return found
      await systemClock.sleep(20)
    }
  }

  /**
   * Kills one process after the other, each role in turn, and starts each again; `spared` excepted. Between two kills callers
   * have an answer, unless that takes too long: by time alone nothing but starts would happen on a slow machine.
   */
  async killMany(count: number, seen: Seen, spared?: string): Promise<void> {
    const { random } = this.#spec
    const starting: Promise<unknown>[] = []
    const failures: unknown[] = []
    for (let n = 0; n < count; n++) {
      const role = ['gateway', 'builder', 'replica'][n % 3] ?? ''
      const candidates = (): string[] => this.ready(role).filter((one) => one !== spared)
      while (candidates().length === 0 && failures.length === 0) await systemClock.sleep(50)
      // One that does not come up again would be waited for without end.
      if (failures.length > 0) throw failures[0]
      const ready = candidates()
      const name = ready[random.between(0, ready.length - 1)] ?? ''
      if (random.next() < 0.2) {
        this.freeze(name)
        await systemClock.sleep(random.between(100, 1_000))
        this.thaw(name)
      }
      await this.kill(name)
      await systemClock.sleep(random.between(0, 300))
      starting.push(this.start(name).catch((error: unknown) => failures.push(error)))
      await systemClock.sleep(random.between(100, 700))
      const enough = seen.receipts + 2
      const endMs = systemClock.monotonicMs() + longestWaitMs
      while (seen.receipts < enough && systemClock.monotonicMs() < endMs) await systemClock.sleep(20)
    }
    await Promise.all(starting)
    if (failures.length > 0) throw failures[0]
  }

  /** Callers that post and read until `isOver`, and tell `seen`. */
  load(seen: Seen, isOver: () => boolean): Promise<unknown> {
    const { random } = this.#spec
    const target = {
      gateway: () => this.some('gateway'),
      replica: () => this.pick(random.next() < 0.3 ? 'gateway' : 'replica'),
      isOver,
    }
    return startLoad({ account: 'storm', keyed: 2, bare: 1, random }, target, seen)
  }

  /** In peace: waits for the last block, and judges what was sent, told, read back and stored in `store`. */
  async judge(
    seen: Seen,
    store: string,
  ): Promise<{ readonly verdicts: readonly unknown[]; readonly acknowledged: number }> {
    const { random } = this.#spec
    const [gateway, replica] = await Promise.all([this.some('gateway'), this.some('replica')])
    const tookMs = await drained(gateway, seen, drainWithinMs)
    const datasets = new Set([...aliasesOf('storm'), ...seen.batches.map(({ dataset }) => dataset)])
    for (const alias of datasets) await caughtUp(alias, gateway, replica)
    const stored = await readBack(replica, datasets)
    // What has no key is found by its place in the log alone: all of it is asked for.
    const sample = seen.batches.filter(({ key }) => key === undefined || random.next() < 100 / seen.batches.length)
    const problems = [...seen.faults, ...(await receiptFaults(gateway, sample, stored))]
    for (const id of seen.proofTexts.keys()) await checkProof(replica, id, seen)
    const report = await checkStore(store)
    problems.push(...[report, ...report.datasets].flatMap((one) => one.problems.map(({ message }) => message)))
    const { batches, heads, proofs, requests, replays, lostConnections } = seen
    const drain = { tookMs, withinMs: drainWithinMs }
    const history = { batches, heads, proofs, rejected: [], stored, drain, held: [] }
    const acknowledged = batches.filter(isAcknowledged).length
    const sum = { batches: batches.length, acknowledged, requests, replays, lostConnections, heads: heads.length }
    console.log(`storm: ${JSON.stringify({ ...sum, proofs: seen.proofTexts.size, drainedMs: tookMs, ...this.counts })}`)
    return { verdicts: [...judge(history).slice(0, 20), ...problems], acknowledged }
  }

  /** How many processes were killed. */
  kills(): number {
    const roles = new Set(this.#spec.names.map(roleOf))
    return [...roles].reduce((total, role) => total + (this.counts[`${role} killed`] ?? 0), 0)
  }

  /** Processes that ended by themselves: name and exit code are in the error of the next start. */
  dead(): string[] {
    return [...this.#members].flatMap(([name, { node }]) => (node.isAlive() ? [] : [name]))
  }

  async end(): Promise<void> {
    await Promise.all([...this.#members.values()].map(({ node }) => node.end('SIGKILL')))
  }
}

export const roleOf = (name: string): string => name.replace(/-\d+$/, '')

/** Waits until the replica shows the head that the gateway knows: it may be a second late. */
async function caughtUp(alias: string, gateway: Address, replica: Address): Promise<void> {
  const headAt = async ({ url, token }: Address): Promise<string> => {
    const answer = await fetch(`${url}/${alias}/refs/head`, { headers: { authorization: `Bearer ${token}` } })
    return answer.status === 200 ? answer.text() : ''
  }
  await expect.poll(async () => (await headAt(replica)) === (await headAt(gateway))).toBe(true)
}
