// The OpenAPI 3.1 document, generated from the schemas that validate, and its pages from local assets.

import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { completeDocument } from './complete-document.ts'
import type { HttpContext } from './context.ts'
import { Problem } from './schemas.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Parts of the request that the handler reads by itself: described, not validated here. */
    readonly describes?: {
      readonly body?: object
      readonly consumes?: readonly string[]
      readonly headers?: object
    }
  }
}

/** Scripts, styles and pictures of the page come from this node, and so does all it fetches. Styles are set by script. */
const swaggerPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The pages bear our name, not that of the software that draws them. */
const wordmark = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="32"><text x="0" y="23" font-family="sans-serif" ' +
    'font-size="22" font-weight="bold" fill="#fff">Proofstream</text></svg>',
)
const icon = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b1b1b"/>' +
    '<path d="M4 8.5l3 3 5-7" fill="none" stroke="#fff" stroke-width="2"/></svg>',
)

const about =
  'A data node that can be held to account. Every GET route takes HEAD too; another method is 405 `MethodNotAllowed` with ' +
  '`Allow`, another path 404 `RouteNotFound`. Errors are problem details (RFC 9457); `/errors` explains each kind.'

/** Register before the routes. */
export async function registerDocument(app: FastifyInstance, context: Pick<HttpContext, 'facts'>): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Proofstream',
        version: context.facts.version,
        description: about,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: [
        { name: 'ingest', description: 'Records in' },
        { name: 'query', description: 'Answers and proofs out' },
        { name: 'datasets', description: 'What there is' },
        { name: 'odf', description: 'Stored objects, as Open Data Fabric clients pull them' },
        { name: 'tokens', description: 'Who may do what' },
        { name: 'node', description: 'What the node says of itself' },
      ],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{}, { token: [] }],
    },
    // The document is plain JSON; the plugin's type of it allows other versions too.
    transformObject: (made) => ('openapiObject' in made ? completeDocument({ ...made.openapiObject }, Problem) : {}),
    transform: ({ schema, url, route }) => {
      const { describes, right } = route.config ?? {}
      return {
        url,
        schema: {
          ...schema,
          ...describes,
          ...(right === undefined ? { security: [{}] } : right === 'read' ? {} : { security: [{ token: [] }] }),
        },
      }
    },
  })
  await app.register(swaggerUi, {
    routePrefix: '/swagger',
    uiConfig: { validatorUrl: null },
    logo: { type: 'image/svg+xml', content: wordmark },
    theme: {
      title: 'Proofstream',
      favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: icon }],
    },
    staticCSP: swaggerPolicy,
  })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
}
