// Processes of each role on one store and one topic, for the storm: each can be killed, frozen and started again.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ServedNode, startServed } from '../../src/history/chaos.ts'
import type { Address, Random } from '../../src/history/load.ts'
import { must } from '../../src/lib/assert.ts'
import { systemClock } from '../../src/lib/clock.ts'

export interface FleetSpec {
  /** An empty directory. */
  readonly dir: string
  /** Names of the processes, each `role-number`. */
  readonly names: readonly string[]
  /** Kafka as a process of that name reaches it. */
  readonly brokersOf: (name: string) => string
  readonly topicPrefix: string
  readonly random: Random
}

interface Member {
  readonly node: ServedNode
  /** Set once it is ready. */
  address: Address | undefined
}

const quick = {
  'cut-burst': '100000',
  'cut-open-age': '200ms',
  'cut-wait-age': '20ms',
  'limit-concurrent-queries': '1',
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
    const { dir, brokersOf, topicPrefix } = this.#spec
    const dataDir = join(dir, name)
    mkdirSync(dataDir, { recursive: true })
    const options = {
      ...quick,
      roles: roleOf(name),
      store: join(dir, 'store'),
      log: 'kafka',
      'kafka-brokers': brokersOf(name),
      'topic-prefix': topicPrefix,
      partitions: '4',
    }
    const session = `${name} life ${++this.#starts}`
    const compileCache = join(dir, 'compiled')
    const tokenFile = join(dir, 'gateway-1', 'token')
    const node = startServed({ session, dataDir, compileCache, options, tokenFile })
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

  /** Processes that ended by themselves: name and exit code are in the error of the next start. */
  dead(): string[] {
    return [...this.#members].flatMap(([name, { node }]) => (node.isAlive() ? [] : [name]))
  }

  async end(): Promise<void> {
    await Promise.all([...this.#members.values()].map(({ node }) => node.end('SIGKILL')))
  }
}

export const roleOf = (name: string): string => name.replace(/-\d+$/, '')
