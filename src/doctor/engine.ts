// Whether the query engine works on this machine: one query in a child process, as a node runs them.

import { openEngine } from '../engine/engine.ts'
import { systemClock } from '../lib/clock.ts'
import { decodeUtf8 } from '../lib/bytes.ts'
import { silentLogger } from '../lib/logger.ts'
import { type Check, fail, ok, reasonOf } from './finding.ts'

const answerWithinMs = 20_000
const reinstall = 'Install again for this system: npm ci.'

export const checkEngine: Check = async ({ limits }) => {
  try {
    const engine = await openEngine({
      processes: 1,
      queryMs: answerWithinMs,
      memoryBytes: limits.queryMemoryBytes,
      resultBytes: limits.resultBytes,
      queueLimit: 1,
      callerSharePercent: 100,
      isOpen: () => true,
      dataRoots: [],
      logger: silentLogger,
      clock: systemClock,
    })
    try {
      const signal = AbortSignal.timeout(answerWithinMs)
      const by = { caller: { key: ['doctor'], mayRead: () => true }, signal }
      const job = {
        analysis: await engine.analyze('select 6 * 7', by),
        tables: [],
        reproducible: false,
        dataFormat: 'JsonAoa',
        wantSchema: false,
        keyOrder: 'column' as const,
        ascii: false,
        skip: 0,
        limit: 1,
      }
      const answer = await engine.run(job, by)
      const text = decodeUtf8(answer.data)
      if (text !== '[[42]]') return [fail('engine', `DuckDB says that 6 * 7 is ${text.slice(0, 100)}.`, reinstall)]
    } finally {
      await engine.close()
    }
    return [ok('engine', 'DuckDB answers a query in a child process.')]
  } catch (error) {
    return [fail('engine', `DuckDB cannot be used: ${reasonOf(error)}`, reinstall)]
  }
}
