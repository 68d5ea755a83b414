// What the ledger shows to everybody: its head, its tiles, its statements, as C2SP's tlog-tiles names them, and how it is doing.
// Source: https://c2sp.org/tlog-tiles

import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { base64Text } from '../../libraries/base/base64.ts'
import { defined } from '../../libraries/base/collections.ts'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { parseHead } from '../../libraries/ledger/head.ts'
import { parseNote } from '../../libraries/ledger/note.ts'
import { parseTileName } from '../../libraries/ledger/tiles.ts'
import type { HttpContext } from '../../node/http/context.ts'
import { ledgerObjectKey } from '../../node/store/layout.ts'
import { originCodec } from './records.ts'
import type { KeeperState } from './keeper.ts'

/** How the keeper of this process is doing. */
export interface KeeperStatus {
  readonly state: KeeperState
  readonly delayMs: number
  /** Datasets with blocks that are not in the ledger, and since when the first of them waits. */
  readonly waiting: { readonly datasets: number; readonly sinceMs: number | undefined }
}

interface LedgerRoutes {
  readonly context: HttpContext
  readonly ledger: number
  readonly status: () => KeeperStatus | undefined
}

const immutable = 'public, max-age=31536000, immutable'

export function registerLedger(app: FastifyInstance, routes: LedgerRoutes): void {
  const { context, ledger } = routes
  const read = async (name: string): Promise<Uint8Array | undefined> => context.stored(ledgerObjectKey(ledger, name))
  const send = async (reply: FastifyReply, name: string, mediaType: string): Promise<FastifyReply> => {
    const bytes = await read(name)
    if (bytes === undefined) throw notThere(name)
    const caching = name === 'checkpoint' ? 'no-cache' : immutable
    return reply.header('cache-control', caching).type(mediaType).send(bytes)
  }
  app.get('/ledger', async (_request, reply) => {
    const origin = await read('origin')
    if (origin === undefined) {
      throw new NodeError('RouteNotFound', 'This node has no ledger.', {
        hint: 'Its operator begins one with --ledger-origin.',
      })
    }
    try {
      return await reply.header('cache-control', 'no-cache').send(aboutLedger(origin, await read('checkpoint'), routes))
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw new NodeError('StoreUnavailable', 'What the store has of the ledger is damaged.', {
        hint: 'Put ledger/origin back from a copy. A builder writes the head anew.',
        cause: error,
      })
    }
  })
  app.get('/ledger/checkpoint', (_request, reply) => send(reply, 'checkpoint', 'text/plain; charset=utf-8'))
  app.get(
    '/ledger/statements/:hash',
    {
      schema: {
        params: Type.Object({
          hash: Type.String({ maxLength: 100, description: 'SHA-256 of the statement, in hex.' }),
        }),
      },
    },
    (request, reply) => {
      const { hash } = request.params as { hash: string } // validated
      if (!/^[0-9a-f]{64}$/.test(hash)) throw notThere(`statements/${hash}`)
      return send(reply, `statements/${hash}`, 'application/json')
    },
  )
  app.get('/ledger/tile/*', { schema: { hide: true } }, (request, reply) => {
    const name = `tile/${(request.params as { '*': string })['*']}` // the path has one
    if (parseTileName(name) === undefined) throw notThere(name)
    return send(reply, name, 'application/octet-stream')
  })
}

function aboutLedger(
  originBytes: Uint8Array,
  headBytes: Uint8Array | undefined,
  { status, context }: LedgerRoutes,
): object {
  const { origin, key } = originCodec.decode(originBytes)
  const head = headBytes === undefined ? undefined : parseHead(parseNote(headBytes).text)
  const kept = status()
  const { state, delayMs, waiting } = kept ?? {}
  const seconds = waiting?.sinceMs === undefined ? 0 : Math.max(0, context.clock.nowMs() - waiting.sinceMs) / 1000
  const isLate = delayMs !== undefined && seconds * 1000 > delayMs
  return {
    origin,
    keys: [key],
    size: head?.size ?? 0,
    ...(head !== undefined && { root: base64Text(head.root), head: decodeUtf8(headBytes ?? new Uint8Array()) }),
    ...(state !== undefined && {
      delay: `${(delayMs ?? 0) / 1000}s`,
      state: state.kind === 'running' && isLate ? 'late' : state.kind,
      ...defined({ reason: state.kind === 'halted' ? state.reason : undefined }),
      behind: { datasets: waiting?.datasets ?? 0, seconds },
    }),
  }
}

function notThere(name: string): NodeError {
  return new NodeError('ObjectNotFound', `The ledger has no ${name.slice(0, 200)}.`, {
    hint: 'GET /ledger tells its size; tiles are named as C2SP tlog-tiles has them.',
  })
}
