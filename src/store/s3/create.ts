// An object that is put where nothing is: one conditional PUT, or for what is large one upload in parts with the condition
// at its end. Its outcome is one of four; what is not clear is found by reading back, and the identical request is sent again,
// which is safe however late an earlier copy of it lands, for each carries the condition.

import { utf8 } from '../../lib/bytes.ts'
import type { NodeError } from '../../model/errors.ts'
import { attemptsMost, type Bucket, parsed } from './bucket.ts'
import { type Body, bodyOf, partOf } from './body.ts'
import type { S3Request } from './client.ts'
import { errorCodeOf, faultOf, mayPass, Unanswered } from './faults.ts'
import type { Dialect } from './sign.ts'
import { childText } from './xml.ts'

/** What one conditional PUT came to. After a conflict nothing is decided; the unknown may have been stored. */
type Outcome =
  | { readonly kind: 'created' }
  | { readonly kind: 'exists' | 'conflict' | 'unknown'; readonly error: NodeError }

/** What is larger is sent in parts, of which one is lost by a fault, not all. Google's XML API has no condition on them. */
const onePutMost: Readonly<Record<Dialect, number>> = { aws: 64 * 1024 * 1024, gcs: Number.POSITIVE_INFINITY }
const partBytes = 32 * 1024 * 1024
const partsMost = 10_000

export const ifAbsent: Readonly<Record<Dialect, Readonly<Record<string, string>>>> = {
  aws: { 'if-none-match': '*' },
  gcs: { 'x-goog-if-generation-match': '0' },
}

/**
 * Stores `body` under `key` if nothing is there, under condition `headers` (none where only this process writes). Durable
 * when it resolves. Throws NodeErrors `StoreUnavailable`, after which it may be stored or not, and `StorageFull`.
 */
export async function createObject(
  bucket: Bucket,
  key: string,
  { body, headers }: { readonly body: Body; readonly headers: Readonly<Record<string, string>> },
): Promise<'stored' | 'exists'> {
  let mayBeOurs = false
  for (let attempt = 1; ; attempt++) {
    const outcome = await createOnce(bucket, key, { body, headers })
    if (outcome.kind === 'created') return 'stored'
    if (outcome.kind === 'exists' && !mayBeOurs) return 'exists'
    mayBeOurs ||= outcome.kind === 'unknown'
    if (outcome.kind !== 'exists') await bucket.pause(attempt)
    const found = await bucket.compare(key, body)
    if (found === 'same' && mayBeOurs) return 'stored'
    if (found !== 'missing') return 'exists'
    if (attempt === attemptsMost) throw outcome.error
  }
}

type Sent = { readonly body: Body; readonly headers: Readonly<Record<string, string>> }

async function createOnce(bucket: Bucket, key: string, { body, headers }: Sent): Promise<Outcome> {
  if (body.sizeBytes > onePutMost[bucket.client.dialect]) return uploadParts(bucket, key, { body, headers })
  return outcomeOf(bucket, { method: 'PUT', key, headers, body })
}

/** Sends the request that decides. Throws where the store refuses it, whatever is there. */
async function outcomeOf(bucket: Bucket, request: S3Request): Promise<Outcome> {
  const what = `${request.method} ${request.key}`
  const answer = await bucket.send(request).catch((error: unknown) => {
    if (error instanceof Unanswered) return error
    throw error
  })
  if (answer instanceof Unanswered) return { kind: 'unknown', error: answer }
  const code = errorCodeOf(answer)
  // The end of an upload in parts may answer 200 before it fails.
  if (answer.status < 300 && code === undefined) return { kind: 'created' }
  const error = faultOf(what, answer)
  if (answer.status < 300 || mayPass(answer)) return { kind: 'unknown', error }
  if (answer.status === 412) return { kind: 'exists', error }
  if (answer.status === 409 && !pathCodes.has(code)) return { kind: 'conflict', error }
  if (code === 'NoSuchUpload') return { kind: 'unknown', error }
  throw error
}

/** How stores on file systems say that a key is the directory of another, or lies under one. */
const pathCodes: ReadonlySet<string | undefined> = new Set(['ObjectParentIsFile', 'ExistingObjectIsDirectory'])

/** An upload in parts (https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html). Nothing of it is seen before its end. */
async function uploadParts(bucket: Bucket, key: string, { body, headers }: Sent): Promise<Outcome> {
  const begun = await bucket.ask({ method: 'POST', key, query: [['uploads', '']] })
  const upload = childText(parsed(begun.body), 'UploadId') ?? ''
  try {
    const size = Math.max(partBytes, Math.ceil(body.sizeBytes / partsMost))
    const tags: string[] = []
    for (let start = 0; start < body.sizeBytes; start += size) {
      const part = await partOf(body, start, Math.min(start + size, body.sizeBytes))
      const query = [
        ['partNumber', String(tags.length + 1)],
        ['uploadId', upload],
      ] as const
      const { headers: answered } = await bucket.ask({ method: 'PUT', key, query, body: part })
      tags.push(String(answered['etag']))
    }
    const list = tags.map(
      (tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${tag.replaceAll('"', '&quot;')}</ETag></Part>`,
    )
    const xml = utf8(`<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`)
    return await outcomeOf(bucket, {
      method: 'POST',
      key,
      query: [['uploadId', upload]],
      headers,
      body: await bodyOf([xml]),
    })
  } finally {
    // Of one that has ended this is refused. What stays behind costs room until the bucket's rule for it removes it.
    await bucket.send({ method: 'DELETE', key, query: [['uploadId', upload]] }).catch(() => undefined)
  }
}
