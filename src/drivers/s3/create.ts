// An object that is put where nothing is: one conditional PUT, or for what is large one upload in parts with the condition
// at its end. Its outcome is one of four; what is not clear is found by reading back, and the identical request is sent again,
// which is safe however late an earlier copy of it lands, for each carries the condition.

import type { NodeError } from '../../libraries/base/errors.ts'
import { type Body, partOf } from './body.ts'
import { attemptsMost, type Bucket, streamed } from './bucket.ts'
import type { Dialect } from './client.ts'
import { Refused, Unanswered, unreadable } from './faults.ts'

/** What one conditional PUT came to. After a conflict nothing is decided; the unknown may have been stored. */
export type Outcome =
  | { readonly kind: 'created' }
  | { readonly kind: 'exists' | 'conflict' | 'unknown'; readonly error: NodeError }

/** What is larger is sent in parts, of which one is lost by a fault, not all. Google's XML API has no condition on them. */
const onePutMost: Readonly<Record<Dialect, number>> = { aws: 64 * 1024 * 1024, gcs: Number.POSITIVE_INFINITY }
const partBytes = 32 * 1024 * 1024
const partsMost = 10_000

/**
 * Stores `body` under `key` if nothing is there. Durable when it resolves. Throws NodeErrors `StoreUnavailable`, after which it
 * may be stored or not, and `StorageFull`.
 */
export async function createObject(bucket: Bucket, key: string, body: Body): Promise<'stored' | 'exists'> {
  let mayBeOurs = false
  for (let attempt = 1; ; attempt++) {
    const outcome = await createOnce(bucket, key, body)
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

/** One attempt. Throws where the store refuses it, whatever is there. */
export function createOnce(bucket: Bucket, key: string, body: Body): Promise<Outcome> {
  if (body.sizeBytes > onePutMost[bucket.dialect]) return uploadParts(bucket, key, body)
  return outcomeOf(bucket.put(key, body, 'absent'))
}

/** What the request that decides came to. */
async function outcomeOf(deciding: Promise<void>): Promise<Outcome> {
  try {
    await deciding
    return { kind: 'created' }
  } catch (error) {
    if (error instanceof Unanswered) return { kind: 'unknown', error }
    if (!(error instanceof Refused)) throw error
    const { status, code = '' } = error
    if (error.mayPass || code === 'NoSuchUpload') return { kind: 'unknown', error }
    if (status === 412) return { kind: 'exists', error }
    if (status === 409 && !pathCodes.has(code)) return { kind: 'conflict', error }
    throw error
  }
}

/** How stores on file systems say that a key is the directory of another, or lies under one. */
const pathCodes: ReadonlySet<string> = new Set(['ObjectParentIsFile', 'ExistingObjectIsDirectory'])

/** An upload in parts (https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html). Nothing of it is seen before its end. */
async function uploadParts(bucket: Bucket, key: string, body: Body): Promise<Outcome> {
  const { UploadId } = await bucket.ask(`POST ${key}`, (s3) => s3.createMultipartUpload(bucket.at(key)))
  if (UploadId === undefined) throw unreadable('an upload in parts has no name')
  const upload = { ...bucket.at(key), UploadId }
  try {
    const size = Math.max(partBytes, Math.ceil(body.sizeBytes / partsMost))
    const Parts: { PartNumber: number; ETag: string | undefined }[] = []
    for (let start = 0; start < body.sizeBytes; start += size) {
      const part = await partOf(body, start, Math.min(start + size, body.sizeBytes))
      const PartNumber = Parts.length + 1
      const put = { ...upload, PartNumber }
      const { ETag } = await bucket.ask(`PUT ${key}`, (s3) => s3.uploadPart({ ...put, ...streamed(part) }))
      Parts.push({ PartNumber, ETag })
    }
    const end = { ...upload, IfNoneMatch: '*', MultipartUpload: { Parts } }
    return await outcomeOf(
      bucket.send(`POST ${key}`, async (s3) => {
        // It may answer 200 before it fails.
        const { ETag } = await s3.completeMultipartUpload(end)
        if (ETag === undefined) throw new Unanswered(`POST ${key}`, 'the end of an upload has no tag')
      }),
    )
  } finally {
    // Of one that has ended this is refused. What stays behind costs room until the bucket's rule for it removes it.
    await bucket.send(`DELETE ${key}`, (s3) => s3.abortMultipartUpload(upload)).catch(() => undefined)
  }
}
