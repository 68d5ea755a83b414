// CloudEvents in binary mode, whose attributes are headers and whose data is the body, as the same event in structured mode.
// Source: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md#31-binary-content-mode

import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { NodeError } from '../../libraries/base/errors.ts'
import { mediaTypeOf } from '../../libraries/formats/registry.ts'
import { DigestCheck, readContentDigest } from '../gateway/content-digest.ts'
import { contentEncoding } from '../gateway/controls.ts'
import { bodyChunks, bodyOf } from '../gateway/read-body.ts'
import { inlineBytes } from '../machine/work/thread-pool.ts'
import type { GatewayContext } from './context.ts'

/** What every intermediary passes on. It is read before it has a turn, as a small body of JSON is. */
const mostBytes = inlineBytes

/** Whether a request with the preset of CloudEvents has the attributes of its event in headers. */
export function isBinaryEvent({ headers }: FastifyRequest): boolean {
  return headers['ce-specversion'] !== undefined && !mediaTypeOf(headers['content-type']).includes('cloudevents')
}

/** Throws NodeErrors `BodyTooLarge`, `MalformedBody`, `MalformedJson`, `DigestMismatch`, `UnsupportedEncoding`. */
export async function structuredEvent(
  context: Pick<GatewayContext, 'limits' | 'work'>,
  { headers, body }: FastifyRequest,
): Promise<{ readonly headers: FastifyRequest['headers']; readonly body: Readable }> {
  const { 'content-digest': digest, 'content-encoding': encoding, 'content-type': type, ...rest } = headers
  const stream = body as Readable | undefined // of a route whose bodies are streams
  const bytes = stream === undefined ? Buffer.alloc(0) : await read(context, stream, { digest, encoding })
  const attributes = Object.entries(rest).flatMap(([name, value]) =>
    /^ce-(?!data$)[a-z0-9]+$/.test(name) ? [[name.slice(3), decoded(String(value))]] : [],
  )
  const event = JSON.stringify({ ...Object.fromEntries(attributes), ...(type && { datacontenttype: type }) })
  const data = bytes.length === 0 ? '' : await dataOf(context, bytes, mediaTypeOf(type))
  const whole = Buffer.from(`${event.slice(0, -1)}${data}}`)
  const own = { 'content-type': 'application/cloudevents+json', 'content-length': String(whole.length) }
  return { headers: { ...rest, ...own }, body: bodyOf(whole) }
}

async function read(
  { limits }: Pick<GatewayContext, 'limits'>,
  body: Readable,
  { digest, encoding }: { readonly digest: string | string[] | undefined; readonly encoding: string | undefined },
): Promise<Buffer> {
  const check = new DigestCheck(readContentDigest(digest === undefined ? undefined : String(digest)))
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of bodyChunks(body, contentEncoding(encoding), limits, check)) {
    bytes += chunk.length
    if (bytes > mostBytes) {
      const hint = 'Send a larger one in structured mode: application/cloudevents+json.'
      throw new NodeError('BodyTooLarge', `The data of the event has more than ${mostBytes} bytes.`, { hint })
    }
    chunks.push(chunk)
  }
  check.demandEqual()
  return Buffer.concat(chunks)
}

/** The member `data`: of JSON as it was sent. */
async function dataOf({ limits, work }: Pick<GatewayContext, 'limits' | 'work'>, bytes: Buffer, type: string) {
  if (type === 'application/json' || type.endsWith('+json')) {
    const settings = { name: 'requestJsonValues', value: limits.requestJsonValues }
    await work.run('json', [bytes], { settings })
    return `,"data":${bytes.toString()}`
  }
  const isText = type.startsWith('text/') && isUtf8(bytes)
  return isText ? `,"data":${JSON.stringify(bytes.toString())}` : `,"data_base64":"${bytes.toString('base64')}"`
}

/** Headers have characters outside of ASCII, quotes and spaces as percent escapes. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
