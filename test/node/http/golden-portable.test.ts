// The golden proofs of the dialect of the portable form, judged by it in Node.js and by the page that runs questions again in
// Chromium: a share verifies, the rest cannot be told, none is ever another output, and both say the same. docs/engines.md has the share.

import { beforeAll, describe, expect, test } from 'vitest'
import { cleanText } from '../../../src/libraries/base/clean-text.ts'
import { dialect } from '../../../src/node/engine/messages.ts'
import { PageBench } from '../../features/console/page-bench.ts'
import { hasBrowserEngine } from '../../helpers/browser-engine.ts'
import { chromium } from '../../helpers/chromium.ts'
import { runsWith } from '../../helpers/features.ts'
import { goldenFolder, goldenProofs } from '../../helpers/golden-proofs.ts'
import { proofNode } from '../../helpers/proof-node.ts'
import { PortableBench } from '../engine/portable-bench.ts'

const { live } = await proofNode([goldenFolder(dialect)])
const proofs = goldenProofs(dialect)

interface Said {
  readonly query: string
  readonly outcome: string
  readonly why: string
}

describe.runIf(hasBrowserEngine)('the portable form', () => {
  /** What Node.js says of each proof. */
  const inNode: Said[] = []

  beforeAll(async () => {
    const bench = await PortableBench.open(live)
    for (const { text, query } of proofs) {
      const { outcome, why } = await bench.judge(Buffer.from(text))
      inNode.push({ query, outcome, why: cleanText(why) })
    }
  })

  test('gets the output of golden proofs, or cannot tell, and never another one', () => {
    const of = (wanted: string): Said[] => inNode.filter(({ outcome }) => outcome === wanted)
    expect(of('other')).toEqual([])
    expect([of('same').length, of('unknown').length]).toEqual([539, 109])
  })

  test.runIf(chromium !== undefined && runsWith('console'))(
    'says of each in Chromium what it says in Node.js',
    async () => {
      const bench = await PageBench.open(live.node.url)
      const inPage: Said[] = []
      try {
        for (const { text, query } of proofs) inPage.push({ query, ...(await bench.judge(text)) })
      } finally {
        await bench.close()
      }
      expect(inPage).toEqual(inNode)
    },
  )
})
