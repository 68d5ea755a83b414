// One bit changed, or the end cut off, in each kind of file that a node keeps: it is told (by `fsck`, at the start, or
// in the answer) and never served. What a node answers with is what it answered before, or an error.

import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { randomOf } from '../history/load.ts'
import { checkStore } from '../../src/index.ts'
import { must } from '../../src/libraries/base/assert.ts'
import { type RunningNode, startNode } from '../../src/app/node.ts'
import { type Answer, send, startLiveNode } from '../helpers/live-node.ts'
import { until } from '../helpers/until.ts'
import { tuned } from '../helpers/tuning.ts'
import { seed } from '../helpers/seed.ts'

const random = randomOf(seed)
/** Changed bits for each kind, beside one file that is cut off. */
const flips = Number(process.env['DAMAGE_FLIPS'] ?? 2)

/**
 * Kinds of files, and who must tell that one has changed. `answer`: whoever relies on it is refused. `some`: most of it
 * is what people read (a name, a time), or the way to write a name; the rest is told.
 */
const kinds: readonly {
  readonly name: string
  readonly path: RegExp
  readonly toldBy: 'fsck' | 'start' | 'answer' | 'some'
}[] = [
  { name: 'block', path: /^store\/datasets\/.*\/blocks\//, toldBy: 'fsck' },
  { name: 'slice', path: /^store\/datasets\/.*\/data\//, toldBy: 'fsck' },
  { name: 'checkpoint', path: /^store\/datasets\/.*\/checkpoints\//, toldBy: 'fsck' },
  { name: 'commit', path: /^store\/datasets\/.*\/commits\//, toldBy: 'fsck' },
  { name: 'name', path: /^store\/names\//, toldBy: 'some' },
  { name: 'log record', path: /^store\/logs\//, toldBy: 'start' },
  { name: 'floor', path: /^store\/progress\//, toldBy: 'fsck' },
  { name: 'head (a hint)', path: /^store\/datasets\/.*\/refs\/head$/, toldBy: 'some' },
  { name: 'log segment', path: /^log\/\d+\.segment$/, toldBy: 'start' },
  { name: 'log id', path: /^log\/id$/, toldBy: 'start' },
  { name: 'node key', path: /^keys\/node\.json$/, toldBy: 'start' },
  { name: 'admin token', path: /^token$/, toldBy: 'answer' },
  { name: 'token record', path: /^store\/tokens\//, toldBy: 'some' },
  { name: 'key of a signer', path: /^store\/signers\//, toldBy: 'fsck' },
  { name: 'receipt secret', path: /^store\/secrets\//, toldBy: 'answer' },
  { name: 'origin of the ledger', path: /^store\/ledger\/origin$/, toldBy: 'fsck' },
  { name: 'batch of the ledger', path: /^store\/ledger\/batches\//, toldBy: 'fsck' },
  { name: 'tile of the ledger', path: /^store\/ledger\/tile\//, toldBy: 'fsck' },
  { name: 'head of the ledger', path: /^store\/ledger\/checkpoint$/, toldBy: 'fsck' },
  { name: 'statement of the ledger', path: /^store\/ledger\/statements\//, toldBy: 'fsck' },
  // A changed one gives other tags, which nobody can tell from those of another dataset.
  { name: 'secret of a dataset', path: /^store\/ledger-keys\//, toldBy: 'some' },
  { name: 'ledger key', path: /^keys\/ledger\.json$/, toldBy: 'start' },
]

interface Whole {
  readonly dir: string
  readonly files: readonly string[]
  readonly adminToken: string
  readonly questions: readonly Question[]
  readonly answers: readonly string[]
}

interface Question {
  readonly path: string
  readonly body?: string
}

let home = ''
let whole: Whole

/** What an answer says; letters of a name may be of either case. */
function contentOf(answer: Answer): string {
  const text = JSON.stringify(answer.at('output') ?? answer.json)
  return text.replace(/"alias":"[^"]*"/g, (alias) => alias.toLowerCase())
}

async function ask(url: string, token: string, { path, body }: Question): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return send(url, path, body === undefined ? { headers } : { method: 'POST', headers, body })
}

const rowsOf = (alias: string): Question => ({
  path: '/query',
  body: JSON.stringify({ query: `select * from "${alias}" order by "offset"`, dataFormat: 'JsonAoa' }),
})

const oneQuery = { limits: { concurrentQueries: 1 } }

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'proofstream-damage-'))
  const live = await startLiveNode({ 'ledger-delay': '1s' }, oneQuery)
  const receipts: string[] = []
  for (const alias of ['acme/a', 'acme/b']) {
    for (let n = 0; n < 3; n++) {
      const rows = Array.from({ length: 20 }, (_, i) => ({ n, i, text: `row ${i} of ${n}` }))
      receipts.push(String((await live.ingest(alias, rows, '?create=true')).at('receiptId')))
    }
  }
  const dir = join(live.dataDir, 'store', 'progress')
  while ((await readdir(dir).catch(() => [])).length === 0) await sleep(100)
  await until('a head', async () => (await live.call('/ledger')).at('size') || undefined)
  const proof = await live.query('select sum(i) from "acme/a"', { include: ['Proof'] })
  const questions = [rowsOf('acme/a'), rowsOf('acme/b'), ...receipts.map((id) => ({ path: `/receipts/${id}` }))]
  questions.push({ path: '/verify', body: proof.text })
  const answers: string[] = []
  for (const question of questions) {
    const answer = await ask(live.node.url, live.adminToken, question)
    if (answer.status !== 200) throw new RangeError(`${question.path}: ${answer.text}`)
    answers.push(contentOf(answer))
  }
  const { adminToken } = live
  await live.node.stop()
  await cp(live.dataDir, join(home, 'whole'), { recursive: true })
  await rm(live.dataDir, { recursive: true, force: true })
  const found = await readdir(join(home, 'whole'), { withFileTypes: true, recursive: true })
  const files = found.flatMap((entry) =>
    entry.isFile() ? [relative(join(home, 'whole'), join(entry.parentPath, entry.name))] : [],
  )
  whole = { dir: join(home, 'whole'), files, adminToken, questions, answers }
})

afterAll(() => rm(home, { recursive: true, force: true }))

/** Bytes that mean something: a segment is preallocated with zeros, and a token is the same without its line end. */
function usedBytes(bytes: Uint8Array): number {
  let end = bytes.length
  while (end > 0 && (bytes[end - 1] === 0 || bytes[end - 1] === 0x0a)) end--
  return end
}

/** Changes one bit, or cuts off the end. Returns what was done. */
async function damage(path: string, how: 'bit' | 'cut'): Promise<string> {
  const bytes = await readFile(path)
  const used = usedBytes(bytes)
  const at = random.between(0, used - 1)
  await rm(path)
  if (how === 'cut') {
    await writeFile(path, bytes.subarray(0, at), { mode: 0o600 })
    return `cut off at ${at}`
  }
  const bit = 1 << random.between(0, 7)
  bytes[at] = must(bytes[at], 'a byte') ^ bit
  await writeFile(path, bytes, { mode: 0o600 })
  return `bit ${bit} of byte ${at}`
}

/** Who told of the damage in `dir`, and answers that are neither errors nor what they were. */
async function tellers(dir: string): Promise<{ told: string[]; wrong: string[] }> {
  const told: string[] = []
  const wrong: string[] = []
  if (!(await checkStore(dir)).ok) told.push('fsck')
  let node: RunningNode
  try {
    const config = { data: dir, listen: '127.0.0.1:0', 'log-level': 'silent' }
    node = await startNode(tuned(loadConfig(config), oneQuery))
  } catch {
    return { told: [...told, 'start'], wrong }
  }
  try {
    const ready = await send(node.url, '/readyz', {})
    if (ready.status !== 200) told.push('start')
    const ledger = async (): Promise<unknown> => Object(Object((await send(node.url, '/readyz', {})).json).ledger).state
    if ((await until('a ledger', ledger)) === 'halted') told.push('start')
    const token = (await readFile(join(dir, 'token'), 'utf8')).trim()
    const own = await ask(node.url, token, { path: '/tokens' }).catch(() => undefined)
    if (own?.status !== 200) told.push('answer')
    for (const [n, question] of whole.questions.entries()) {
      const answer = await ask(node.url, whole.adminToken, question)
      const text = contentOf(answer)
      if (answer.status !== 200) told.push('answer')
      else if (text !== whole.answers[n]) wrong.push(`${question.path} ${question.body ?? ''}: ${text.slice(0, 300)}`)
    }
    await postOne(node.url, told, wrong)
  } finally {
    await node.stop()
  }
  return { told, wrong }
}

/** One more row of each dataset: it is refused, or comes after those that are there. */
async function postOne(url: string, told: string[], wrong: string[]): Promise<void> {
  for (const alias of ['acme/a', 'acme/b']) {
    const headers = {
      authorization: `Bearer ${whole.adminToken}`,
      'content-type': 'application/x-ndjson',
      prefer: 'wait=1',
    }
    const body = '{"n":9,"i":9,"text":"one more"}\n'
    const answer = await send(url, `/${alias}/ingest`, { method: 'POST', headers, body })
    if (answer.status >= 400) told.push('answer')
    else if (answer.status === 200 && answer.at('offsets.start') !== 60)
      wrong.push(`one more row of ${alias}: ${answer.text}`)
  }
}

/** Without floors behind which there is a newer one: nobody reads those. */
function newestOf(files: readonly string[]): string[] {
  const positionOf = (file: string): number => Number(/^store\/progress\/.*\/(\d+)$/.exec(file)?.[1] ?? -1)
  const newest = Math.max(...files.map(positionOf))
  return files.filter((file) => positionOf(file) === newest)
}

test.each(kinds)(`a changed $name is told and never served (SEED=${seed})`, async ({ name, path, toldBy }) => {
  const files = newestOf(whole.files.filter((file) => path.test(file)))
  expect(files).not.toEqual([])
  const done: string[] = []
  for (const how of [...Array.from({ length: flips }, () => 'bit' as const), 'cut' as const]) {
    const file = must(files[random.between(0, files.length - 1)], 'a file')
    const dir = join(home, 'damaged')
    await rm(dir, { recursive: true, force: true })
    await cp(whole.dir, dir, { recursive: true })
    const what = `${file}: ${await damage(join(dir, file), how)}`
    const { told, wrong } = await tellers(dir)
    done.push(`${what}: ${[...new Set(told)].join(', ')}`)
    const mustTell = toldBy === 'some' ? 'nobody' : toldBy === 'fsck' ? 'fsck' : 'anybody'
    const isTold = mustTell === 'nobody' || (mustTell === 'fsck' ? told.includes('fsck') : told.length > 0)
    expect([what, wrong, isTold]).toEqual([what, [], true])
    await rm(dir, { recursive: true, force: true })
  }
  console.log(`damaged ${name}: ${done.join('; ')}`)
})

test('the table of kinds has every file that a node keeps', async () => {
  const derived = /^(?:cache\/|log\/lock$|log\/owner$)/
  const unknown = whole.files.filter((file) => !derived.test(file) && !kinds.some(({ path }) => path.test(file)))
  expect(unknown).toEqual([])
})
