// A bucket that answers without an end: what is read of it is bounded in bytes, elements and pages, and it is refused as a
// store that cannot be reached. The oracle counts what the server could send.

import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'
import { testBucket, testStore } from '../../helpers/buckets.ts'

const MiB = 1024 * 1024
let close: () => Promise<void> = async () => {}
afterEach(() => close())

async function storeOf(answer: RequestListener, answerMs = 5_000): Promise<ObjectStore> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return testStore(testBucket({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answerMs }))
}

let sentBytes = 0

function sendOn(response: ServerResponse, status: number, start = ''): void {
  response.on('error', () => {})
  response.writeHead(status, { date: new Date().toUTCString() })
  response.write(start)
  const piece = Buffer.from('<Contents/>'.repeat(6000))
  const write = (): void => {
    do sentBytes += piece.length
    while (!response.destroyed && response.write(piece))
  }
  response.on('drain', write)
  write()
}

const head = '<ListBucketResult>'
const page = (text: string): string => `${head}<IsTruncated>true</IsTruncated>${text}</ListBucketResult>`

test.each<[string, number, RequestListener]>([
  ['a listing without end', 5, (_, response) => sendOn(response, 200, head)],
  ['a refusal without end', 2, (_, response) => sendOn(response, 503, '<Error>')],
  ['elements without number', 0, (_, response) => response.end(head + '<a/>'.repeat(200_000) + head)],
  ['elements in elements', 0, (_, response) => response.end('<a>'.repeat(100_000))],
  ['document types without number', 0, (_, response) => response.end('<!DOCTYPE a>'.repeat(300_000))],
  [
    'an entity of entities',
    0,
    (_, response) =>
      response.end(
        `<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]>${head}<IsTruncated>&c;</IsTruncated></ListBucketResult>`,
      ),
  ],
  [
    'a gzip bomb that nobody asked for',
    0,
    (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(100 * MiB))),
  ],
])('%s is refused', async (_, mostMiB, answer) => {
  sentBytes = 0
  let requests = 0
  const store = await storeOf((request, response) => {
    requests++
    answer(request, response)
  })
  await expect(store.list('datasets')).rejects.toMatchObject({ kind: 'StoreUnavailable' })
  // What lies in buffers of sockets was sent and not read.
  expect(sentBytes / requests).toBeLessThan((mostMiB + 8) * MiB)
})

test('a refusal of document types without number is read no further', async () => {
  const store = await storeOf((_, response) => response.writeHead(403).end('<!DOCTYPE a>'.repeat(80_000)))
  await expect(store.get('a')).rejects.toMatchObject({ kind: 'StoreUnavailable', message: /status 403/ })
})

test.each([301, 302, 307, 308])('another address is not asked: %d', async (status) => {
  let asked = 0
  const other = createServer((_, response) => {
    asked++
    response.end()
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  const location = `http://127.0.0.1:${port}/tests/a`
  const store = await storeOf((_, response) => response.writeHead(status, { location }).end())
  await expect(store.put('a', new Uint8Array(3))).rejects.toMatchObject({ kind: 'StoreUnavailable' })
  await expect(store.get('a')).rejects.toMatchObject({ kind: 'StoreUnavailable' })
  other.close()
  expect(asked).toBe(0)
})

test('an object that comes too slowly is left', async () => {
  const pieces = setInterval(() => open.forEach((response) => response.write('x')), 20)
  const open: ServerResponse[] = []
  const store = await storeOf((_, response) => {
    response.writeHead(200, { 'content-length': '1000' })
    open.push(response)
  }, 100)
  await expect(store.get('a')).rejects.toMatchObject({ kind: 'StoreUnavailable', message: /took longer than/ })
  clearInterval(pieces)
})

test('pages without end are asked for no longer than they bring names', async () => {
  let pages = 0
  const store = await storeOf((_, response) =>
    response.end(page(`<NextContinuationToken>${++pages}</NextContinuationToken>`)),
  )
  await expect(store.list('datasets')).rejects.toMatchObject({ kind: 'StoreUnavailable' })
  expect(pages).toBeLessThan(200)
})

test('a part of an object has no more bytes than were asked for', async () => {
  sentBytes = 0
  let requests = 0
  const store = await storeOf((_, response) => {
    requests++
    sendOn(response, 206)
  })
  await expect(store.getRange('datasets/a', 0, 1000)).rejects.toMatchObject({
    kind: 'StoreUnavailable',
    message: 'An answer of the store cannot be read: GET datasets/a: it has more than 1000 bytes.',
  })
  expect(sentBytes).toBeLessThan(9 * MiB)
  // Another time it would be as long.
  expect(requests).toBe(1)
})
