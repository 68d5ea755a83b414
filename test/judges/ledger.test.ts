// The ledger's files as libraries judge them that others wrote: proofs by torchwood, transparency-dev/formats and Go's sumdb,
// tiles by Tessera's fsck. They must take what ours takes and refuse what ours refuses. JUDGED_PROOFS sets how many proofs.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeUtf8, utf8 } from '../../src/libraries/base/bytes.ts'
import { judgeProof } from '../../src/libraries/ledger/judge-proof.ts'
import { parsePolicy } from '../../src/libraries/ledger/policy.ts'
import { TiledTree } from '../../src/libraries/ledger/tiled-tree.ts'
import { entryBundle, grownTiles, tileName } from '../../src/libraries/ledger/tiles.ts'
import { leafHash } from '../../src/libraries/ledger/tree.ts'
import { keyText, origin, signedHead, twoOfThree } from '../libraries/ledger/keys.ts'
import { kinds, SmallLedger } from '../libraries/ledger/proofs.ts'
import { buildJudges, hasGo, type Judges, run } from './go.ts'

const proofs = Number(process.env['JUDGED_PROOFS'] ?? 1000)
const logKey = keyText(origin, 1, 1)
const policy = parsePolicy(utf8(twoOfThree))
/** What formats and sumdb judge: the ledger's signature, and no witness. */
const logOnly = parsePolicy(utf8(`log ${logKey}\nquorum none\n`))

const home = mkdtempSync(join(tmpdir(), 'proofstream-judges-'))
let judges: Judges
beforeAll(() => {
  if (hasGo) judges = buildJudges(home)
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** What each judge says of a file: empty where it takes it. */
interface Said {
  readonly torchwood: string
  readonly formats: string
  readonly sumdb: string
}

function judged(files: readonly string[]): Said[] {
  const shared = { policy: Buffer.from(twoOfThree).toString('base64'), key: logKey }
  const lines = files.map((file) => JSON.stringify({ ...shared, proof: Buffer.from(file).toString('base64') }))
  const { stdout, stderr, status } = run(judges.judge, [], { input: lines.join('\n') })
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  // Each line is what main.go prints.
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Said)
}

/** The file in the one spelling that is taken here: Go's base64 passes over spare bits and line ends, its integers over zeros. */
function inOneSpelling(file: string): string {
  const again = (base64: string): string => Buffer.from(base64, 'base64').toString('base64')
  return file
    .replaceAll('\r', '')
    .replace(/^index \+?0*(?=\d)/m, 'index ')
    .replace(/(?<=^|^extra |^— \S+ )(?:[A-Za-z\d+/]{4})+(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/gm, again)
}

const random = <T>(arbitrary: fc.Arbitrary<T>, seed: number): T => fc.sample(arbitrary, { seed, numRuns: 1 })[0]!

/** One change in each line: a character put in, taken out or replaced, or the line gone or twice. */
function changedLines(file: string, seed: number): string[] {
  const lines = file.split('\n').slice(0, -1)
  const alphabet = ['A', 'B', 'a', 'b', '0', '1', '+', '/', '=', '-', ' ', '\n', '\r']
  return lines.map((line, i) => {
    const how = fc.record({
      at: fc.nat(line.length),
      kind: fc.constantFrom('put', 'put', 'in', 'out', 'gone', 'twice'),
      text: fc.constantFrom(...alphabet),
    })
    const { at, kind, text } = random(how, seed * 64 + i)
    const cut = kind === 'put' || kind === 'out' ? 1 : 0
    const changed = `${line.slice(0, at)}${kind === 'out' ? '' : text}${line.slice(at + cut)}`
    const put = kind === 'gone' ? [] : kind === 'twice' ? [line, line] : [changed]
    return [...lines.slice(0, i), ...put, ...lines.slice(i + 1), ''].join('\n')
  })
}

describe.skipIf(!hasGo)('a proof', () => {
  const most = 1500
  const ledger = new SmallLedger(most)
  const places = fc.integer({ min: 1, max: most }).chain((size) =>
    fc.record({
      size: fc.constant(size),
      index: fc.nat(size - 1),
      kind: fc.constantFrom(...kinds),
      witnesses: fc.subarray([1, 2, 3]),
      stranger: fc.boolean(),
    }),
  )
  const samples = fc.sample(places, { seed: 7, numRuns: proofs })
  const files = samples.map(({ index, size, kind, witnesses, stranger }) =>
    decodeUtf8(ledger.text(index, size, kind, { witnesses, stranger })),
  )

  test('is taken by all of them, and without its quorum by none that asks for one', () => {
    judged(files).forEach(({ torchwood, formats, sumdb }, i) => {
      const isMet = samples[i]!.witnesses.length >= 2
      expect({ isTaken: torchwood === '', formats, sumdb }).toEqual({ isTaken: isMet, formats: '', sumdb: '' })
      expect(judgeProof(utf8(files[i]!), policy).verdict).toBe(isMet ? 'included' : 'witness quorum not met')
    })
  })

  test('with any line changed is refused by those that refuse it here', () => {
    const changed = files.flatMap((file, i) => changedLines(file, i).map((text) => ({ file, text })))
    let refused = 0
    const faults: object[] = []
    judged(changed.map(({ text }) => text)).forEach((said, i) => {
      const { file, text } = changed[i]!
      const isTaken = (by: typeof policy, of: string): boolean => judgeProof(utf8(of), by).verdict === 'included'
      if (!isTaken(logOnly, text)) refused++
      // They do not read what is in the extra line beside the entry.
      const isExtra = file.split('\n')[1] !== text.split('\n')[1] && text.startsWith('c2sp.org/tlog-proof@v1\nextra ')
      for (const [judge, by] of [
        ['torchwood', policy],
        ['formats', logOnly],
        ['sumdb', logOnly],
      ] as const) {
        const [here, there] = [isTaken(by, text), said[judge] === '']
        const isSame = here === there || (there && (isExtra || isTaken(by, inOneSpelling(text))))
        if (!isSame) faults.push({ judge, here, said: said[judge], file, text })
      }
    })
    expect(faults.slice(0, 1)).toEqual([])
    expect(refused).toBeGreaterThan(changed.length / 2)
  })
})

describe.skipIf(!hasGo)('the tiles of a ledger', () => {
  const sizes = [1, 255, 256, 257, 65_535, 65_536, 65_537, 70_000]
  const entries = Array.from({ length: 70_000 }, (_, i) => Buffer.alloc(137, `entry ${i} `))
  const leaves = entries.map(leafHash)

  /** The files of a ledger that has grown to `size` and published no head before. */
  function directoryOf(size: number): string {
    const folder = mkdtempSync(join(home, 'tiles-'))
    const put = (name: string, bytes: Uint8Array): void => {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), bytes)
    }
    const tree = new TiledTree()
    for (const leaf of leaves.slice(0, size)) tree.append(leaf)
    for (const { tile, bytes } of tree.takeTiles()) put(tileName(tile), bytes)
    for (const tile of grownTiles(0, size).filter(({ level }) => level === 'entries')) {
      put(tileName(tile), entryBundle(entries.slice(256 * tile.index, 256 * tile.index + tile.width)))
    }
    put('checkpoint', signedHead({ size, root: tree.root() }, { witnesses: [] }))
    put('key', utf8(logKey))
    return folder
  }

  /** What fsck says. It does not end at some faults: then that it did not. */
  function fsck(folder: string, seconds: number): string {
    const args = ['--storage_url', `file://${folder}/`, '--public_key', join(folder, 'key'), '--ui=false', '--v=1']
    const { stderr, signal, status } = run(judges.fsck, args, { seconds })
    if (signal !== null) return 'did not end'
    const fault = /fsck failed: .*/.exec(stderr)?.[0]
    return fault ?? (status === 0 && stderr.includes('Completed ranges') ? 'good' : stderr)
  }

  test.each(sizes)('of %i entries are good', (size) => {
    expect(fsck(directoryOf(size), 300)).toBe('good')
  })

  test.each([
    'tile/0/000',
    'tile/0/001.p/1',
    'tile/1/000.p/1',
    'tile/entries/000',
    'tile/entries/001.p/1',
    'checkpoint',
  ])('are not with one bit of %s changed', (name) => {
    const folder = directoryOf(257)
    const bytes = readFileSync(join(folder, name))
    bytes[bytes.length >> 1]! ^= 1
    writeFileSync(join(folder, name), bytes)
    expect(fsck(folder, 5)).not.toBe('good')
  })
})
