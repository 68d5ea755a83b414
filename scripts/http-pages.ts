// Reference pages of the HTTP interface: docs/errors.md from the error catalogue, docs/http-api.md from the OpenAPI
// document of a node that is started for it. `generate.ts` keeps them fresh.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../src/app/config.ts'
import { errorCatalogue, type ErrorEntry, routeTexts } from '../src/node/http/texts.ts'
import { startNode } from '../src/app/node.ts'
import { sqlStates } from '../src/libraries/pgwire/report.ts'

const generated = '<!-- Written by `npm run generate`. -->'

/** docs/errors.md */
export function errorsPage(): string {
  return page([
    '# Errors',
    '',
    generated,
    '',
    'Every error has a JSON body: problem details (RFC 9457) with `error.kind`, one of the kinds below. A node serves',
    'this page at `/errors` and `/errors/{kind}`, and `type` in each body is the path of its page. Only *retryable* errors',
    'may succeed when the same request is repeated. `Retry-After` says when.',
    '',
    '4xx means that nothing was stored. After `OutcomeUnknown`, repeat with the same `Idempotency-Key`.',
    '',
    '| Status | Kinds |',
    '|---|---|',
    ...[...new Set(errorCatalogue.map((entry) => entry.status))].map((status) => {
      const entries = errorCatalogue.filter((entry) => entry.status === status)
      return `| ${status} | ${entries.map((entry) => `[${entry.kind}](#${anchor(entry)})`).join(' ')} |`
    }),
    '',
    '## SQLSTATEs',
    '',
    'Programs that speak to PostgreSQL ([bi.md](bi.md)) get these instead of kinds. All others are XX000.',
    '',
    '| SQLSTATE | Kinds |',
    '|---|---|',
    ...[...new Set<string>(Object.values(sqlStates))].sort().map((state) => {
      const kinds = Object.entries(sqlStates).flatMap(([kind, own]) => (own === state ? [kind] : []))
      return `| ${state} | ${kinds.join(', ')} |`
    }),
    '',
    `SqlUnknownName is ${sqlStates.SqlUnknownName} for a column and 42883 for a function. SqlValue is 22P02 for a text that cannot be read, 22003 for a number`,
    'beyond its type, 22012 for a division by zero.',
    ...errorCatalogue.flatMap((entry) => ['', ...errorSection(entry)]),
  ])
}

function errorSection(entry: ErrorEntry): string[] {
  return [
    `## ${entry.kind}`,
    '',
    `**${entry.status}**${entry.retryable ? ', *retryable*' : ''}. ${entry.title}.`,
    '',
    markdown(entry.meaning),
    '',
    `**What to do.** ${markdown(entry.fix)}`,
    '',
    '```json',
    JSON.stringify(entry.example.body),
    '```',
  ]
}

/** As the common renderers make it of a heading. */
function anchor(entry: ErrorEntry): string {
  return entry.kind.toLowerCase().replaceAll(':', '')
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
}

interface Schema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

interface Content {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: object
}

interface Answer {
  readonly description: string
  readonly headers?: object
  readonly content?: Readonly<Record<string, Content>>
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, Answer>>
  readonly security?: readonly object[]
}

interface Document {
  readonly info: { readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** docs/http-api.md */
export async function httpApiPage(): Promise<string> {
  const { info, tags, paths } = await openApiDocument()
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, operation })),
  )
  return page([
    '# HTTP interface',
    '',
    generated,
    '',
    `${info.description} A running node serves this as OpenAPI 3.1 at \`/openapi.json\`, and as pages at \`/swagger\`.`,
    '',
    'The header `Authorization: Bearer <token>` has the token. Every answer has `Request-Id`. Every error is one of the',
    'kinds of [errors.md](errors.md). Each route below names its kinds, except for these, which any route may answer:',
    `${links(routeTexts.errorsOfAll)}.`,
    ...tags.flatMap((tag) => [
      '',
      `## ${tag.description}`,
      ...operations
        .filter(({ operation }) => operation.tags.includes(tag.name))
        .flatMap(({ title, operation }) => ['', ...operationSection(title, operation)]),
    ]),
  ])
}

function operationSection(title: string, operation: Operation): string[] {
  const parameters = operation.parameters ?? []
  const answers = Object.entries(operation.responses).filter(([, answer]) => kindsOf(answer).length === 0)
  const common: readonly string[] = routeTexts.errorsOfAll
  const errors = Object.values(operation.responses)
    .flatMap(kindsOf)
    .filter((kind) => !common.includes(kind))
  return [
    `### \`${title}\``,
    '',
    `${[operation.summary, operation.description]
      .filter((text) => text !== undefined)
      .map(sentence)
      .join(' ')} ${access(operation)}`,
    ...(parameters.length === 0 ? [] : ['', '| Parameter | In | Meaning |', '|---|---|---|']),
    ...parameters.map(
      (one) =>
        `| \`${one.name}\`${one.required === true ? ' (required)' : ''} | ${one.in} | ${cell(one.description ?? '')} |`,
    ),
    ...(operation.requestBody === undefined ? [] : bodySection(operation.requestBody.content)),
    '',
    '| Status | Meaning | Headers |',
    '|---|---|---|',
    ...answers.map(([status, answer]) => `| ${status} | ${cell(answer.description)} | ${headersOf(answer)} |`),
    '',
    ...(errors.length === 0 ? [] : [`Errors: ${links(errors)}.`]),
    ...exampleSection(operation.responses),
  ]
}

function access({ security = [{}, {}] }: Operation): string {
  const open = security.some((one) => Object.keys(one).length === 0)
  if (!open) return 'Needs a token.'
  return security.length === 1 ? 'Open to all.' : 'Needs a token unless the node lets anyone read.'
}

function bodySection(content: Readonly<Record<string, Content>>): string[] {
  return Object.entries(content).flatMap(([type, { schema, example }]) => [
    '',
    `Body \`${type}\`${example === undefined && schema.properties === undefined ? '.' : ':'}`,
    ...memberSection(schema),
    ...(example === undefined ? [] : ['', ...fenced(type, example)]),
  ])
}

function memberSection({ properties, required = [] }: Schema): string[] {
  if (properties === undefined) return []
  const rows = Object.entries(properties).map(
    ([name, { description = '' }]) =>
      `| \`${name}\`${required.includes(name) ? ' (required)' : ''} | ${cell(description)} |`,
  )
  return ['', '| Member | Meaning |', '|---|---|', ...rows]
}

function exampleSection(responses: Readonly<Record<string, Answer>>): string[] {
  return Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.entries(content).flatMap(([type, { example }]) =>
      example === undefined ? [] : ['', `Answer ${status}, for instance:`, '', ...fenced(type, example)],
    ),
  )
}

function fenced(type: string, example: unknown): string[] {
  const text = typeof example === 'string' ? example.trimEnd() : JSON.stringify(example)
  return [type.endsWith('json') ? '```json' : '```', text, '```']
}

/** Kinds of an error answer; none for others. */
function kindsOf(answer: Answer): string[] {
  return Object.values(answer.content ?? {}).flatMap(({ examples }) => Object.keys(examples ?? {}))
}

function links(kinds: readonly string[]): string {
  const entries = errorCatalogue.filter((entry) => kinds.includes(entry.kind))
  return entries.map((entry) => `[${entry.kind}](errors.md#${anchor(entry)})`).join(' ')
}

const headersOfAll = new Set([
  'request-id',
  'x-content-type-options',
  'vary',
  'content-encoding',
  'access-control-allow-origin',
  'access-control-expose-headers',
])

function headersOf({ headers = {} }: Answer): string {
  const names = Object.keys(headers).filter((name) => !headersOfAll.has(name))
  return names.map((name) => `\`${name}\``).join(' ')
}

/** The document of a node with the default options. */
async function openApiDocument(): Promise<Document> {
  const data = await mkdtemp(join(tmpdir(), 'proofstream-generate-'))
  const node = await startNode(loadConfig({ data, listen: '127.0.0.1:0', 'log-level': 'silent' }))
  try {
    const answer = await fetch(`${node.url}/openapi.json`)
    return (await answer.json()) as Document // what the node's tests check
  } finally {
    await node.stop()
    await rm(data, { recursive: true, force: true })
  }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** Placeholders such as <token> are text, not tags. */
function markdown(text: string): string {
  return text.replaceAll('<', '&lt;')
}

function cell(text: string): string {
  return markdown(text).replaceAll('|', '\\|').replaceAll('\n', ' ')
}

function page(lines: readonly string[]): string {
  return `${lines.join('\n').replace(/\n{3,}/g, '\n\n')}\n`
}
