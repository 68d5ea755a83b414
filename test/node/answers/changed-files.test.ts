// Slices that somebody writes to while their node runs: what is asked then is answered from the rows of the chain or refused
// with the way out, and answered again once the bytes are put back. The oracle is the answer of before.

import { readFile, rm, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { filesOf } from '../../features/follow/damage.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
const places = 24
let asked = 0

/** A statement that is new to the node, so that nothing is kept of it. */
async function ask(): Promise<string> {
  const sql = `select count(*), sum(n), md5(string_agg(t, ',' order by "offset")) from "acme/goods" where ${++asked} > 0`
  const answer = await live.query(sql)
  return answer.status === 200 ? JSON.stringify(answer.at('output.data')) : `${answer.refusal} ${answer.at('hint')}`
}

test('a bit that changes in a slice is no other row', async () => {
  const rows = Array.from({ length: 3000 }, (_, n) => ({ n, t: `name ${(n * 7919) % 104_729}` }))
  await live.ingest('acme/goods', rows, '?create=true')
  const whole = await ask()
  const [path = ''] = await filesOf(live.dataDir, 'data')
  const bytes = await readFile(path)
  const write = async (some: Uint8Array): Promise<void> => {
    await rm(path)
    await writeFile(path, some)
  }
  for (let i = 0; i < places; i++) {
    const changed = Buffer.from(bytes)
    const at = Math.floor((bytes.length * (i + 0.5)) / places)
    changed.writeUInt8(changed.readUInt8(at) ^ 4, at)
    await write(changed)
    expect([i, await ask()]).toEqual([i, expect.stringMatching(/^500 Internal .*proofstream fsck.*put.* back/)])
    await write(bytes)
    expect([i, await ask()]).toEqual([i, whole])
  }
})
