// The golden proofs of the dialect of the portable form, judged by it: a share verifies, the rest cannot be told, and none is ever
// another output. docs/engines.md has the share.

import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dialect } from '../../../src/node/engine/messages.ts'
import { hasBrowserEngine } from '../../helpers/browser-engine.ts'
import { goldenFolder, goldenProofs } from '../../helpers/golden-proofs.ts'
import { liveNode } from '../../helpers/live-node.ts'
import { PortableBench } from '../engine/portable-bench.ts'

const data = mkdtempSync(join(tmpdir(), 'proofstream-golden-'))
cpSync(join(goldenFolder(dialect), 'store'), join(data, 'store'), { recursive: true })
const live = await liveNode({ data, 'anonymous-read': 'true' })

describe.runIf(hasBrowserEngine)('the portable form', () => {
  test('gets the output of golden proofs, or cannot tell, and never another one', async () => {
    const bench = await PortableBench.open(live)
    const said = { same: 0, unknown: 0, other: [] as string[] }
    for (const { text, query } of goldenProofs(dialect)) {
      const verdict = await bench.judge(Buffer.from(text))
      if (verdict.outcome === 'other') said.other.push(`${query}: ${verdict.why}`)
      else said[verdict.outcome]++
    }
    console.log(`golden proofs in the portable form: ${said.same} the same, ${said.unknown} cannot be told`)
    expect(said.other).toEqual([])
    expect(said.same / (said.same + said.unknown)).toBeGreaterThan(0.82)
  })
})
