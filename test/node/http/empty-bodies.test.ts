// An empty body is no body: many clients name JSON on a request that sends none, such as DELETE.

import { describe, expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'

const live = await liveNode()
interface Operation {
  readonly requestBody?: { readonly required?: boolean }
}

const document = (await live.call('/openapi.json')).json as { paths: Record<string, Record<string, Operation>> }
/** Those whose body is a stream of records of any type need a type. */
const needsType = /\/(?:ingest|stream|v1\/logs|write|add-checkpoint)$/
const operations = Object.entries(document.paths).flatMap(([path, operation]) =>
  ['delete', 'post', 'put', 'patch'].flatMap((method) =>
    operation[method] !== undefined && operation[method].requestBody?.required !== true && !needsType.test(path)
      ? [[method.toUpperCase(), path] as const]
      : [],
  ),
)

describe.each(operations)('%s %s', (method, template) => {
  const path = template.replace(/\{\w+\}/g, 'none')
  const answer = async (headers: Record<string, string>, more = {}): Promise<unknown> => {
    const { status, at } = await live.call(path, { method, headers, ...more })
    return [status, at('error.kind'), at('message')]
  }

  test.each([
    ['JSON', 'no length', { 'content-type': 'application/json' }, {}],
    ['JSON', 'the length 0', { 'content-type': 'application/json', 'content-length': '0' }, {}],
    ['JSON', 'no chunk', { 'content-type': 'application/json' }, { body: '', chunked: true }],
    ['a form', 'the length 0', { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' }, {}],
  ])('answers %s of %s as no body', async (_, __, headers, more) => {
    await answer({})
    const plain = await answer({})
    expect(await answer(headers, more)).toEqual(plain)
  })
})

test.each(['/limits', '/readyz', '/datasets'])('PUT of any type is no method of %s', async (path) => {
  for (const type of ['text/plain', 'application/json']) {
    const answer = await live.call(path, { method: 'PUT', headers: { 'content-type': type }, body: '{' })
    expect(answer.refusal).toBe('405 MethodNotAllowed')
  }
})
