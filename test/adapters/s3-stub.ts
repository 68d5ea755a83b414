// A store that speaks S3 in this process, for what no server offers: faults, by request. Buckets are made by being used.
// Signatures are held against those of a second signer, which published examples judge in other tests.

import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Credentials, googleNames, signedHeaders } from '../../src/drivers/s3/google.ts'
import { amazonNames } from '../helpers/amazon-names.ts'
import { testKeys } from '../helpers/buckets.ts'

export interface StubRequest {
  readonly method: string
  readonly bucket: string
  readonly key: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  /** How many requests came before. */
  readonly number: number
}

/**
 * What happens to one request. `lost`: it is done, and the connection ends without an answer. `refused`: the connection ends
 * before anything is done. `cut`: the answer ends in the middle of its body. An object: this is answered; nothing is done,
 * unless `after`.
 */
export type Fault =
  | 'lost'
  | 'refused'
  | 'cut'
  | 'hang'
  | {
      readonly status: number
      readonly code?: string
      readonly headers?: Readonly<Record<string, string>>
      readonly after?: boolean
      /** What follows the body. */
      readonly end?: string
    }

export interface StubOptions {
  readonly fault?: (request: StubRequest) => Fault | undefined
  /** How the condition is kept; `racy` looks first and writes later. */
  readonly conditions?: 'atomic' | 'racy' | 'ignored' | 'unsupported' | 'inverted'
  /** Listings show what was there at the last listing but one. */
  readonly staleLists?: boolean
  /** Added to the clock of the store; requests that are off by 15 minutes are refused. */
  readonly skewMs?: number
  readonly pageKeys?: number
  /** The secret of a key that is known; by default all keys have that of the tests. */
  readonly secretOf?: (accessKeyId: string) => string | undefined
  /** Neither signatures nor hashes of bodies. */
  readonly checksNothing?: boolean
}

export interface S3Stub {
  readonly url: string
  readonly requests: StubRequest[]
  readonly objects: Map<string, Uint8Array>
  close(): Promise<void>
}

interface Upload {
  readonly parts: Map<number, Uint8Array>
}

export async function startS3Stub(options: StubOptions = {}): Promise<S3Stub> {
  const objects = new Map<string, Uint8Array>()
  const stub = new Stub(objects, options)
  const server = createServer((request, response) => {
    stub.answer(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: stub.requests,
    objects,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
}

const ok: Reply = { status: 200 }

class Stub {
  readonly requests: StubRequest[] = []
  readonly #objects: Map<string, Uint8Array>
  readonly #options: StubOptions
  readonly #uploads = new Map<string, Upload>()
  #listed: readonly (readonly string[])[] = [[], []]

  constructor(objects: Map<string, Uint8Array>, options: StubOptions) {
    this.#objects = objects
    this.#options = options
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://stub')
    const [, bucket = '', ...key] = decodeURIComponent(url.pathname).split('/')
    const asked: StubRequest = {
      method: request.method ?? '',
      bucket,
      key: key.join('/'),
      query: url.searchParams,
      headers: request.headers,
      number: this.requests.length,
    }
    this.requests.push(asked)
    const fault = this.#options.fault?.(asked)
    if (fault === 'refused') return void request.socket.destroy()
    if (fault === 'hang') return
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const isInstead = typeof fault === 'object' && fault.after !== true
    const refused = this.#refusal(asked, url, body)
    const done = isInstead ? ok : (refused ?? (await this.#do(asked, body)))
    if (fault === 'lost') return void request.socket.destroy()
    const reply = typeof fault === 'object' ? errorReply(fault) : done
    const bytes = Buffer.from(reply.body ?? '')
    const date = new Date(Date.now() + (this.#options.skewMs ?? 0)).toUTCString()
    const length = reply.headers?.['content-length'] ?? String(bytes.length)
    response.writeHead(reply.status, { date, ...reply.headers, 'content-length': length })
    if (fault === 'cut') {
      response.write(bytes.subarray(0, Math.floor(bytes.length / 2)))
      return void setTimeout(() => request.socket.destroy(), 10)
    }
    response.end(request.method === 'HEAD' ? undefined : bytes)
  }

  #refusal({ headers, method }: StubRequest, url: URL, body: Buffer): Reply | undefined {
    if (this.#options.checksNothing === true) return undefined
    const { authorization = '' } = headers
    const id =
      /^(?:AWS4|GOOG4)-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/[^/]+\/(?:s3\/aws4|storage\/goog4)_request,/.exec(
        authorization,
      )?.[1]
    if (id === undefined) return errorReply({ status: 403, code: 'AccessDenied' })
    const { secretOf = () => testKeys.secretAccessKey } = this.#options
    const secret = secretOf(id)
    if (secret === undefined) return errorReply({ status: 403, code: 'InvalidAccessKeyId' })
    const again = signedAgain({ headers, method }, url, { accessKeyId: id, secretAccessKey: secret })
    if (again !== authorization.replaceAll(', ', ',')) {
      return errorReply({ status: 403, code: 'SignatureDoesNotMatch' })
    }
    if (Math.abs(timeOf(headers) - Date.now() - (this.#options.skewMs ?? 0)) > 15 * 60_000) {
      return errorReply({ status: 403, code: 'RequestTimeTooSkewed' })
    }
    const hash = headers['x-amz-content-sha256'] ?? headers['x-goog-content-sha256']
    if (hash !== createHash('sha256').update(body).digest('hex')) {
      return errorReply({ status: 400, code: method === 'PUT' ? 'XAmzContentSHA256Mismatch' : 'InvalidRequest' })
    }
    return undefined
  }

  async #do(asked: StubRequest, body: Buffer): Promise<Reply> {
    const { method, key, query } = asked
    if (key === '') return this.#list(query)
    if (query.has('uploads')) {
      const id = randomUUID()
      this.#uploads.set(id, { parts: new Map() })
      return {
        ...ok,
        body: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      }
    }
    const id = query.get('uploadId')
    if (id !== null) return this.#part(asked, id, body)
    if (method === 'PUT') return this.#put(asked, body)
    if (method === 'DELETE') {
      this.#objects.delete(key)
      return { status: 204 }
    }
    return this.#get(asked)
  }

  async #part(asked: StubRequest, id: string, body: Buffer): Promise<Reply> {
    const { method, query } = asked
    const upload = this.#uploads.get(id)
    if (upload === undefined) return errorReply({ status: 404, code: 'NoSuchUpload' })
    if (method === 'PUT') {
      upload.parts.set(Number(query.get('partNumber')), body)
      return { ...ok, headers: { etag: `"${query.get('partNumber')}"` } }
    }
    if (method === 'POST') {
      const named = [...body.toString().matchAll(/<Part>.*?<PartNumber>(\d+)<\/PartNumber>.*?<\/Part>/g)]
      const parts = named.map(([, number]) => upload.parts.get(Number(number)) ?? new Uint8Array(0))
      const { status } = await this.#put(asked, Buffer.concat(parts))
      if (status >= 300) return errorReply({ status, code: 'PreconditionFailed' })
      this.#uploads.delete(id)
      return {
        ...ok,
        body: '<CompleteMultipartUploadResult><ETag>&quot;0&quot;</ETag></CompleteMultipartUploadResult>',
      }
    }
    this.#uploads.delete(id)
    return { status: 204 }
  }

  async #put({ key, headers }: StubRequest, body: Buffer): Promise<Reply> {
    const { conditions = 'atomic' } = this.#options
    const isConditional = headers['if-none-match'] === '*' || headers['x-goog-if-generation-match'] === '0'
    if (isConditional && conditions === 'unsupported') return errorReply({ status: 501, code: 'NotImplemented' })
    const isThere = this.#objects.has(key)
    if (isConditional && conditions === 'racy') await new Promise((resolve) => setTimeout(resolve, 5))
    if (isConditional && conditions !== 'ignored' && isThere !== (conditions === 'inverted')) {
      return errorReply({ status: 412, code: 'PreconditionFailed' })
    }
    this.#objects.set(key, new Uint8Array(body))
    return ok
  }

  #get({ method, key, headers }: StubRequest): Reply {
    const bytes = this.#objects.get(key)
    if (bytes === undefined) return errorReply({ status: 404, code: 'NoSuchKey' })
    const modified = { 'last-modified': new Date(0).toUTCString() }
    if (method === 'HEAD') return { ...ok, headers: { ...modified, 'content-length': String(bytes.length) } }
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
    if (start === undefined) return { ...ok, headers: modified, body: bytes }
    if (Number(start) >= bytes.length) return errorReply({ status: 416, code: 'InvalidRange' })
    return { status: 206, headers: modified, body: bytes.subarray(Number(start), Number(end) + 1) }
  }

  #list(query: URLSearchParams): Reply {
    const now = [...this.#objects.keys()].sort()
    const [before = []] = this.#listed
    if (!query.has('continuation-token')) this.#listed = [...this.#listed.slice(1), now]
    const prefix = query.get('prefix') ?? ''
    const after = query.get('continuation-token') ?? ''
    const shown = new Set(
      (this.#options.staleLists === true ? before : now)
        .filter((key) => key.startsWith(prefix))
        .map((key) => {
          const slash = key.indexOf('/', prefix.length)
          return slash < 0 ? key : key.slice(0, slash + 1)
        }),
    )
    const rest = [...shown].filter((key) => key > after)
    const page = rest.slice(0, this.#options.pageKeys ?? 1000)
    const more = rest.length > page.length
    const rows = page.map((key) =>
      key.endsWith('/')
        ? `<CommonPrefixes><Prefix>${key}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${key}</Key><ETag>&quot;0&quot;</ETag></Contents>`,
    )
    const next = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
    const body = `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>${more}</IsTruncated>${next}${rows.join('')}</ListBucketResult>`
    return { ...ok, body }
  }
}

function errorReply({ status, code, headers, end = '' }: Exclude<Fault, string>): Reply {
  const body = code === undefined ? '' : `<Error><Code>${code}</Code><Message>as asked for</Message></Error>${end}`
  return { status, body, ...(headers === undefined ? {} : { headers }) }
}

/** The signature that a request should have; whether it is that of AWS other tests judge. */
function signedAgain(
  { headers, method }: Pick<StubRequest, 'headers' | 'method'>,
  url: URL,
  credentials: Credentials,
): string | undefined {
  const [, region = '', names = ''] =
    /\/\d{8}\/([^/]+)\/.*SignedHeaders=([^,]+),/.exec(headers.authorization ?? '') ?? []
  const signatureNames = headers['x-goog-date'] === undefined ? amazonNames : googleNames
  const prefix = signatureNames.header
  const bodySha256 = String(headers[`${prefix}content-sha256`])
  const own = names.split(';').filter((name) => ![`${prefix}date`, `${prefix}content-sha256`].includes(name))
  const request = {
    method,
    path: url.pathname,
    query: [...url.searchParams],
    headers: Object.fromEntries(own.map((name) => [name, String(headers[name])])),
    bodySha256,
  }
  return signedHeaders(request, { names: signatureNames, credentials, region, timeMs: timeOf(headers) })[
    'authorization'
  ]
}

function timeOf(headers: StubRequest['headers']): number {
  const time = String(headers['x-amz-date'] ?? headers['x-goog-date'])
  return Date.parse(time.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'))
}
