// Servers that are no node, or a hostile one: a command takes no more of them than it may, asks no more often than it need, and
// ends with one sentence that says what came.

import { createServer, type RequestListener } from 'node:http'
import { createServer as createSocketServer, type AddressInfo, type Server } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { runCommand } from '../helpers/run-node.ts'
import { startStub } from './stub-node.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
})

async function listening(server: Server): Promise<string> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const http = (answer: RequestListener): Promise<string> => listening(createServer(answer))

/** A body of `piece` again and again. */
function endless(status: number, piece: string): RequestListener {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.on('error', () => {})
    const bytes = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)))
    const write = (): void => {
      while (!response.destroyed && response.write(bytes));
    }
    response.on('drain', write)
    write()
  }
}

/** How a command ends, the address left out. */
async function end(url: string, ...args: readonly string[]): Promise<{ code: number | null; error: string }> {
  const { code, stderr } = await runCommand([...args, '--server', url])
  return { code, error: stderr.replaceAll(url, 'URL').split('\n')[0] ?? '' }
}

const page = '<!doctype html><title>Welcome</title>'
const values = `{"datasets":[${'0,'.repeat(11_000_000)}0]}`

test.each<[string, RequestListener, string]>([
  ['a page', (_, response) => response.end(page), 'answered 200 with something that is not JSON.'],
  ['a page that says 404', (_, r) => r.writeHead(404).end(page), 'answered 404, and not as a Proofstream node does.'],
  ['a number that says 500', (_, r) => r.writeHead(500).end('1'), 'answered 500, and not as a Proofstream node does.'],
  [
    'a gzip bomb that nobody asked for',
    (_, r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(200_000_000))),
    'answered 200 with something that is not JSON.',
  ],
  ['a body without end', endless(200, '[0,'), 'answered 200 with more than 536870912 bytes.'],
  ['a refusal without end', endless(404, '{"message":"'), 'answered 404 with more than 1048576 bytes.'],
  ['millions of values', (_, response) => response.end(values), 'answered with more than 10000000 values.'],
])('%s is told in one sentence', async (_, answer, expected) => {
  const url = await http(answer)
  const { code, error } = await end(url, 'dataset', 'list')
  expect([code === 0, error.replace(/ {2}\(.*\)$/, '')]).toEqual([false, `error: URL ${expected}`])
})

test.each(['not http', 'HTTP/1.1 20 OK\r\n\r\n', 'SSH-2.0-OpenSSH_9.9\r\n'])('%j is no HTTP', async (text) => {
  const url = await listening(
    createSocketServer(
      (socket) =>
        void socket
          .on('error', () => {})
          .resume()
          .end(text),
    ),
  )
  const told = { code: 1, error: 'error: URL answered with something that is not HTTP.' }
  expect(await end(url, 'dataset', 'list')).toEqual(told)
})

test('a server without TLS is asked over TLS', async () => {
  const plain = await http((_, response) => response.end())
  const url = plain.replace('http:', 'https:')
  const told = { code: 1, error: 'error: URL answered with something that is not TLS.' }
  expect(await end(url, 'dataset', 'list')).toEqual(told)
})

test('a list without an end is asked for no longer than it brings what is new', async () => {
  let pages = 0
  const list = (datasets: readonly object[]) => () => ({ body: { datasets, next: `a/n${++pages}` } })
  await using stub = await startStub({ 'GET /datasets': list([]) })
  const told = { code: 1, error: 'error: URL lists datasets at /datasets without an end.' }
  expect(await end(stub.url, 'dataset', 'list')).toEqual(told)
  expect(stub.asked.length).toBeLessThan(5)
})

test('a list is not asked for one item after another: 100 a page are enough for a list of any length', async () => {
  const asks = async (items: number, last: number) => {
    let pages = 0
    const datasets = Array.from({ length: items }, (_, i) => ({ alias: `a/n${i}` }))
    const list = () => ({ body: { datasets, ...(++pages < last && { next: `a/n${pages}` }) } })
    await using stub = await startStub({ 'GET /datasets': list })
    const { code, error } = await end(stub.url, 'dataset', 'list')
    return [code, error, stub.asked.length]
  }
  expect(await asks(1, 60)).toEqual([1, 'error: URL lists datasets at /datasets a few at a time.', 17])
  expect(await asks(99, 2_000)).toEqual([1, 'error: URL lists datasets at /datasets a few at a time.', 1_601])
  expect(await asks(1, 16)).toEqual([0, '', 16])
  expect(await asks(100, 40)).toEqual([0, '', 40])
}, 30_000)

test('a stream of receipts without an end of line is no node', async () => {
  const answer = endless(200, '{"receiptId":"')
  const url = await http((request, response) => {
    if (request.url?.includes('/stream')) answer(request, response)
    else response.end('{}')
  })
  const { code, stderr } = await runCommand(
    ['ingest', 'me/lab', '-', '--stream', '--format', 'ndjson', '--retries', '0', '--server', url],
    { input: '{"a":1}\n' },
  )
  expect([code, stderr.replaceAll(url, 'URL')]).toEqual([
    1,
    expect.stringContaining('error: URL tells of batches in a line without an end.'),
  ])
})
