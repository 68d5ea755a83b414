// Completes the OpenAPI document that is generated from the routes: names, statuses, headers and error kinds from the
// table of operations, examples beside them.

import { must } from '../lib/assert.ts'
import type { ErrorKind } from '../model/error-table.ts'
import { errorCatalogue } from './error-pages.ts'
import { answerExamples, requestExamples } from './examples.ts'
import {
  type AnswerRow,
  errorsOfAll,
  type Operation,
  operations,
  requestHeaders,
  responseHeaders,
} from './operations.ts'

type Json = Record<string, unknown>

const catalogue = new Map(errorCatalogue.map((entry) => [entry.kind, entry]))
const headersOfAll = ['request-id', 'x-content-type-options', 'vary', 'content-encoding'] as const
const headersOfReads = ['access-control-allow-origin', 'access-control-expose-headers'] as const

/** The document with each operation completed. `problem` is the schema of error bodies. Fails on a route that the table lacks. */
export function completeDocument(document: Json, problem: object): Json {
  const paths: Json = {}
  for (const [path, item] of Object.entries(record(document['paths']))) {
    const methods = Object.entries(record(item)).map(([method, operation]) => {
      const key = `${method} ${path}`
      const row = must(operations[key], `the table of operations has ${key}`)
      return [method, completed(record(operation), row, { key, isRead: method === 'get' || isReadPost(key) })] as const
    })
    paths[path] = Object.fromEntries(methods)
  }
  const examples = errorCatalogue.map((entry) => [entry.kind.replaceAll(':', '.'), { value: entry.example.body }])
  const components = record(document['components'])
  return {
    ...document,
    paths,
    components: {
      ...components,
      schemas: { ...record(components['schemas']), Problem: problem },
      headers: Object.fromEntries(Object.entries(responseHeaders).map(([name, about]) => [name, headerOf(about)])),
      examples: Object.fromEntries(examples),
    },
  }
}

function isReadPost(key: string): boolean {
  return key === 'post /query' || key === 'post /verify'
}

function headerOf(description: string): Json {
  return { description, schema: { type: 'string' } }
}

function completed(operation: Json, row: Operation, { key, isRead }: { key: string; isRead: boolean }): Json {
  const shared = [...headersOfAll, ...(isRead ? headersOfReads : [])]
  const described = [operation['description'], row.about].filter((text) => typeof text === 'string')
  const parameters = [
    ...(Array.isArray(operation['parameters']) ? operation['parameters'] : []),
    ...(row.asks ?? []).map((name) => ({ name, in: 'header', ...headerOf(requestHeaders[name]) })),
  ]
  const made = record(operation['responses'])
  const answers = Object.entries(row.answers).map(([status, answer]) => {
    const schema = schemaOf(made[status] ?? made['200'])
    return [status, answerOf(answer, { schema, shared, example: answerExamples[`${row.id} ${status}`] })]
  })
  return {
    ...operation,
    operationId: row.id,
    ...(described.length === 0 ? {} : { description: described.join(' ') }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...withBodyExamples(operation['requestBody'], requestExamples(key)),
    responses: { ...Object.fromEntries(answers), ...errorResponses(row, shared) },
  }
}

function answerOf(
  answer: AnswerRow,
  { schema, shared, example }: { schema: unknown; shared: readonly string[]; example: unknown },
): Json {
  const media = answer.media ?? ['application/json']
  const content = media.map((type) => {
    const isJson = type === 'application/json'
    return [
      type,
      { schema: isJson ? schema : { type: 'string' }, ...(isJson && example !== undefined ? { example } : {}) },
    ]
  })
  return {
    description: answer.about,
    headers: headerRefs([...shared, ...(answer.headers ?? [])]),
    ...(content.length === 0 ? {} : { content: Object.fromEntries(content) }),
  }
}

/** One response per status of the kinds that the route may give; a status that the table of answers has keeps both. */
function errorResponses(row: Operation, shared: readonly string[]): Json {
  const byStatus = new Map<number, ErrorKind[]>()
  for (const kind of new Set([...errorsOfAll, ...row.errors])) {
    const { status } = must(catalogue.get(kind), `the catalogue has ${kind}`)
    byStatus.set(status, [...(byStatus.get(status) ?? []), kind])
  }
  const responses = [...byStatus].map(([status, kinds]) => [String(status), errorResponse(status, kinds, shared)])
  return Object.fromEntries(responses)
}

function errorResponse(status: number, kinds: readonly ErrorKind[], shared: readonly string[]): Json {
  const content: Record<string, { schema: object; examples: Json }> = {}
  for (const kind of kinds) {
    const type = must(catalogue.get(kind), 'known').example.mediaType.split(';')[0] ?? ''
    content[type] ??= { schema: { $ref: '#/components/schemas/Problem' }, examples: {} }
    content[type].examples[kind] = { $ref: `#/components/examples/${kind.replaceAll(':', '.')}` }
  }
  const headers = [
    ...shared,
    'cache-control',
    ...(status === 401 ? ['www-authenticate'] : []),
    ...(status === 416 ? ['content-range'] : []),
    ...(status === 429 || status === 503 ? ['retry-after'] : []),
    ...(status >= 400 ? ['connection'] : []),
  ]
  return {
    description: kinds.map((kind) => `\`${kind}\`: ${catalogue.get(kind)?.title}.`).join(' '),
    headers: headerRefs(headers),
    content,
  }
}

function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function withBodyExamples(body: unknown, examples: Readonly<Record<string, unknown>> | undefined): Json {
  if (body === undefined) return {}
  const content = Object.entries(record(record(body)['content'])).map(([type, media]) => {
    const example = examples?.[type]
    return [type, { ...record(media), ...(example === undefined ? {} : { example }) }]
  })
  return { requestBody: { ...record(body), content: Object.fromEntries(content) } }
}

function schemaOf(response: unknown): unknown {
  return record(record(record(response)['content'])['application/json'])['schema'] ?? {}
}

function record(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {} // an object of the document
}
