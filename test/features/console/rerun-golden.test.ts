// The golden proofs of the dialect of the engine for browsers, judged by the page that runs questions again, in Chromium: a
// share verifies, the rest cannot be told, none is ever another output. docs/engines.md has the share.

import { describe, expect, test } from 'vitest'
import { dialect } from '../../../src/node/engine/messages.ts'
import { hasBrowserEngine } from '../../helpers/browser-engine.ts'
import { chromium } from '../../helpers/chromium.ts'
import { goldenFolder, goldenProofs } from '../../helpers/golden-proofs.ts'
import { proofNode } from '../../helpers/proof-node.ts'
import { PageBench } from './page-bench.ts'

const { live } = await proofNode([goldenFolder(dialect)])

describe.runIf(hasBrowserEngine && chromium !== undefined)('the page that runs questions again', () => {
  test('gets the output of golden proofs, or cannot tell, and never another one', async () => {
    const bench = await PageBench.open(live.node.url)
    const said: Record<string, string[]> = { same: [], unknown: [] }
    try {
      for (const { text, query } of goldenProofs(dialect)) (said[(await bench.judge(text)).outcome] ??= []).push(query)
    } finally {
      await bench.close()
    }
    const { same = [], unknown = [], ...others } = said
    expect(others).toEqual({})
    expect([same.length, unknown.length]).toEqual([539, 110])
  })
})
