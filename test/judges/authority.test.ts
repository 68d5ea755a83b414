// A real node whose heads the time-stamp authority of Sigstore stamps: its tokens are stored, and checked by the chain that it shows.
// On demand, with JUDGES=all: it takes minutes to build, and its metrics listen at port 2112 of all addresses.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { askAuthority } from '../../src/features/ledger/time-stamps.ts'
import { freePort } from '../helpers/free-port.ts'
import { startLiveNode } from '../helpers/live-node.ts'
import { runCommand } from '../helpers/run-node.ts'
import { until } from '../helpers/until.ts'
import { buildAuthority, hasGo } from './go.ts'

const home = mkdtempSync(join(tmpdir(), 'proofstream-sigstore-'))
let child: ChildProcess | undefined
afterAll(async () => {
  await stopAuthority()
  rmSync(home, { recursive: true, force: true })
})

/** With a key and a chain of certificates of its own, which it writes to the file `name`. One at a time: its metrics have one port. */
async function startAuthority(name: string, ...more: readonly string[]): Promise<string> {
  const port = await freePort()
  const listen = ['--host', '127.0.0.1', '--port', String(port), '--disable-ntp-monitoring']
  child = spawn(join(home, 'timestamp-server'), ['serve', ...listen, ...more], { stdio: 'ignore', env: { HOME: home } })
  const address = `http://127.0.0.1:${port}/api/v1/timestamp`
  const chain = await until('its chain', async () => {
    if (child?.exitCode !== null) throw new Error('the authority has ended: is its port 2112 taken?')
    return await fetch(`${address}/certchain`).catch(() => undefined)
  })
  writeFileSync(join(home, name), await chain.text())
  return address
}

async function stopAuthority(): Promise<void> {
  if (child === undefined || child.exitCode !== null) return
  child.kill()
  await once(child, 'exit')
}

describe.skipIf(!hasGo || process.env['JUDGES'] !== 'all')('the time-stamp authority of Sigstore', () => {
  test('stamps heads, and verify takes the time by its chain and by no other', async () => {
    buildAuthority(home)
    // As its older releases answer.
    const url = await startAuthority('other.pem', '--use-http-201', '--include-chain-in-response')
    const asked = await askAuthority({ url, authorization: undefined }, 'a head', new AbortController().signal)
    expect(asked).toMatchObject({ kind: 'stamped' })
    await stopAuthority()

    const tsa = await startAuthority('chain.pem')
    const options = { 'ledger-origin': 'data.example/ledger', 'ledger-delay': '1s', tsa, 'tsa-interval': '1s' }
    const live = await startLiveNode(options)
    try {
      await live.ingest('acme/weather', [{ city: 'Oslo' }], '?create=true')
      const path = `/acme/weather/blocks/${String(await live.head('acme/weather'))}/proof?format=json`
      const proof = await until('a time stamp', async () => {
        const answer = await live.call(path)
        return answer.at('ledger.timestamp') === undefined ? undefined : answer.text
      })
      writeFileSync(join(home, 'proof.json'), proof)
      writeFileSync(join(home, 'policy'), `log ${String((await live.call('/ledger')).at('keys.0'))}\nquorum none\n`)
    } finally {
      await live.stop()
    }
    const verify = async (ca: string): Promise<unknown[]> => {
      const args = ['verify', 'proof.json', '--policy', 'policy', '--tsa-ca', ca]
      const { code, stdout } = await runCommand(args, { cwd: home })
      return [code, JSON.parse(stdout)]
    }
    expect(await verify('chain.pem')).toMatchObject([
      0,
      { verdict: 'included', timestamp: { authority: 'O=local, CN=Test TSA Timestamping' } },
    ])
    expect(await verify('other.pem')).toMatchObject([10, { verdict: 'altered' }])
  })
})
