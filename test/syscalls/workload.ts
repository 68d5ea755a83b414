// What runs under strace: from an empty directory through ingest to commit, once. Each answer is one JSON line on
// standard output, written before the next request is sent.

import { writeSync } from 'node:fs'
import type { Answer } from '../history/history.ts'
import { errorTable } from '../../src/libraries/base/error-table.ts'
import { NodeError } from '../../src/libraries/base/errors.ts'
import { type Core, openCore } from './core.ts'
import { type Line, postsOf, type WorkPost } from './posts.ts'

const [dir = ''] = process.argv.slice(2)

function say(line: Line): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

async function answerTo(core: Core, { alias, body, headers }: WorkPost): Promise<Answer> {
  try {
    const answer = await core.post(alias, body, headers)
    if ('dryRun' in answer.body) return { kind: 'refused', error: 'a dry run' }
    const { receiptId, block, offsets } = answer.body
    return {
      kind: 'ok',
      receiptId,
      ...(block === undefined ? {} : { block }),
      ...(offsets === undefined ? {} : { offsets }),
    }
  } catch (error) {
    if (!(error instanceof NodeError)) return { kind: 'unknown', error: String(error) }
    return { kind: errorTable[error.kind].status === 500 ? 'unknown' : 'refused', error: error.kind }
  }
}

// A node that cannot go on ends itself.
const core = await openCore(dir, () => process.exit(3))
for (const turn of postsOf()) {
  await Promise.all(turn.map(async (work) => say({ id: work.id, answer: await answerTo(core, work) })))
}
await core.stop()
say({ id: 'stopped', answer: undefined })
