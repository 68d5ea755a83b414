// What a node tells of its ledger: who it is, how large, how late, and which witnesses have cosigned the head that it shows.

import { base64Text } from '../../libraries/base/base64.ts'
import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { type Clock, timeText } from '../../libraries/base/clock.ts'
import { defined } from '../../libraries/base/collections.ts'
import { parseHead } from '../../libraries/ledger/head.ts'
import { parseNote } from '../../libraries/ledger/note.ts'
import type { Policy } from '../../libraries/ledger/policy.ts'
import { verifierKeyText } from '../../libraries/ledger/verifier-key.ts'
import { ledgerFolder, ledgerObjectKey } from '../../node/store/layout.ts'
import type { AskedWitness } from './asked-witness.ts'
import type { KeeperState } from './keeper.ts'
import { ledgerRecord } from './identity.ts'
import { policyOf } from './policy-file.ts'
import { quorumOver, readHead } from './stored-ledger.ts'
import type { Publisher } from './publisher.ts'
import { originCodec } from './records.ts'
import type { SetAside, WaitingLoad } from './waiting.ts'
import { newestStamps } from './time-stamps.ts'

/** How the keeper of this process is doing. */
export interface KeeperStatus {
  readonly state: KeeperState
  readonly delayMs: number
  /** Undefined: heads without their quorum are never shown. */
  readonly waitMs: number | undefined
  readonly waiting: WaitingLoad
  readonly unshown: Publisher['unshown']
  readonly aside: Pick<SetAside, 'datasets' | 'sinceMs' | 'has'>
  readonly witnesses: readonly AskedWitness[]
}

export interface Told {
  readonly get: (key: string) => Promise<Uint8Array | undefined>
  readonly clock: Clock
  /** Number of the newest ledger of the store. */
  readonly ledger: number
  readonly status: KeeperStatus | undefined
  /** That of the options, of every ledger. */
  readonly policy: Policy | undefined
  /** Hash of the newest statement. */
  readonly statement: () => Promise<string | undefined>
}

/** How many blocks no head has that is shown, and how long the first of them waits; without those that are set aside. */
export function behindOf({ waiting, unshown }: KeeperStatus, clock: Clock): { blocks: number; seconds: number } {
  const waitsMs = [clock.nowMs() - (waiting.sinceMs ?? clock.nowMs()), unshownMs(unshown, clock)]
  return { blocks: waiting.blocks + unshown.entries, seconds: Math.max(0, ...waitsMs) / 1000 }
}

function unshownMs({ sinceMs }: KeeperStatus['unshown'], clock: Clock): number {
  return sinceMs === undefined ? 0 : clock.monotonicMs() - sinceMs
}

/** A ledger that is late promises nothing. */
export function standingOf(status: KeeperStatus, clock: Clock): 'running' | 'late' | 'halted' {
  const { state, delayMs, waitMs = 0, waiting, unshown } = status
  if (state.kind === 'halted') return 'halted'
  const isLate = clock.nowMs() - (waiting.sinceMs ?? clock.nowMs()) > delayMs
  const isUnshown = unshownMs(unshown, clock) > delayMs + waitMs
  return state.kind !== 'running' || isLate || isUnshown ? 'late' : 'running'
}

/** What `GET /ledger` and `/readyz` say of the keeper. */
export function toldKeeper(status: KeeperStatus, { clock, policy }: Pick<Told, 'clock' | 'policy'>): object {
  const { datasets, sinceMs } = status.aside
  const seconds = Math.max(0, clock.nowMs() - (sinceMs ?? clock.nowMs())) / 1000
  return {
    state: standingOf(status, clock),
    ...defined({ reason: reasonOf(status, policy) }),
    behind: behindOf(status, clock),
    ...(datasets > 0 && { aside: { datasets, seconds } }),
  }
}

/** What `GET /ledger` says. Throws DecodeError where the store has damaged records of it. */
export async function aboutLedger(told: Told): Promise<object> {
  const { get, ledger, status } = told
  const bytes = (await get(ledgerObjectKey(ledger, 'origin'))) ?? new Uint8Array()
  const { origin, key } = originCodec.decode(bytes)
  const headBytes = await get(ledgerObjectKey(ledger, 'checkpoint'))
  const head = headBytes && parseHead(parseNote(headBytes).text)
  return {
    origin,
    keys: [key],
    path: `/${ledgerFolder(ledger)}`,
    size: head?.size ?? 0,
    ...(head !== undefined && { root: base64Text(head.root), head: decodeUtf8(headBytes ?? new Uint8Array()) }),
    ...defined({ statement: await told.statement() }),
    ...(status && { delay: `${status.delayMs / 1000}s`, ...toldKeeper(status, told) }),
    ...aboutWitnesses(told, key, headBytes),
    timestamps: await newestStamps(told, ledger),
    former: await formerLedgers(told),
  }
}

function reasonOf({ state, aside }: KeeperStatus, policy: Policy | undefined): string | undefined {
  if (state.kind === 'halted') return state.reason
  if (state.kind === 'unconfirmed')
    return 'No quorum of witnesses has said since the start that it holds no larger tree.'
  if (state.kind === 'stuck') return 'The ledger cannot be kept up; the log of the node says why.'
  if (aside.datasets > 0) return 'Some datasets cannot be entered now; the log of the node says which, and why.'
  return policy === undefined ? 'Without a policy nobody outside knows what this ledger was.' : undefined
}

function aboutWitnesses({ status, policy }: Told, key: string, headBytes: Uint8Array | undefined): object {
  const own = policyOf(key, policy)
  const head = readHead(own, headBytes)
  return {
    quorum: quorumOver(own, head ?? { lines: new Map() }),
    witnesses: own.witnesses.map((witness) => {
      const asked = status?.witnesses.find((one) => one.witness.name === witness.name)
      const at = asked?.cosignedAt ?? head?.lines.get(witness.name)?.at
      return {
        name: witness.name,
        key: verifierKeyText(witness.key),
        state: asked?.state ?? 'not asked',
        ...defined({ at: at === undefined ? undefined : secondsText(at) }),
      }
    }),
  }
}

/** Witnesses say what they like: a time beyond the calendar is told as none. */
function secondsText(seconds: number): string | undefined {
  return seconds <= 253_402_300_799 ? timeText(seconds * 1000) : undefined
}

async function formerLedgers(told: Told): Promise<object[]> {
  const former: object[] = []
  for (let ledger = 1; ledger < told.ledger; ledger++) {
    const record = await ledgerRecord(told, ledger)
    if (record === undefined) continue
    const head = readHead(policyOf(record.key), await told.get(ledgerObjectKey(ledger, 'checkpoint')))
    former.push({ origin: record.origin, keys: [record.key], size: head?.head.size ?? 0 })
  }
  return former
}
