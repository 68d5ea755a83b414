// Blocks of datasets as server-sent events, for one listener: its place in each chain, one piece after the other as fast as
// it reads them, a sign of life while nothing comes, and a last word where the stream ends. A listener that does not read waits at
// his place in the chains: nothing is held for him but the piece he has not taken.

import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import { concatBytes, utf8 } from '../../libraries/base/bytes.ts'
import type { Clock } from '../../libraries/base/clock.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { BlockEvents } from '../answers/block-events.ts'
import type { Follower, Followers, Place } from '../answers/followers.ts'
import { problemOf } from './problem.ts'

const rightsEveryMs = 5_000
const heartbeatEveryMs = 15_000
/** Events that wait already leave in pieces of about this size. */
const pieceBytes = 16 * 1024
/** What EventSource waits before it connects again. */
const reconnectMs = 1_000

const heartbeat = utf8(': \n\n')

export interface Listening {
  /** Left when the client has gone. */
  readonly follower: Follower
  readonly withRows: boolean
  /** Looks again whether the listener may read them. Throws NodeError. */
  readonly rights: () => Promise<void>
  readonly requestId: string
  /** Told of what is the node's own fault. */
  readonly onFault: (error: unknown) => void
}

interface StreamDeps {
  readonly clock: Clock
  readonly followers: Followers
  readonly events: BlockEvents
}

/**
 * The bytes of the stream. It begins with the place of the listener, so that a listener cut off before the first event misses
 * none, and ends with an event `end` that holds the problem: rights that are lost, a dataset that is gone, a node that
 * shuts down.
 */
export async function* eventStream(deps: StreamDeps, listening: Listening): AsyncGenerator<Uint8Array> {
  try {
    yield utf8(`retry: ${reconnectMs}\n${idLine(listening.follower.places)}\n`)
    yield* blocks(deps, listening)
  } catch (error) {
    const { body } = problemOf(error, listening.requestId)
    if (body['status'] === 500) listening.onFault(error)
    yield utf8(`event: end\ndata: ${JSON.stringify(body)}\n\n`)
  }
}

async function* blocks(deps: StreamDeps, listening: Listening): AsyncGenerator<Uint8Array> {
  const { clock, followers } = deps
  const { follower, rights } = listening
  let rightsAtMs = clock.monotonicMs() + rightsEveryMs
  let heartbeatAtMs = clock.monotonicMs() + heartbeatEveryMs
  let records = recordsOf(follower)
  while (follower.state === 'here') {
    if (followers.isDraining) throw draining()
    const nowMs = clock.monotonicMs()
    const isChanged = recordsOf(follower).some((record, index) => record !== records[index])
    if (isChanged || nowMs >= rightsAtMs) {
      records = recordsOf(follower)
      await rights()
      rightsAtMs = nowMs + rightsEveryMs
    }
    if (nowMs >= heartbeatAtMs) {
      yield heartbeat
      heartbeatAtMs = nowMs + heartbeatEveryMs
    }
    const piece = await nextPiece(deps.events, listening)
    if (piece !== undefined) yield piece
    else await followers.next(follower, Math.min(rightsAtMs, heartbeatAtMs) - clock.monotonicMs())
  }
}

/** What is known of who may read the datasets: another record, and rights are looked at before anything more is told. */
function recordsOf({ places }: Follower): readonly NameRecord[] {
  return places.map(({ chain }) => chain.name)
}

/** Events that are due, about a piece of them, or undefined where there is none. */
async function nextPiece(events: BlockEvents, listening: Listening): Promise<Uint8Array | undefined> {
  const { withRows } = listening
  const { places } = listening.follower
  const parts: Uint8Array[] = []
  let bytes = 0
  for (const place of places) {
    while (place.isBehind && bytes < pieceBytes) {
      const { whole, data } = await events.of(place.chain, place.seen + 1, withRows)
      place.seen++
      parts.push(...(places.length === 1 ? [whole] : [utf8(idLine(places)), data]))
      // Rows are worth sending as soon as they are there.
      bytes += withRows ? pieceBytes : whole.length
    }
  }
  const [first] = parts
  return parts.length === 1 ? first : parts.length === 0 ? undefined : concatBytes(parts)
}

/** Where the listener is: `id: did:odf:…:12,did:odf:…:7`. */
function idLine(places: readonly Place[]): string {
  return `id: ${places.map(({ chain, seen }) => `${chain.name.id}:${seen}`).join(',')}\n`
}

function draining(): NodeError {
  return new NodeError('Draining', 'The node is shutting down.', {
    hint: 'Connect again with the header Last-Event-ID: no block is missed.',
    retryAfterSeconds: 1,
  })
}
