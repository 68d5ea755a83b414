// `verify` for files of every kind, judged by a policy: the verdict and the exit code of each, and what a ledger that is not
// as it was signed makes of them.

import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { toHex } from '../../src/libraries/base/bytes.ts'
import { canonicalBytes } from '../../src/libraries/base/json/canonical.ts'
import { fromPlain, jsonText } from '../../src/libraries/base/json/json.ts'
import { proofJsonText } from '../../src/libraries/ledger/proof-document.ts'
import { runCommand, runShell } from '../helpers/run-node.ts'
import { repository } from '../helpers/sources.ts'
import { keyText, origin, signedHead, twoOfThree } from '../libraries/ledger/keys.ts'
import { SmallLedger } from '../libraries/ledger/proofs.ts'
import { nodeKey, signedReceipt } from '../libraries/ledger/receipts.ts'
import { blockOf, receiptOf, SmallTree, statementOf } from '../libraries/ledger/small-node.ts'
import { headOf, serve, servedLedger, servedTree } from './served-ledger.ts'

const folder = await mkdtemp(join(tmpdir(), 'proofstream-verify-'))
const ledger = new SmallLedger(600)
const nowhere = 'http://127.0.0.1:9'
const named = ['--signer', nodeKey.did]
const [past, future] = ['2026-05-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z']

async function save(name: string, content: Uint8Array | string | object): Promise<string> {
  const text = content instanceof Uint8Array || typeof content === 'string' ? content : jsonText(fromPlain(content))
  await writeFile(join(folder, name), text)
  return name
}

const policy = await save('policy', twoOfThree)
const alone = await save('alone', twoOfThree.replace('quorum G', 'quorum none'))

interface Line {
  readonly file: string
  readonly verdict: string
  readonly code: number
  readonly [name: string]: unknown
}

async function verify(...args: string[]) {
  const { code, stdout, stderr } = await runCommand(['verify', ...args], { cwd: folder })
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  return { code, lines: lines.map((line) => JSON.parse(line) as Line), stderr, stdout }
}

const blocks = (count: number): Uint8Array[] => ledger.blocks.slice(0, count).map(({ entry }) => entry)

describe.concurrent('verify', () => {
  test('takes a proof of the ledger in both forms, and says what is shown', async () => {
    const proof = ledger.proof(301, 600, 'row')
    const text = await save('row.tlog-proof', ledger.text(301, 600, 'row'))
    const json = await save('row.json', proofJsonText(ledger.blocks[301]!.documents.row, proof))
    const block = await save('block.tlog-proof', ledger.text(5, 9, 'block'))
    const { code, lines, stderr } = await verify(text, json, block, '--policy', policy)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [one, two, three] = lines
    expect(one).toMatchObject({
      file: text,
      verdict: 'included',
      code: 0,
      kind: 'row',
      sequence: 100,
      record: { value: { kind: 'row' } },
      ledger: { origin, size: 600, index: 301 },
      quorum: 'met',
      witnessed: [
        { name: 'W1', at: '2026-05-28T20:26:41.000Z' },
        { name: 'W3', at: '2026-05-28T20:26:43.000Z' },
      ],
      policy,
    })
    expect({ ...two, file: text }).toEqual(one)
    expect(three).toMatchObject({ kind: 'block', sequence: 1, block: expect.stringMatching(/^f1620/) })
  })

  test('ends with the worst code of many files, and tells each in a line', async () => {
    const good = await save('good.tlog-proof', ledger.text(5, 9, 'block'))
    const few = await save('few.tlog-proof', ledger.text(5, 9, 'block', { witnesses: [2] }))
    const changed = await save(
      'changed.tlog-proof',
      Buffer.from(ledger.text(5, 9, 'block'))
        .toString()
        .replace('index 5', 'index 6'),
    )
    const head = await save('head', headOf(blocks(9)))
    const other = await save('other', `log ${keyText('other.example', 1, 1)}\nquorum none\n`)
    const answer = join(repository, 'test', 'fixtures', 'answers', 'join.json')
    const all = await verify(good, few, changed, head, answer, 'none', '--offline', '--policy', policy)
    expect([all.code, all.lines.map(({ verdict, code }) => [verdict, code])]).toEqual([
      10,
      [
        ['included', 0],
        ['witness quorum not met', 13],
        ['altered', 10],
        ['signed', 0],
        ['verified', 0],
        ['failed', 3],
      ],
    ])
    const unknown = await verify(good, head, '--policy', other)
    expect([unknown.code, unknown.lines.map(({ code }) => code)]).toEqual([14, [14, 14]])
    const table = await verify(good, changed, '--policy', policy, '-o', 'table')
    expect(table.stdout).toMatch(/^✗ Do not trust this file\n {2}changed\.tlog-proof: a proof of a ledger$/m)
    expect(table.stdout).toContain('The entry is not at this place of the tree.')
    expect((await verify(good, '--policy', policy, '-o', 'table')).stdout).toMatch(
      /^ {2}entry +the 6th of 9 entries of node\.example/m,
    )
    expect((await verify(good, '--policy', changed)).code).toBe(5)
  })

  test('ends with the code of its verdict though nobody reads what it prints', async () => {
    const forged = Buffer.from(ledger.text(5, 9, 'block'))
      .toString()
      .replace('index 5', 'index 4')
    const named = {
      forged: await save('unread.tlog-proof', forged),
      good: await save('unread', ledger.text(5, 9, 'block')),
    }
    const codes = Object.values(named).map(async (file) => {
      const line = `proofstream verify ${file} --offline --policy ${policy} -o table | true`
      return (await runShell(line, { cwd: folder })).code
    })
    expect(await Promise.all(codes)).toEqual([10, 0])
  })

  test('refuses a signer that is no key, which would make a forgery of each true file', async () => {
    const receipt = await save('of-a-key', signedReceipt(ledger, 5, { by: future }))
    for (const signer of ['did:web:node.example', '', `${nodeKey.did} `]) {
      expect((await verify(receipt, '--policy', policy, '--offline', '--signer', signer)).code).toBe(2)
    }
  })

  test('tells when a witness has signed whose clock is past all years', async () => {
    const tree = { size: 1, root: new Uint8Array(32) }
    const late = await save('late', signedHead(tree, { at: 9_000_000_000_000 }))
    const { code, lines } = await verify(late, '--policy', policy)
    const at = (n: number): string => `${9_000_000_000_000 + n} seconds after 1970`
    expect([code, lines[0]?.['witnessed']]).toEqual([
      0,
      [
        { name: 'W1', at: at(1) },
        { name: 'W3', at: at(3) },
      ],
    ])
  })

  test('says how an answer is checked where no node is', async () => {
    const answer = join(repository, 'test', 'fixtures', 'answers', 'join.json')
    const { code, stderr } = await verify(answer, '--server', nowhere)
    expect([code, stderr]).toEqual([6, expect.stringContaining('--offline checks hashes and signature')])
  })

  test('judges by the policy of the node and names it, and by none where there is none', async () => {
    const good = await save('of-node.tlog-proof', ledger.text(5, 9, 'block'))
    await using node = await serve(servedLedger(blocks(9)).files)
    const { code, lines, stderr } = await verify(good, '--server', node.url)
    expect({ code, policy: lines[0]?.['policy'] }).toEqual({ code: 0, policy: `of ${node.url}` })
    expect(stderr).toContain(`judged by the policy of ${node.url}`)
    for (const args of [['--offline'], ['--server', nowhere]]) {
      const none = await verify(good, ...args)
      expect([none.code, none.lines[0]?.verdict, none.lines[0]?.['reason']]).toEqual([
        14,
        'not judged',
        expect.stringContaining('There is no policy to judge by'),
      ])
    }
  })
})

describe.concurrent('the promise of a receipt', () => {
  test('is kept where the ledger has the entry', async () => {
    const receipt = await save('kept', signedReceipt(ledger, 5, { by: past }))
    const early = await save('early', signedReceipt(ledger, 0, { by: past }))
    await using node = await serve(servedLedger(blocks(600)).files)
    const { code, lines } = await verify(receipt, early, '--policy', policy, '--server', node.url)
    expect([code, lines]).toEqual([
      0,
      [
        expect.objectContaining({ verdict: 'included', ledger: { origin, size: 601, index: 6 }, quorum: 'met' }),
        expect.objectContaining({ verdict: 'included', ledger: { origin, size: 601, index: 1 } }),
      ],
    ])
    await using few = await serve(servedLedger(blocks(9), [2]).files)
    expect((await verify(receipt, '--policy', policy, '--server', few.url)).code).toBe(13)
    expect((await verify(receipt, '--policy', alone, '--server', few.url)).lines[0]).toMatchObject({
      quorum: 'none',
      code: 0,
    })
  })

  test('is read where the policy says that the ledger is', async () => {
    const receipt = await save('elsewhere', signedReceipt(ledger, 5, { by: past }))
    await using node = await serve(servedLedger(blocks(9)).files)
    const there = await save('there', twoOfThree.replace(/^(log .*)$/m, `$1 ${node.url}/ledger/`))
    expect((await verify(receipt, '--policy', there, '--server', nowhere)).lines[0]?.verdict).toBe('included')
  })

  test('is a file, as the policy is one', async () => {
    const receipt = await save('file', signedReceipt(ledger, 8, { by: future }))
    for (const args of [[tmpdir()], [receipt, '--policy', tmpdir()]]) {
      const { code, stderr } = await verify(...(args as [string, ...string[]]), '--offline')
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${tmpdir()} is a directory`)])
    }
  })

  test('is not yet due, with the ledger or without it for who knows the signer', async () => {
    const receipt = await save('young', signedReceipt(ledger, 8, { by: future }))
    await using node = await serve(servedLedger(blocks(5)).files)
    for (const args of [
      ['--server', node.url],
      ...[['--offline'], ['--server', nowhere]].map((to) => [...named, ...to]),
    ]) {
      const { code, lines } = await verify(receipt, '--policy', policy, ...args)
      expect([code, lines[0]]).toEqual([
        0,
        expect.objectContaining({
          verdict: 'promised, not yet due',
          reason: expect.stringContaining(`It is due only at ${future}, 26543 days after it was signed`),
        }),
      ])
    }
    expect((await verify(receipt, '--policy', policy, ...named, '--server', nowhere)).lines[0]).toMatchObject({
      boundBy: 'reader',
      unread: [origin],
    })
    const old = await save('old', signedReceipt(ledger, 8, { by: past }))
    const alone = await verify(old, '--policy', policy, '--offline')
    expect([alone.code, alone.lines[0]]).toMatchObject([14, { verdict: 'not judged', missing: 'signer' }])
    expect((await verify(old, '--policy', policy, '--offline', ...named)).lines[0]).toMatchObject({ missing: 'ledger' })
    expect((await verify(old, '--policy', policy, '--server', nowhere)).code).toBe(6)
  })

  test('is judged by the files where its ledger has never shown a head', async () => {
    const { files } = servedLedger(blocks(8))
    files.delete('/ledger/checkpoint')
    await using node = await serve(files)
    const old = await save('headless', signedReceipt(ledger, 8, { by: past }))
    const { code, lines } = await verify(old, '--policy', policy, '--server', node.url, ...named)
    expect([code, lines[0]]).toMatchObject([14, { verdict: 'not judged', missing: 'ledger', unread: [origin] }])
  })

  test('is broken by a later head without the entry, and by another block in its place: both are files that verify takes', async () => {
    const receipt = await save('broken', signedReceipt(ledger, 8, { by: past }))
    await using without = await serve(servedLedger(blocks(8)).files)
    const late = await verify(receipt, '--policy', policy, '--server', without.url)
    expect([late.code, late.lines[0]]).toEqual([12, expect.objectContaining({ verdict: 'promise broken' })])
    const other = Uint8Array.from(ledger.blocks[8]!.entry)
    other[60]! ^= 1
    await using instead = await serve(servedLedger([...blocks(8), other]).files)
    const swapped = await verify(receipt, '--policy', policy, '--server', instead.url)
    expect([swapped.code, swapped.lines[0]?.['reason']]).toEqual([12, expect.stringContaining('another block')])

    const files = [await save('late.json', late.stdout), await save('swapped.json', swapped.stdout)]
    const again = await verify(files[0]!, '--policy', policy, '--server', without.url)
    expect([again.code, again.lines[0]?.verdict]).toEqual([12, 'promise broken'])
    // The entry and the statement are in the file: nobody is asked. That it lacks the entry, all entries say.
    const offline = ['--policy', policy, '--offline']
    expect((await verify(files[1]!, ...offline)).lines[0]).toMatchObject({
      code: 12,
      boundBy: { ledger: origin, index: 0, size: 10 },
    })
    expect((await verify(files[0]!, ...offline)).lines[0]).toMatchObject({ code: 14, missing: 'ledger' })
    const changed = swapped.stdout.replace('"index":9', '"index":8')
    expect((await verify(await save('forged.json', changed), ...offline)).code).toBe(10)
  })

  test('of a ledger that was renewed is judged by its end, and by what the next one says of keys', async () => {
    const old = new SmallTree(origin, 1, [statementOf(7, { origin, key: 1 }), blockOf(0, 0)])
    const nextOrigin = 'node.example/ledger/2'
    const retired = [{ node: 7, at: '2026-05-28T20:25:00.000Z', why: 'leaked' }] as const
    const first = statementOf(7, { origin: nextOrigin, key: 2, previous: old.previous() })
    const told = statementOf(8, { origin: nextOrigin, key: 2, previous: old.previous(), retired })
    const served = (next: readonly (typeof first)[]) => {
      const tree = new SmallTree(nextOrigin, 2, next)
      const files = servedTree(old.entries, old.head())
      for (const [path, file] of servedTree(tree.entries, tree.head()))
        files.set(path.replace('/ledger', '/ledger/2'), file)
      const place = (one: typeof first, at: string): unknown =>
        files.set(`${at}/statements/${toHex(one.entry.subarray(1))}`, canonicalBytes(one.documents.statement.statement))
      place(statementOf(7, { origin, key: 1 }), '/ledger')
      for (const one of next) place(one, '/ledger/2')
      return files
    }
    const receipts = [
      await save('renewed-kept', receiptOf(blockOf(0, 0))),
      await save('renewed-lost', receiptOf(blockOf(0, 1), { by: future })),
      await save('renewed-thief', receiptOf(blockOf(0, 0), { time: '2026-05-28T20:26:00.000Z', by: future })),
    ]
    const codesBy = async (files: ReturnType<typeof served>, withNext = true) => {
      await using node = await serve(files)
      const both = twoOfThree.replace(/^(log .*)$/m, `$1 ${node.url}/ledger`)
      const line = `log ${keyText(nextOrigin, 2, 1)} ${node.url}/ledger/2\n`
      const file = await save(`renewed-policy-${files.size}-${String(withNext)}`, withNext ? both + line : both)
      const judged = await verify(...(receipts as [string]), '--policy', file, '--server', nowhere)
      return { judged: judged.lines.map(({ code }) => code), lines: judged.lines, file }
    }
    expect((await codesBy(served([first]), false)).judged).toEqual([0, 0, 0])
    const { judged, lines } = await codesBy(served([first]))
    expect(judged).toEqual([0, 12, 0])
    expect(lines[1]?.['reason']).toContain('took the place of the ledger, which ended without the promised entry')
    const evidence = lines[1]?.['evidence'] as { readonly proofs: readonly object[] } // as it is printed
    expect(evidence.proofs).toMatchObject([{ kind: 'statement' }, { kind: 'statement' }])
    expect((await codesBy(served([first, told]))).lines).toMatchObject([
      { code: 0, retired: { why: 'leaked' }, boundBy: { ledger: nextOrigin, index: 1 } },
      { code: 14, missing: 'signer' },
      { code: 14, missing: 'signer' },
    ])
    // That one hides what it said.
    const hidden = served([first, told])
    hidden.delete(`/ledger/2/statements/${toHex(told.entry.subarray(1))}`)
    expect((await codesBy(hidden)).judged).toEqual([11, 11, 11])
  })

  test('is not judged by a ledger that is not as it was signed', async () => {
    const receipt = await save('hostile', signedReceipt(ledger, 8, { by: past }))
    const judge = async (change: (files: ReturnType<typeof servedLedger>['files']) => void) => {
      const { files } = servedLedger(blocks(300))
      change(files)
      await using node = await serve(files)
      return (await verify(receipt, '--policy', policy, '--server', node.url)).lines[0]?.code
    }
    const entries = '/ledger/tile/entries/000'
    const small = servedLedger(blocks(8)).files
    const bundle = Buffer.from(servedLedger(blocks(300)).files.get(entries) as Uint8Array)
    const at = bundle.indexOf(ledger.blocks[8]!.entry)
    expect(at).toBeGreaterThan(0)
    const endless = (first: Uint8Array) => (files: ReturnType<typeof servedLedger>['files'], path: string) =>
      files.set(path, (response) => {
        response.writeHead(200)
        const more = (): void => {
          while (response.write(first));
          response.once('drain', more)
        }
        more()
      })
    const junk = endless(new Uint8Array(65_536))
    expect({
      good: await judge(() => {}),
      'an entry is another': await judge((files) =>
        files.set(entries, Buffer.concat([bundle.subarray(0, at + 60), Uint8Array.of(9), bundle.subarray(at + 61)])),
      ),
      'a bundle of another tree': await judge((files) =>
        files.set(entries, small.get('/ledger/tile/entries/000.p/9')!),
      ),
      'a bundle without end': await judge((files) => junk(files, entries)),
      'a head without end': await judge((files) => junk(files, '/ledger/checkpoint')),
      'no tile': await judge((files) => files.delete(entries)),
      'a head by another key': await judge((files) =>
        files.set(
          '/ledger/checkpoint',
          Buffer.from(headOf(blocks(3)))
            .toString()
            .replace(/^(— node\S+ )(....)/m, '$1$2A'),
        ),
      ),
      'a redirect': await judge((files) =>
        files.set('/ledger/checkpoint', (response) => response.writeHead(302, { location: '/ledger/policy' }).end()),
      ),
    }).toEqual({
      good: 0,
      'an entry is another': 10,
      'a bundle of another tree': 10,
      'a bundle without end': 10,
      'a head without end': 10,
      'no tile': 11,
      'a head by another key': 10,
      'a redirect': 6,
    })
  })
})
