// The OpenAPI 3.1 document and its pages. Parameters and bodies are the schemas that validate, beside each route; names,
// statuses, headers, error kinds and examples come from texts/operations.json (docs/decisions/http.md).

import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { defined } from '../../libraries/base/collections.ts'
import type { Formats } from '../../libraries/formats/registry.ts'
import { must } from '../../libraries/base/assert.ts'
import type { ErrorKind } from '../../libraries/base/error-table.ts'
import type { HttpContext } from './context.ts'
import { answersInBoth, type AnswerText, errorCatalogue, errorsOf, type OperationText, routeTexts } from './texts.ts'

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
/** What the page lacks for a telephone: the width of the window, and a way back to the node. */
const script = `const viewport = { name: 'viewport', content: 'width=device-width, initial-scale=1' }
document.head.append(Object.assign(document.createElement('meta'), viewport))
document.body.prepend(Object.assign(document.createElement('a'), { className: 'home', href: '/', textContent: '← Proofstream' }))
`
const style = `.home { display: inline-block; padding: 8px 20px; font-family: sans-serif }
.swagger-ui .response-col_links { display: none }
.swagger-ui .opblock-body, .swagger-ui .models { overflow-x: auto }
`

/** Register before the routes. */
export async function registerDocument(
  app: FastifyInstance,
  context: Pick<HttpContext, 'facts' | 'formats' | 'outputs'>,
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Proofstream',
        version: context.facts.version,
        description: routeTexts.about,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{}, { token: [] }],
    },
    // The document is plain JSON; the plugin's type of it allows other versions too.
    transformObject: (made) =>
      'openapiObject' in made
        ? completeDocument({ ...made.openapiObject }, { ...context, hasPages: app.pages !== undefined })
        : {},
    transform: ({ schema, url, route }) => {
      const { describes, right } = route.config ?? {}
      const security = right === undefined ? [{}] : [{ token: [] }]
      return { url, schema: { ...schema, ...describes, ...(right === 'read' ? {} : { security }) } }
    },
  })
  await app.register(swaggerUi, {
    routePrefix: '/swagger',
    uiConfig: { validatorUrl: null },
    logo: { type: 'image/svg+xml', content: wordmark },
    theme: {
      title: 'Proofstream',
      css: [{ filename: 'page.css', content: style }],
      js: [{ filename: 'page.js', content: script }],
      favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: icon }],
    },
    staticCSP: swaggerPolicy,
  })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
}

type Json = Record<string, unknown>
type Listed = Pick<HttpContext, 'formats' | 'outputs'>

const catalogue = new Map(errorCatalogue.map((entry) => [entry.kind, entry]))
const headersOfAll = ['request-id', 'x-content-type-options', 'vary', 'content-encoding'] as const
const headersOfReads = ['access-control-allow-origin', 'access-control-expose-headers'] as const

/** The document with each operation completed. Fails on a route that the texts lack. */
function completeDocument(document: Json, { hasPages, ...of }: Listed & { readonly hasPages: boolean }): Json {
  const paths: Json = {}
  const tags = new Set<string>()
  for (const [path, item] of Object.entries(record(document['paths']))) {
    const methods = Object.entries(record(item)).map(([method, operation]) => {
      const key = `${method} ${path}`
      const text = must(routeTexts.operations[key], `texts/operations.json has ${key}`)
      tags.add(text.tag)
      const renames = /{dataset}|{collection}/.test(path) && method !== 'put' ? { 308: routeTexts.answerOfRenamed } : {}
      const { answers } = hasPages ? text : withoutPages(text)
      const told = { ...text, answers: { ...answers, ...renames } }
      const isRead = method === 'get' || isReadPost(key)
      return [method, completed(record(operation), told, { isRead, ...of })] as const
    })
    paths[path] = Object.fromEntries(methods)
  }
  const examples = errorCatalogue.map((entry) => [entry.kind.replaceAll(':', '.'), { value: entry.example.body }])
  const components = record(document['components'])
  return {
    ...document,
    tags: routeTexts.tags.filter(({ name }) => tags.has(name)),
    paths,
    components: {
      ...components,
      schemas: { ...record(components['schemas']), Problem: routeTexts.schemas['Problem'] },
      headers: Object.fromEntries(
        Object.entries(routeTexts.responseHeaders).map(([name, about]) => [name, headerOf(about)]),
      ),
      examples: Object.fromEntries(examples),
    },
  }
}

/** The answers of a node that has no pages for browsers. */
function withoutPages({ answers }: OperationText): Pick<OperationText, 'answers'> {
  const told = Object.entries(answers).map(([status, answer]): [string, AnswerText] => {
    const { media = [], ...others } = answer
    const left = media.filter((type) => type !== 'text/html')
    return [status, left.length === media.length ? answer : { ...others, ...(left.length > 0 && { media: left }) }]
  })
  return { answers: Object.fromEntries(told) }
}

function isReadPost(key: string): boolean {
  return key === 'post /query' || key === 'post /verify'
}

function headerOf(description: string): Json {
  return { description, schema: { type: 'string' } }
}

function completed(
  operation: Json,
  text: OperationText,
  { isRead, formats, outputs }: Listed & { readonly isRead: boolean },
): Json {
  const shared = [...headersOfAll, ...(isRead ? headersOfReads : [])]
  const description = text.about ?? operation['description']
  const parameters = [
    ...(Array.isArray(operation['parameters']) ? operation['parameters'] : []),
    ...(text.asks ?? []).map((name) => ({ name, in: 'header', ...headerOf(routeTexts.requestHeaders[name] ?? '') })),
  ]
  const answers = Object.entries(text.answers).map(([status, answer]) => [status, answerOf(answer, shared, outputs)])
  return {
    ...operation,
    operationId: text.id,
    tags: [text.tag],
    summary: text.summary,
    ...defined({ description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(operation['requestBody'], text, formats),
    responses: joined(Object.fromEntries(answers), errorResponses(text, shared)),
  }
}

function answerOf(answer: AnswerText, shared: readonly string[], { files: known }: Listed['outputs']): Json {
  const { example, media = ['application/json'] } = answer
  const files = answer.files === true ? known.flatMap(({ mediaTypes }) => mediaTypes.map(bareType)) : []
  const ofMedia = media.map((type) => {
    if (!isJson(type)) return [type, { schema: { type: 'string' } }]
    return [type, { schema: schemaOf(answer.schema), ...defined({ example }) }]
  })
  const ofFiles = files.map((type) => [type, { schema: isJson(type) ? {} : { type: 'string' } }])
  const content = [...ofMedia, ...ofFiles]
  return {
    description: answer.about,
    headers: headerRefs([...shared, ...(answer.headers ?? [])]),
    ...(content.length === 0 ? {} : { content: Object.fromEntries(content) }),
  }
}

function isJson(mediaType: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(mediaType)
}

function bareType(mediaType: string): string {
  return mediaType.split(';')[0] ?? ''
}

/** The responses of both; one whose status both have may be either. */
function joined(answers: Json, errors: Json): Json {
  const both = { ...answers, ...errors }
  for (const status of Object.keys(answers).filter((one) => one in errors)) {
    const [answer, error] = [record(answers[status]), record(errors[status])]
    const description = `${String(answer['description'])} Or ${String(error['description'])}`
    const headers = { ...record(answer['headers']), ...record(error['headers']) }
    both[status] = { description, headers, content: { ...record(answer['content']), ...record(error['content']) } }
  }
  return both
}

/** One response per status of the kinds that the route may give. */
function errorResponses(text: OperationText, shared: readonly string[]): Json {
  const byStatus = new Map<number, ErrorKind[]>()
  for (const kind of new Set([...routeTexts.errorsOfAll, ...errorsOf(text)])) {
    const { status } = must(catalogue.get(kind), `the catalogue has ${kind}`)
    byStatus.set(status, [...(byStatus.get(status) ?? []), kind])
  }
  const isPage = answersInBoth(text)
  const responses = [...byStatus].map(([status, kinds]) => [
    String(status),
    withBody(errorResponse(status, { kinds, shared, isPage }), text.errorSchema),
  ])
  return Object.fromEntries(responses)
}

function errorResponse(
  status: number,
  {
    kinds,
    shared,
    isPage,
  }: { readonly kinds: readonly ErrorKind[]; readonly shared: readonly string[]; readonly isPage: boolean },
): Json {
  const content: Record<string, { schema: object; examples?: Json }> = {}
  for (const kind of kinds) {
    const type = must(catalogue.get(kind), 'known').example.mediaType.split(';')[0] ?? ''
    const media = (content[type] ??= { schema: { $ref: '#/components/schemas/Problem' } })
    media.examples = { ...media.examples, [kind]: { $ref: `#/components/examples/${kind.replaceAll(':', '.')}` } }
  }
  if (isPage) content['text/html'] = { schema: { type: 'string' } }
  const headers = [
    ...shared,
    'cache-control',
    ...(status === 401 ? ['www-authenticate'] : []),
    ...(kinds.includes('RecordsDoNotFit') ? ['ingest-warnings'] : []),
    ...(status === 416 ? ['content-range'] : []),
    ...(status === 429 || status === 503 || kinds.includes('NotYetInLedger') ? ['retry-after'] : []),
    ...(status >= 400 ? ['connection'] : []),
    ...(isPage ? ['content-security-policy', 'referrer-policy'] : []),
  ]
  return {
    description: kinds.map((kind) => `\`${kind}\`: ${catalogue.get(kind)?.title}.`).join(' '),
    headers: headerRefs(headers),
    content,
  }
}

/** The response with errors of another schema, if any. */
function withBody(response: Json, schema: string | undefined): Json {
  return schema === undefined
    ? response
    : { ...response, content: { 'application/json': { schema: schemaOf(schema) } } }
}

function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function ingestExamples(formats: Formats): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    formats.all.flatMap((format) =>
      format.kind === 'file' || format.example === '' ? [] : [[format.mediaTypes[0], format.example]],
    ),
  )
}

/** The body as a route validates or describes it, else as the texts do, with the examples of the texts. */
function requestBody(made: unknown, { id, body, bodyExample }: OperationText, formats: Formats): Json {
  const examples: Readonly<Record<string, unknown>> =
    id === 'ingest' ? ingestExamples(formats) : { 'application/json': bodyExample }
  const ofText = { required: true, content: { 'application/json': { schema: schemaOf(body) } } }
  const described = made ?? (body === undefined ? undefined : ofText)
  if (described === undefined) return {}
  const content = Object.entries(record(record(described)['content'])).map(([type, media]) => {
    return [type, { ...record(media), ...(examples[type] === undefined ? {} : { example: examples[type] }) }]
  })
  return { requestBody: { ...record(described), content: Object.fromEntries(content) } }
}

/** The schema of that name; one of several; any JSON. */
function schemaOf(name: string | readonly string[] | undefined): unknown {
  if (name === undefined) return {}
  if (typeof name !== 'string') return { anyOf: name.map(schemaOf) }
  return must(routeTexts.schemas[name], `texts/operations.json has the schema ${name}`)
}

function record(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {} // an object of the document
}
