// A node over stores that were kept, to which old proofs are sent. For all tests of a file: stopped, and its data removed, after them.

import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { type Answer, type LiveNode, startLiveNode } from './live-node.ts'

export interface ProofNode {
  readonly live: LiveNode
  /** Anybody may ask. */
  readonly verify: (proof: string) => Promise<Answer>
}

/** Over the directory `store` of each of the folders, as one. */
export async function proofNode(folders: readonly string[]): Promise<ProofNode> {
  const data = mkdtempSync(join(tmpdir(), 'proofstream-proofs-'))
  for (const folder of folders) cpSync(join(folder, 'store'), join(data, 'store'), { recursive: true })
  const live = await startLiveNode({ data, 'anonymous-read': 'true' })
  afterAll(async () => {
    await live.stop()
    rmSync(data, { recursive: true, force: true })
  })
  const headers = { 'content-type': 'application/json' }
  return { live, verify: (body) => live.call('/verify', { method: 'POST', token: null, headers, body }) }
}
