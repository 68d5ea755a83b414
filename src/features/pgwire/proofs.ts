// Where the rows of a statement come signed: the address of the same question over HTTP, with its blocks pinned and its parameters
// written in as constants. A client gets it after the rows, and where it asks.

import { signedAddress, signedPath } from '../../libraries/columnar/outputs/signed-rows.ts'
import { PostgresFault } from '../../libraries/pgwire/report.ts'
import { statementOf } from '../../libraries/pgwire/session-words.ts'
import { withConstants, withLists } from '../../libraries/pgwire/constants.ts'
import { opened } from './open-portal.ts'
import { newPortal, type Portal } from './portals.ts'
import type { OpenRows } from './rows.ts'
import type { SessionView } from './session-view.ts'

/** Tells of the blocks that rows came from, and where they come signed. */
export function tellProof(session: SessionView, portal: Portal, rows: OpenRows): void {
  const { source } = rows
  if (source.heads.length === 0) return
  const found = addressOf(session, portal, rows)
  session.lastProof = found
  const blocks = source.heads.map(({ alias, block }) => `${alias}@${block}`).join(', ')
  session.notice('NOTICE', '00000', `proofstream: ${blocks} ${found}`)
}

/** The address of the statement before, or of one that is given. Throws PostgresFault 55000, and what the statement throws. */
export async function proofOf(session: SessionView, sql: string | undefined): Promise<string> {
  if (sql === undefined) {
    if (session.lastProof !== undefined) return session.lastProof
    throw new PostgresFault(
      '55000',
      'The statement before read no dataset to its end.',
      "Give it: proofstream_proof('SELECT …').",
    )
  }
  const statement = statementOf(sql)
  if (statement.kind !== 'select') throw new PostgresFault('42601', 'Only a SELECT has a proof.')
  const portal = newPortal({ sql: withLists(sql), statement, types: [] }, [], [], false)
  // One more than are signed tells that they are too many.
  const rows = await opened(session, portal, session.parts.context.limits.resultRows + 1)
  try {
    await session.running(async () => await rows.next(Number.POSITIVE_INFINITY, async () => {}), portal.ending)
  } finally {
    await rows.close()
  }
  return addressOf(session, portal, rows)
}

/** The address, or why there is none. */
function addressOf(
  { parts: { address, context } }: SessionView,
  { prepared: { sql, types }, values }: Portal,
  { count, source: { heads, isProvable, pins } }: OpenRows,
): string {
  if (heads.length === 0) return 'no proof: it reads no dataset'
  if (!isProvable) return 'no proof: its answer is not the same each time'
  const { resultRows } = context.limits
  if (count > resultRows) return `no address: at most ${resultRows} rows are signed, and these are ${count}`
  const path = signedPath({ heads: pins, sql: withConstants(sql, values, types), parameters: undefined, skip: 0 })
  if (path === undefined) return 'no address: the statement is too long for one; POST /query gives the proof'
  return address + signedAddress(path, resultRows)
}
