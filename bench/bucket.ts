// A node whose store is a bucket beside one whose store is a directory: how long a committed post and a warm query take, how
// many requests each is, and how long one request takes. The bucket is versitygw's on the same machine.

import { rmSync } from 'node:fs'
import { bodyOf } from '../src/drivers/s3/body.ts'
import { testBucket, testKeys } from '../test/helpers/buckets.ts'
import { startVersitygw, versitygw } from '../test/helpers/versitygw.ts'
import { type BenchNode, startBenchNode } from './machine.ts'
import { compareMs, median, type Measure, timeMs } from './measure.ts'

const posts = 100
const queries = 300
/** Posts that nobody waits for, so far apart that each is a block of its own. */
const [alonePosts, betweenMs] = [100, 300]
const alias = 'acme/w'

export async function measureBucket(): Promise<Measure[]> {
  if (versitygw === undefined) throw new Error('This needs versitygw: see test/helpers/versitygw.ts.')
  const server = await startVersitygw()
  // The node's environment is this process'.
  process.env['AWS_ACCESS_KEY_ID'] = testKeys.accessKeyId
  process.env['AWS_SECRET_ACCESS_KEY'] = testKeys.secretAccessKey
  // Blocks as they are asked for, not as datasets are paced.
  const tuning = { cut: { burstBlocks: 10_000, openAgeMs: 100 } }
  const near = await startBenchNode({}, { tuning })
  const far = await startBenchNode({ store: `s3://tests/lake?endpoint=${server.url}` }, { tuning })
  try {
    for (const node of [near, far]) {
      await node.post(alias, '{"n":0}\n', { query: '?create=true' })
      // Code is compiled.
      for (let n = 1; n < 20; n++) await node.post(alias, `{"n":${n}}\n`)
    }
    const requestMs = await requestTimeMs(server.url)
    let n = 20
    const commit = (node: BenchNode) => () => node.post(alias, `{"n":${n++}}\n`, { prefer: 'wait=30' })
    const commits = await compareMs(posts, commit(near), commit(far))
    const warm = (node: BenchNode) => () => node.query(`select count(*), sum(n) from "${alias}" where n > ${n++ % 7}`)
    for (const node of [near, far]) await warm(node)()
    const asked = await requestsOf(far)
    const answers = await compareMs(queries, warm(near), warm(far))
    const queryRequests = ((await requestsOf(far)) - asked) / queries
    // Last: it makes the one chain longer than the other.
    const commitRequests = await requestsOfCommit(far, () => n++)
    return [
      { name: 'bucket: a small conditional PUT', value: requestMs, unit: 'ms' },
      { name: 'bucket: a committed post, of a directory', value: commits.first, unit: 'ms' },
      { name: 'bucket: a committed post', value: commits.second, unit: 'ms' },
      {
        name: 'bucket: what that is longer, in requests',
        value: (commits.second - commits.first) / requestMs,
        unit: '×',
        bar: { most: 4 },
      },
      { name: 'bucket: requests of a commit', value: commitRequests, unit: '', bar: { most: 6.2 } },
      { name: 'bucket: warm query ÷ directory', value: answers.second / answers.first, unit: '×', bar: { most: 1.1 } },
      { name: 'bucket: requests of a warm query', value: queryRequests, unit: '', bar: { most: 0.2 } },
    ]
  } finally {
    await near.remove()
    await far.remove()
    await server.close()
    rmSync('/tmp/proofstream-test-spool', { recursive: true, force: true })
  }
}

/** A request as commits make them: 2 KB that may not be there yet. */
async function requestTimeMs(url: string): Promise<number> {
  const bucket = await testBucket({ url })
  const times: number[] = []
  for (let i = 0; i < 120; i++) {
    const body = await bodyOf([new TextEncoder().encode(`${i} ${'x'.repeat(2_000)}`)])
    const ms = await timeMs(() => bucket.put(`r/${i}`, body, 'absent'))
    if (i >= 20) times.push(ms)
  }
  bucket.s3.destroy()
  return median(times)
}

/** Requests to the bucket for a block that nobody waits for, without those that come as time goes by. */
async function requestsOfCommit(node: BenchNode, next: () => number): Promise<number> {
  const during = async (work: () => Promise<unknown>): Promise<number> => {
    const before = await requestsOf(node)
    for (let i = 0; i < alonePosts; i++) {
      await work()
      await new Promise((resolve) => setTimeout(resolve, betweenMs))
    }
    return (await requestsOf(node)) - before
  }
  const blocks = async (): Promise<number> => ((await (await node.call(`/${alias}`)).json()) as Summary).blocks
  const before = await blocks()
  const posting = await during(() => node.post(alias, `{"n":${next()}}\n`, { prefer: 'respond-async' }))
  const made = (await blocks()) - before
  const idle = await during(async () => {})
  return (posting - idle) / made
}

interface Summary {
  readonly blocks: number
}

/** Requests that the store of a node was sent so far. */
async function requestsOf(node: BenchNode): Promise<number> {
  const text = await (await node.call('/metrics')).text()
  let requests = 0
  for (const [, count] of text.matchAll(/^proofstream_store_requests_total\{[^}]*\} (\d+)$/gm))
    requests += Number(count)
  return requests
}
