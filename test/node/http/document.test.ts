// What the node says of itself: OpenAPI, Swagger UI, info, limits, health, metrics, the DID document.

import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { runsWith } from '../../helpers/features.ts'
import { fixedLimits, limitTable } from '../../../src/libraries/base/limits.ts'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode({}, { limits: { sqlBytes: 777 } })
type Content = Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>
interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
  readonly parameters?: readonly {
    readonly in: string
    readonly name: string
    readonly schema: object
    readonly description?: string
    readonly required?: boolean
  }[]
  readonly requestBody?: { readonly content: Content }
  readonly security?: readonly object[]
  readonly summary?: string
  readonly operationId?: string
}
await live.ingest('acme/goods', [{ n: 1 }], '?create=true')
const document = await live.call('/openapi.json')
const paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> = document.at('paths') as typeof paths
const problem = Object(document.at('components.schemas.Problem')) as object

const operations = (): [string, string, Operation][] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation] => [path, method, operation]),
  )

describe('the OpenAPI document', () => {
  it('is of version 3.1 and names this node', async () => {
    const document = await live.call('/openapi.json', { token: null })
    expect(document.at('openapi')).toBe('3.1.0')
    expect(document.at('info')).toMatchObject({ title: 'Proofstream', version: live.node.version })
    expect(document.at('components.securitySchemes.token')).toEqual({ type: 'http', scheme: 'bearer' })
  })

  it.runIf(runsWith('console', 'ogc', 'iceberg', 'line-protocol', 'otlp'))(
    'has every route of the contract, and no other',
    () => {
      const routes = operations().map(([path, method]) => `${method.toUpperCase()} ${path}`)
      expect(routes.sort()).toEqual(
        [
          'GET /',
          'GET /assets/verify.html',
          'GET /assets/rerun/{file}',
          'GET /assets/{file}',
          'GET /info',
          'GET /ledger',
          'GET /ledger/checkpoint',
          'GET /ledger/policy',
          'GET /ledger/statements/{hash}',
          'GET /ledger/statements/{hash}/proof',
          'GET /ledger/timestamps/{name}',
          'POST /ledger/witness/add-checkpoint',
          'GET /ledger/witness/{origin}/checkpoint',
          'GET /limits',
          'GET /events',
          'GET /healthz',
          'GET /readyz',
          'GET /system/health',
          'GET /metrics',
          'GET /system/metrics',
          'GET /errors',
          'GET /errors/{kind}',
          'GET /.well-known/did.json',
          'GET /possession',
          'GET /datasets',
          'GET /datasets/deleted',
          'GET /datasets/{id}',
          'PUT /{account}/{dataset}',
          'PATCH /{account}/{dataset}',
          'DELETE /{account}/{dataset}',
          'DELETE /datasets/{id}',
          'POST /datasets/{id}/restore',
          'GET /{account}/{dataset}/events',
          'GET /{account}/{dataset}/export',
          'GET /{account}/{dataset}/metadata',
          'GET /{account}/{dataset}/tail',
          'POST /{account}/{dataset}/ingest',
          'POST /{account}/{dataset}/stream',
          'POST /api/v2/write',
          'POST /write',
          'POST /{account}/{dataset}/v1/logs',
          'GET /ping',
          'GET /health',
          'GET /{account}/{dataset}/refs/head',
          'GET /{account}/{dataset}',
          'GET /{account}/{dataset}/blocks',
          'GET /{account}/{dataset}/blocks/{hash}',
          'GET /{account}/{dataset}/blocks/{hash}/proof',
          'GET /{account}/{dataset}/rows/{offset}',
          'GET /{account}/{dataset}/rows/{offset}/proof',
          'GET /{account}/{dataset}/data/{hash}',
          'GET /{account}/{dataset}/checkpoints/{hash}',
          'GET /presets',
          'GET /query',
          'POST /query',
          'GET /q',
          'GET /q/{name}',
          'PUT /q/{name}',
          'DELETE /q/{name}',
          'GET /evidence-pack',
          'GET /verify',
          'GET /ingest',
          'POST /verify',
          'GET /receipts/{id}',
          'GET /receipts/{id}/proof',
          'GET /iceberg/files/{folder}/data/{file}',
          'GET /iceberg/files/{folder}/metadata/{file}',
          'GET /iceberg/v1/config',
          'GET /iceberg/v1/namespaces',
          'GET /iceberg/v1/namespaces/{namespace}',
          'GET /iceberg/v1/namespaces/{namespace}/tables',
          'GET /iceberg/v1/namespaces/{namespace}/tables/{table}',
          'POST /iceberg/v1/namespaces/{namespace}/tables/{table}/metrics',
          'GET /iceberg/v1/namespaces/{namespace}/views',
          'GET /ogc',
          'GET /ogc/api',
          'GET /ogc/conformance',
          'GET /ogc/collections',
          'GET /ogc/collections/{collection}',
          'GET /ogc/collections/{collection}/queryables',
          'GET /ogc/collections/{collection}/items',
          'GET /ogc/collections/{collection}/items/{feature}',
          'GET /ogc/collections/{collection}/tiles/{z}/{x}/{y}.mvt',
          'GET /tokens',
          'POST /tokens',
          'DELETE /tokens/{id}',
        ].sort(),
      )
    },
  )

  it('describes each operation: its path parameters, its body, its errors', () => {
    for (const [path, method, operation] of operations()) {
      const where = `${method} ${path}`
      const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      expect([where, declared.map((parameter) => parameter.name)]).toEqual([where, named])
      expect([where, declared.every((parameter) => parameter.required === true)]).toEqual([where, true])
      expect([where, operation.summary]).toEqual([where, expect.stringMatching(/\S/)])
      expect([where, Object.keys(operation.responses)]).toEqual([where, expect.arrayContaining(['400', '401', '500'])])
      expect([where, operation.operationId]).toEqual([where, expect.stringMatching(/^[a-z][A-Za-z]+$/)])
      const takesBody = ['patch', 'post', 'put'].includes(method)
      expect([where, operation.requestBody !== undefined]).toEqual([where, takesBody])
    }
  })

  it('holds JSON Schemas that compile, and answers that fit them', async () => {
    const ajv = new Ajv2020({ strict: false, logger: false })
    const misfits: unknown[] = []
    for (const [, , operation] of operations()) {
      for (const parameter of operation.parameters ?? []) ajv.compile(parameter.schema)
      for (const part of [operation.requestBody, ...Object.values(operation.responses)]) {
        for (const { schema, example } of Object.values(part?.content ?? {})) {
          const isProblem = '$ref' in schema && schema.$ref === '#/components/schemas/Problem'
          const validate = ajv.compile(isProblem ? problem : schema)
          if (example !== undefined && !validate(example)) misfits.push([example, validate.errors])
        }
      }
    }
    expect(misfits).toEqual([])
    const samples = [
      ['/datasets', '/datasets'],
      ['/{account}/{dataset}/metadata', '/acme/goods/metadata'],
      ['/{account}/{dataset}/tail', '/acme/goods/tail'],
      ['/{account}/{dataset}/blocks', '/acme/goods/blocks'],
      ['/query', '/query?query=select+1&include=Proof'],
      ['/tokens', '/tokens'],
    ] as const
    for (const [path, url] of samples) {
      const schema = paths[path]?.['get']?.responses['200']?.content?.['application/json']?.schema
      const answer = await live.call(url)
      expect([url, answer.status, ajv.validate(schema ?? false, answer.json), ajv.errorsText()]).toEqual([
        url,
        200,
        true,
        'No errors',
      ])
    }
    const refused = await live.query('selec')
    expect(ajv.validate(problem, refused.json)).toBe(true)
  })

  it('gives every operation a name of its own', () => {
    const ids = operations().map(([, , operation]) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('says of each parameter and each member of a body what it is', () => {
    const silent = operations().flatMap(([path, method, operation]) => {
      const parameters = (operation.parameters ?? []).map((one) => [one.name, one] as const)
      const members = Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) =>
        Object.entries(Object(Reflect.get(schema, 'properties')) as Record<string, { description?: string }>),
      )
      return [...parameters, ...members]
        .filter(([, one]) => !/\S/.test(one.description ?? ''))
        .map(([name]) => `${method} ${path}: ${name}`)
    })
    expect(silent).toEqual([])
  })

  it('says which operations need a token', () => {
    expect(paths['/info']?.['get']?.security).toEqual([{}])
    expect(paths['/tokens']?.['post']?.security).toEqual([{ token: [] }])
  })
})

describe('Swagger UI', () => {
  it('comes from this node alone, without scripts in the page', async () => {
    const page = await live.call('/swagger', { token: null })
    expect(page.status).toBe(200)
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toMatch(/https?:|\*/)
    const sources = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => String(match[1]))
    expect(sources.length).toBeGreaterThan(4)
    for (const source of sources) {
      expect(source).toMatch(/^\/swagger\/static\//)
      const asset = await live.call(source, { token: null })
      expect([source, asset.status, asset.headers['content-security-policy']]).toEqual([source, 200, policy])
    }
    expect([...page.text.matchAll(/<script(?![^>]*\ssrc=)/g)]).toEqual([])
    expect(page.text).not.toMatch(/\son\w+=/)
  })

  it('asks no validator elsewhere and ignores unknown parameters', async () => {
    const script = await live.call('/swagger/static/swagger-initializer.js?v=1', { token: null })
    expect(script.status).toBe(200)
    expect(script.text).toContain('"validatorUrl":null')
  })
})

describe('the node', () => {
  it.runIf(runsWith('console'))('links to what it has', async () => {
    const links = await live.call('/', { token: null })
    for (const path of Object.values(Object(links.at('links')) as Record<string, string>)) {
      if (path === '/query' || path === '/verify') continue
      expect([path, (await live.call(path)).status]).toEqual([path, 200])
    }
    const page = await live.call('/', { token: null, headers: { accept: 'text/html,*/*' } })
    expect(page.headers['content-type']).toContain('text/html')
  })

  it('says what runs', async () => {
    const digest: unknown = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect((await live.call('/info', { token: null })).json).toMatchObject({
      did: live.node.did,
      version: live.node.version,
      roles: ['gateway', 'builder', 'replica'],
      log: { kind: 'file', partitions: 1 },
      engine: { name: 'duckdb', version: expect.any(String), dialect: expect.stringMatching(/^SqlDuckDb\//) },
      engines: [{ version: '1.5.6', digest, default: true }],
      isMultiTenant: true,
    })
  })

  it('lists every limit with its unit and its value here', async () => {
    const answer = await live.call('/limits', { token: null })
    expect(Object.keys(Object(answer.at('limits')))).toEqual(Object.keys(limitTable))
    expect(answer.at('limits.sqlBytes')).toEqual({ value: 777, unit: 'bytes', about: limitTable.sqlBytes.text })
    expect(answer.at('limits.bodyBytes.option')).toBe('--limit-body-bytes')
    expect(answer.at('limits.inflatedBytes.option')).toBe('--limit-body-bytes')
    expect(Object.keys(Object(answer.at('fixed')))).toEqual(Object.keys(fixedLimits))
  })

  it('is healthy and ready', async () => {
    for (const path of ['/healthz', '/readyz', '/system/health', '/healthz?probe=1']) {
      const answer = await live.call(path, { token: null })
      expect([path, answer.status, answer.json]).toMatchObject([path, 200, { ok: true }])
    }
  })

  it('counts in Prometheus text, without naming a dataset', async () => {
    for (const path of ['/metrics', '/system/metrics?x=1']) {
      const answer = await live.call(path)
      expect(answer.headers['content-type']).toContain('text/plain')
      expect(answer.text).toMatch(/^proofstream_ingested_records_total 1$/m)
      expect(answer.text).toMatch(
        /^proofstream_http_requests_total\{route="\/:account\/:dataset\/ingest",status="200"\} 1$/m,
      )
      expect(answer.text).not.toContain('goods')
    }
  })

  it('publishes the key it signs with', async () => {
    const document = await live.call('/.well-known/did.json', { token: null })
    expect(document.at('id')).toBe(live.node.did)
    const key = live.node.did.slice('did:key:'.length)
    expect(document.at('verificationMethod.0')).toMatchObject({ controller: live.node.did, publicKeyMultibase: key })
    expect(document.at('assertionMethod.0')).toBe(`${live.node.did}#${key}`)
  })
})
