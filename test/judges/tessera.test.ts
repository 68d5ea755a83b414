// A ledger that others wrote, Tessera's, asks our witness: it gets cosignatures that it takes as long as it goes on, and none
// for a second history, or from an old copy.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { utf8 } from '../../src/libraries/base/bytes.ts'
import { openHead } from '../../src/libraries/ledger/open-head.ts'
import { parsePolicy } from '../../src/libraries/ledger/policy.ts'
import { type Alone, startAlone } from '../features/witness/alone.ts'
import { keyText } from '../libraries/ledger/keys.ts'
import { buildJudges, hasGo, type Judges, run } from './go.ts'

const home = mkdtempSync(join(tmpdir(), 'proofstream-tessera-'))
const origin = 'tessera.example/log'
const logKey = keyText(origin, 1, 1)
let judges: Judges
let witness: Alone
beforeAll(async () => {
  if (!hasGo) return
  judges = buildJudges(home)
  writeFileSync(join(home, 'ledgers'), `log ${logKey}\nquorum none\n`)
  witness = await startAlone(join(home, 'ledgers'), join(home, 'witness'))
  const [, id] = logKey.split('+')
  const seed = Buffer.concat([Buffer.of(1), Buffer.alloc(32, 1)]).toString('base64')
  writeFileSync(join(home, 'key'), `PRIVATE+KEY+${origin}+${id}+${seed}`)
  writeFileSync(join(home, 'policy'), `witness w ${witness.key} ${witness.url}\nquorum w\n`)
})
afterAll(async () => {
  if (hasGo) await witness.end('SIGTERM')
  rmSync(home, { recursive: true, force: true })
})

/** Adds these entries to the ledger in a directory. */
function added(ledger: string, entries: readonly string[], seconds = 600): { readonly status: number | null } {
  const folder = mkdtempSync(join(home, 'entries-'))
  for (const [at, entry] of entries.entries()) writeFileSync(join(folder, String(at).padStart(4, '0')), entry)
  const args = ['--storage_dir', ledger, '--entries', `${folder}/*`, '--private_key', join(home, 'key')]
  const asking = ['--witness_policy_file', join(home, 'policy'), '--witness_timeout', '5s']
  return run(judges.oneshot, [...args, ...asking], { seconds })
}

/** Size and quorum of the published head, as their readers judge it. */
function published(ledger: string): object {
  const policy = parsePolicy(utf8(`log ${logKey}\nwitness w ${witness.key}\nquorum w\n`))
  const opened = openHead(readFileSync(join(ledger, 'checkpoint')), policy)
  return opened.ok ? { size: opened.head.size, quorum: opened.quorum } : { reason: opened.reason }
}

const evidence = (): number => {
  const folder = join(home, 'witness', 'store', 'ledger', 'witness')
  const [hash = ''] = readdirSync(folder).filter((name) => name !== 'keys')
  return readdirSync(join(folder, hash)).includes('evidence') ? readdirSync(join(folder, hash, 'evidence')).length : 0
}

describe.skipIf(!hasGo)('a ledger of Tessera', () => {
  test('is cosigned while it goes on; a fork and an old copy of it are not', () => {
    const ledger = join(home, 'ledger')
    mkdirSync(ledger)
    let size = 0
    for (const count of [1, 2, 5, 300]) {
      const entries = Array.from({ length: count }, (_, i) => `entry ${size + i}`)
      expect(added(ledger, entries)).toMatchObject({ status: 0 })
      size += count
      expect(published(ledger)).toEqual({ size, quorum: 'met' })
    }
    const copy = join(home, 'copy')
    cpSync(ledger, copy, { recursive: true })
    expect(added(ledger, ['honest'])).toMatchObject({ status: 0 })
    expect(evidence()).toBe(0)
    // It waits without end for a head that is not cosigned.
    expect(added(copy, ['forked'], 15).status).not.toBe(0)
    expect(published(copy)).toEqual({ size, quorum: 'met' })
    expect(evidence()).toBe(1)
    expect(added(ledger, ['goes on'])).toMatchObject({ status: 0 })
    expect(published(ledger)).toEqual({ size: size + 2, quorum: 'met' })
  })
})
