// Where addresses that answer programs in JSON answer browsers in HTML: a table of pages by route. A page is asked for
// after its caller is known and its parameters are valid, in the place of the route's own handler.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorPage, errorsPage } from './errors-page.ts'
import type { Page } from './layout.ts'
import { type LedgerAnswer, ledgerPage } from './ledger-page.ts'
import { packPageOf } from './pack-page.ts'
import { proofPage } from './proof-page.ts'
import { tokensPage } from './tokens-page.ts'
import { hostOf, type HttpContext, type PageContext, type ReplicaContext } from '../../node/http/context.ts'
import { wantsPage } from '../../node/http/html.ts'
import { htmlOf, sendHtml } from './send.ts'
import { addVary } from '../../node/http/origin-rules.ts'
import { blockPageOf } from './shown/block.ts'
import { datasetPageOf, datasetsPageOf, identityPageOf } from './shown/datasets.ts'
import { ingestPageOf } from './shown/ingest.ts'
import { nodePageOf } from './shown/node.ts'
import { queryPageOf } from './shown/query.ts'
import { rowPageOf } from './shown/row.ts'
import { savedQueriesPageOf, savedQueryPageOf } from './shown/saved-queries.ts'
import { answersInBoth, errorCatalogue, routeTexts } from '../../node/http/texts.ts'

/** The page of a request; undefined where the route's handler is to answer it, with an error. */
type PageOf = (
  from: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<Page | undefined> | Page | undefined

/** By the URL of a route. */
const pages: Readonly<Record<string, PageOf>> = {
  '/': datasetsPageOf,
  '/datasets': datasetsPageOf,
  '/datasets/:id': identityPageOf,
  '/:account/:dataset': datasetPageOf,
  '/:account/:dataset/blocks/:hash': blockPageOf,
  '/:account/:dataset/rows/:offset': rowPageOf,
  '/info': nodePageOf,
  '/tokens': async ({ context }) => tokensPage(await context.tokens.list(), context.clock.nowMs()),
  '/query': queryPageOf,
  '/q': savedQueriesPageOf,
  '/q/:name': savedQueryPageOf,
  '/ingest': ({ context }, request) => ingestPageOf(context, request),
  '/verify': () => proofPage,
  '/evidence-pack': (_from, request) => packPageOf(request),
  '/errors': () => errorsPage(errorCatalogue),
  '/errors/:kind': (_from, request) => {
    const { kind } = request.params as { kind: string } // validated by the route
    const found = errorCatalogue.find(({ page }) => page === `/errors/${kind}`)
    return found === undefined ? undefined : errorPage(found)
  },
}

/** Pages that are drawn from the very answer of their route. */
const pagesOfAnswers: Readonly<Record<string, (answer: object, host: string) => Page>> = {
  '/ledger': (answer, host) => ledgerPage(answer as LedgerAnswer, host), // as its route answers
}

/** Gives the routes of the tables their pages. Register before them. */
export function registerPages(app: FastifyInstance, context: HttpContext, reading: ReplicaContext | undefined): void {
  const from = { context, reading }
  app.addHook('onRoute', (route) => {
    const method = route.method === 'HEAD' ? 'get' : String(route.method).toLowerCase()
    const text = routeTexts.operations[`${method} ${route.url.replace(/:(\w+)/g, '{$1}')}`]
    if (text === undefined || !answersInBoth(text)) return
    route.config = { ...route.config, page: true }
    const drawn = pagesOfAnswers[route.url]
    if (drawn !== undefined) {
      route.preSerialization = async (request, reply, answer) => {
        addVary(reply, 'Accept')
        if (reply.statusCode !== 200 || !wantsPage(request)) return answer
        const text = htmlOf(reply, drawn(Object(answer), hostOf(context, request)))
        void reply.serializer(() => text)
        return answer
      }
    }
    const pageOf = pages[route.url]
    if (pageOf === undefined) return
    route.preHandler = async (request, reply) => {
      addVary(reply, 'Accept')
      const page = wantsPage(request) ? await pageOf(from, request, reply) : undefined
      return page === undefined ? undefined : sendHtml(reply, page)
    }
  })
}
