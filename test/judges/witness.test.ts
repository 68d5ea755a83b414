// Heads cosigned by a witness that others wrote: torchwood's litewitness, whose key an ssh-agent has and whose ledgers are rows
// of SQLite. It takes each head that goes on, and none of a tree that was put back.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { Publisher } from '../../src/features/ledger/publisher.ts'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { systemClock as clock } from '../../src/libraries/base/clock.ts'
import { silentLogger as logger } from '../../src/libraries/base/logger.ts'
import { openHead } from '../../src/libraries/ledger/open-head.ts'
import { parsePolicy, type Policy } from '../../src/libraries/ledger/policy.ts'
import { TiledTree } from '../../src/libraries/ledger/tiled-tree.ts'
import { tileName } from '../../src/libraries/ledger/tiles.ts'
import type { ObjectStore } from '../../src/node/store/object-store.ts'
import { openMemoryStore } from '../adapters/memory-store.ts'
import { freePort } from '../helpers/free-port.ts'
import { until } from '../helpers/until.ts'
import { keyText, origin, signer } from '../libraries/ledger/keys.ts'
import { someLeaves } from '../libraries/ledger/rfc6962.ts'
import { buildJudges, hasGo } from './go.ts'

const home = mkdtempSync(join(tmpdir(), 'proofstream-witness-'))
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill()
  rmSync(home, { recursive: true, force: true })
})
const at = (name: string): string => join(home, name)
const logKey = keyText(origin, 1, 1)
const leaves = someLeaves(600)

function ssh(program: string, ...args: string[]): string {
  const env = { ...process.env, SSH_AUTH_SOCK: at('agent') }
  const { status, stdout, stderr } = spawnSync(program, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program}: ${stderr}`)
  return stdout
}

/** Its line of a policy, once it knows the ledger. */
async function startWitness(): Promise<string> {
  const { litewitness } = buildJudges(home)
  ssh('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', at('key'))
  children.push(spawn('ssh-agent', ['-D', '-a', at('agent')], { stdio: 'ignore' }))
  await until('an agent', async () => {
    const added = spawnSync('ssh-add', ['-q', at('key')], { env: { ...process.env, SSH_AUTH_SOCK: at('agent') } })
    return added.status === 0 ? true : undefined
  })
  const [, fingerprint = ''] = ssh('ssh-keygen', '-l', '-f', at('key.pub')).split(' ')
  const listen = `127.0.0.1:${await freePort()}`
  const names = ['-name', 'lite.example/witness', '-key', fingerprint, '-listen', listen]
  const witness = spawn(litewitness, [...names, '-db', at('db'), '-ssh-agent', at('agent')])
  children.push(witness)
  let said = ''
  witness.stderr.on('data', (bytes: Buffer) => (said += bytes.toString('utf8')))
  const vkey = await until('its key', async () => /vkey="?(lite\.example\/witness\+[^\s"]+)/.exec(said)?.[1])
  await until('its port', async () => await fetch(`http://${listen}/`).catch(() => undefined))
  const tables = new DatabaseSync(at('db'))
  const root = Buffer.alloc(32).toString('base64')
  tables.prepare('INSERT INTO log (origin, tree_size, tree_hash) VALUES (?, 0, ?)').run(origin, root)
  tables.prepare('INSERT INTO key (origin, key) VALUES (?, ?)').run(origin, logKey)
  tables.close()
  return `witness lite ${vkey} http://${listen}`
}

/** The ledger over these leaves, which a keeper publishes. */
class Life {
  readonly #store: ObjectStore = openMemoryStore()
  readonly #tree = new TiledTree()
  readonly #leaves: readonly Uint8Array[]
  readonly #policy: Policy
  readonly publisher: Publisher

  constructor(policy: Policy, of: readonly Uint8Array[] = leaves) {
    this.#leaves = of
    this.#policy = policy
    this.publisher = new Publisher({
      store: this.#store,
      clock,
      logger,
      ledger: 1,
      origin,
      signer: signer(1),
      policy,
      waitMs: 60_000,
    })
  }

  /** What the witness made of the head of this size. */
  async state(size: number): Promise<string | undefined> {
    for (const leaf of this.#leaves.slice(this.#tree.size, size)) this.#tree.append(leaf)
    for (const { tile, bytes } of this.#tree.takeTiles()) await this.#store.put(`ledger/${tileName(tile)}`, bytes)
    await this.publisher.offer({ size, root: this.#tree.root() })
    return await until(`an answer for ${size}`, async () => {
      await this.publisher.tick()
      const [asked] = this.publisher.witnesses
      return asked === undefined || asked.isAsking || asked.state === 'not asked' ? undefined : asked.state
    })
  }

  async shown(): Promise<{ size: number; quorum: string } | undefined> {
    const bytes = await this.#store.get('ledger/checkpoint')
    const opened = bytes && openHead(bytes, this.#policy)
    return opened?.ok === true ? { size: opened.head.size, quorum: opened.quorum } : undefined
  }
}

/** Its agent keeps the key. */
const hasSsh = spawnSync('ssh-keygen', ['-?']).error === undefined

describe.skipIf(!hasGo || !hasSsh)('a foreign witness', () => {
  test('cosigns a ledger as it grows, over two lives, and nothing of one that was put back', async () => {
    const line = await startWitness()
    const policy = parsePolicy(utf8([`log ${logKey}`, line, 'quorum lite', ''].join('\n')))
    const life = new Life(policy)
    expect([await life.state(0), life.publisher.isConfirmed]).toEqual(['cosigned', true])
    for (const size of [1, 2, 3, 128, 255, 256, 257, 511, 512, 513]) {
      expect([size, await life.state(size)]).toEqual([size, 'cosigned'])
      await expect.poll(() => life.shown()).toEqual({ size, quorum: 'met' })
    }
    const next = new Life(policy)
    expect([await next.state(513), await next.state(600)]).toEqual(['cosigned', 'cosigned'])
    const older = new Life(policy)
    expect([await older.state(400), older.publisher.isConfirmed]).toEqual(['ahead', false])
    const other = new Life(policy, leaves.toReversed())
    expect([await other.state(600), other.publisher.isConfirmed]).toEqual(['contradicting', false])
    for (const { publisher } of [life, next, older, other]) await publisher.close()
  })
})
