// Bundles that are not what they must be: changed, swapped, cut, with more or less in them, of another dataset, by a liar.
// Each is told in words that name the place; nothing of it is run, and nothing is written outside the temporary directory.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { BundleFault } from '../../../src/libraries/proof/bundle/manifest.ts'
import { readBundle } from '../../../src/libraries/proof/bundle/read-bundle.ts'
import { loadConfig } from '../../../src/app/config.ts'
import { dialect } from '../../../src/node/engine/messages.ts'
import { canonicalBytes } from '../../../src/libraries/base/json/canonical.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import { concatBytes, utf8 } from '../../../src/libraries/base/bytes.ts'
import { verifyBundle } from '../../../src/app/verify-bundle.ts'
import { liveNode } from '../../helpers/live-node.ts'
import {
  bundleOf,
  command,
  type File,
  filesOf,
  folder,
  newPath,
  packed,
  repacked,
  savedProof,
  signedByStranger,
} from './support.ts'

const live = await liveNode()
const { limits } = loadConfig({})
let bundle = ''
let files: File[] = []
let others: File[] = []

const none: File = { path: '', bytes: new Uint8Array() }
const isBlock = ({ path }: File): boolean => path.includes('/blocks/')
const isSlice = ({ path }: File): boolean => path.includes('/data/')

beforeAll(async () => {
  for (const alias of ['acme/a', 'acme/b']) {
    for (let block = 0; block < 3; block++) {
      const rows = Array.from({ length: 20 }, (_, n) => ({ name: `${alias} ${block}`, n }))
      await live.ingest(alias, rows, '?create=true&integers=int64')
    }
  }
  const of = async (alias: string): Promise<string> => {
    const answer = await live.query(`select name, sum(n) as total from "${alias}" group by name`, {
      include: ['Proof'],
    })
    return await bundleOf(live, answer.text)
  }
  bundle = await of('acme/a')
  files = await filesOf(bundle)
  others = await filesOf(await of('acme/b'))
})

/** Outcome and words of the fault; or how a run ended. */
async function told(path: string): Promise<string> {
  const found = await verifyBundle(path, { limits })
  if (found.outcome === 'bundle') return `${found.fault.outcome}: ${found.fault.sentence}`
  return found.outcome === 'proof' ? found.verdict.kind : (found.failure?.error.kind ?? 'passed')
}

function changed({ path, bytes }: File, at = bytes.length >> 1): File {
  const copy = bytes.slice()
  copy[at] = (copy[at] ?? 0) ^ 1
  return { path, bytes: copy }
}

const swapped = (list: readonly File[], a: number, b: number): File[] =>
  list.map((file, at) => (at === a ? list[b] : at === b ? list[a] : file) ?? file)

describe('a bundle under its own manifest', () => {
  const edits: Readonly<Record<string, [edit: (all: readonly File[]) => readonly File[], words: RegExp]>> = {
    'with a changed slice': [
      (all) => all.map((file, at) => (at === all.length - 1 ? changed(file) : file)),
      /^failed: The bytes of datasets\/.*\/data\/f1620\w+ hash to f1620\w+, not to f1620/,
    ],
    'with a changed block': [
      (all) => all.map((file, at) => (at === 3 ? changed(file) : file)),
      /^failed: The bytes of datasets\/.*\/blocks\/f1620\w+ hash to/,
    ],
    'with a changed proof': [
      (all) => all.map((file, at) => (at === 1 ? changed(file, 30) : file)),
      /^failed: The bytes of proof\.json hash to/,
    ],
    'with two slices swapped': [
      (all) => swapped(all, all.length - 1, all.length - 2),
      /^failed: Where datasets\/.* must come stands "datasets\/|^failed: .* has not \d+ bytes/,
    ],
    'without a slice': [(all) => all.slice(0, -1), /^failed: Where datasets\/.*\/data\/.* must come stands no file/],
    'without a block': [(all) => all.toSpliced(3, 1), /^failed: Where datasets\/.* must come stands "datasets\//],
    'without its proof': [(all) => all.toSpliced(1, 1), /^failed: Where proof\.json must come stands "engine/],
    'with a file twice': [(all) => [...all, ...all.slice(-1)], /^failed: It does not end where its last file does/],
    'with a file more': [
      (all) => [...all, { path: 'more', bytes: new Uint8Array(3) }],
      /^failed: It does not end where its last file does/,
    ],
    'with a path that leaves': [
      (all) => all.map((file, at) => (at === all.length - 1 ? { ...file, path: '../../../tmp/leaves' } : file)),
      /^failed: Where .* must come stands "\.\.\/\.\.\/\.\.\/tmp\/leaves"/,
    ],
  }
  it.each(Object.entries(edits))('%s is refused', async (_, [edit, words]) => {
    expect(await told(await packed(edit(files)))).toMatch(words)
  })

  it('cut anywhere, or with bytes behind its end, is refused', async () => {
    const whole = readFileSync(bundle)
    const path = newPath('tar')
    for (const length of [0, 100, 512, 600, 1024, 5000, whole.length >> 1, whole.length - 1024, whole.length - 1]) {
      await writeFile(path, whole.subarray(0, length))
      expect(await told(path)).toMatch(/^(?:noBundle: It is no bundle|failed: It (?:ends before|does not end))/)
    }
    for (const more of [new Uint8Array(1), new Uint8Array(10_240), utf8('more')]) {
      await writeFile(path, concatBytes([whole, more]))
      expect(await told(path)).toMatch(/^failed: It does not end where/)
    }
  })

  it('with any byte changed never passes', async () => {
    const whole = readFileSync(bundle)
    const pins = new Map([[idIn(files), new Set([headIn(files)])]])
    const read = async (bytes: Uint8Array): Promise<unknown> => {
      const chunks = (async function* () {
        for (let at = 0; at < bytes.length; at += 4099) yield bytes.subarray(at, at + 4099)
      })()
      const asked = { pins, dialect }
      const taker = { proof: async () => asked, ledgerProof: () => {}, block: () => {}, slice: async () => {} }
      return await readBundle(chunks, taker)
    }
    await expect(read(whole)).resolves.toMatchObject({ rows: 60, slices: 3 })
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        const bytes = new Uint8Array(whole)
        bytes[at] = (bytes[at] ?? 0) ^ bits
        await expect(read(bytes)).rejects.toBeInstanceOf(BundleFault)
      }),
      { numRuns: 400 },
    )
  })
})

const idIn = (all: readonly File[]): string => `did:odf:${all.find(isBlock)?.path.split('/')[1] ?? ''}`
const headIn = (all: readonly File[]): string => all.filter(isBlock).at(-1)?.path.split('/')[3] ?? ''

describe('a bundle whose manifest was made to fit', () => {
  it('is refused where chain or slices are not those of the proof', async () => {
    const [first = none, proof = none, engine = none, ...objects] = files
    const blocks = objects.filter(isBlock)
    const slices = objects.filter(isSlice)
    const lastSlice = slices.at(-1) ?? none
    const of = async (...parts: readonly File[]): Promise<string> => await told(await repacked([first, ...parts]))
    expect(await of(...files.slice(1)), 'as it was').toBe('passed')
    expect(await of(proof, engine, ...blocks, ...slices.slice(0, -1), changed(lastSlice))).toMatch(
      /^failed: Slice 2 of did:odf:\w+ is not f1620\w+ with \d+ bytes, as its block says/,
    )
    expect(await of(proof, engine, ...blocks, ...slices.slice(0, -1))).toMatch(/^failed: Slice 2 of /)
    expect(await of(proof, engine, ...blocks, ...slices, changed(lastSlice))).toMatch(
      /^failed: It holds 4 slices of did:odf:\w+; its blocks name 3/,
    )
    expect(await of(proof, engine, ...blocks, ...slices.toReversed())).toMatch(/^failed: Slice 0 of /)
    expect(await of(proof, engine, ...blocks.slice(0, -1), ...slices.slice(0, -1))).toMatch(
      /^failed: The proof names block f1620\w+ of did:odf:\w+, which is not in the chain that is here/,
    )
    expect(await of(proof, engine, ...blocks.slice(1), ...slices)).toMatch(
      /^failed: The chain of .* breaks: .*a chain begins with a Seed/,
    )
    expect(await of(proof, engine, ...blocks.toSpliced(2, 1), ...slices)).toMatch(/^failed: The chain of .* breaks: /)
    expect(
      await of(proof, engine, ...blocks.map((block, at) => (at === 2 ? changed(block) : block)), ...slices),
    ).toMatch(/^failed: (?:The chain of .* breaks|The block 2 of .* cannot be read)/)
  })

  it('is refused where it is of another dataset, of more, or of none', async () => {
    const [first = none, proof = none, engine = none, ...objects] = files
    const [, , , ...theirs] = others
    expect(await told(await repacked([first, proof, engine, ...theirs]))).toMatch(
      /^failed: The proof names the dataset did:odf:\w+, which is not here/,
    )
    expect(await told(await repacked([first, proof, engine]))).toMatch(/^failed: The proof names the dataset/)
    const both = [objects, theirs].sort((a, b) => (idIn(a) < idIn(b) ? -1 : 1)).flat()
    expect(await told(await repacked([first, proof, engine, ...both]))).toMatch(
      /^failed: It holds the dataset did:odf:\w+, which the proof does not name/,
    )
    const renamed = theirs.map((file) => ({ ...file, path: file.path.replace(/fed01\w+/, idIn(files).slice(8)) }))
    expect(await told(await repacked([first, proof, engine, ...renamed]))).toMatch(
      /^failed: The chain of did:odf:\w+ begins with the seed of did:odf:/,
    )
  })

  it('is refused where blocks come after those that the proof names', async () => {
    const [first = none, proof = none, engine = none, ...objects] = files
    const blocks = objects.filter(isBlock).map(({ path }) => path.split('/')[3])
    const { input } = JSON.parse(Buffer.from(proof.bytes).toString()) as { input: { datasets: object[] } }
    const earlier = signedByStranger(Buffer.from(proof.bytes).toString(), {
      input: { datasets: [{ ...input.datasets[0], blockHash: blocks.at(-2) }] },
    })
    expect(await told(await repacked([first, { path: proof.path, bytes: utf8(earlier) }, engine, ...objects]))).toMatch(
      /^failed: It holds blocks of did:odf:\w+ after those that the proof names/,
    )
  })

  it('of a proof that is forged, or of no proof, says so of the proof', async () => {
    const [first = none, proof = none, engine = none, ...objects] = files
    const text = Buffer.from(proof.bytes).toString()
    const forged = { path: proof.path, bytes: utf8(text.replace('acme/a 1', 'acme/a 2')) }
    expect(await told(await repacked([first, forged, engine, ...objects]))).toBe('InvalidRequest::OutputHash')
    expect(await told(await repacked([first, { path: proof.path, bytes: utf8('{}') }, engine, ...objects]))).toBe(
      'InvalidRequest',
    )
    const path = await repacked([first, forged, engine, ...objects])
    const { code, stdout, stderr } = await command(live, ['verify', '--bundle', path])
    expect({ code, said: JSON.parse(stdout) as unknown }).toMatchObject({ code: 10, said: { ok: false } })
    expect(stderr).toContain('InvalidRequest::OutputHash')
  })

  it('tells nothing that a terminal obeys, whatever the proof says', async () => {
    const [first = none, proof = none, engine = none, ...objects] = files
    const odd = `${dialect}\u001b[2J\nok`
    const lie = utf8(signedByStranger(Buffer.from(proof.bytes).toString(), { input: { queryDialect: odd } }))
    const said = JSON.parse(Buffer.from(engine.bytes).toString()) as object
    const about = { path: engine.path, bytes: canonicalBytes(fromPlain({ ...said, dialect: odd })) }
    const path = await repacked([first, { path: proof.path, bytes: lie }, about, ...objects])
    const { code, stderr } = await command(live, ['verify', '--bundle', path])
    expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining('\\u001b[2J\\nok') })
    expect(stderr).not.toContain('\u001b')
    const named = JSON.stringify({ ...(JSON.parse(Buffer.from(proof.bytes).toString()) as object), '\u001b[2J\nok': 1 })
    const offline = await command(live, ['verify', '--offline', await savedProof(named)])
    expect(offline).toMatchObject({ code: 5, stderr: expect.stringContaining('\\u001b[2J\\nok: is not a member') })
  })

  it('is refused where the manifest is in another spelling, of another version or order', async () => {
    expect(await told(await repacked(files, (manifest) => (manifest.version = 2)))).toBe(
      'impossible: It is a bundle of version 2; this program reads version 1.',
    )
    expect(await told(await repacked(files, (manifest) => (manifest.kind = 'other')))).toMatch(/^noBundle: /)
    expect(await told(await repacked(files, (manifest) => manifest.datasets.push(...manifest.datasets)))).toMatch(
      /^noBundle: .*are not in the order of their ids/,
    )
    expect(await told(await repacked(files, (manifest) => (manifest.proof[0] = 'f162000')))).toMatch(/^noBundle: /)
    for (const size of [2 ** 33, 2 ** 52]) {
      expect(await told(await repacked(files, (manifest) => (manifest.proof[1] = size)))).toMatch(/^noBundle: .*8 GiB/)
    }
    const [first, ...rest] = files
    const spaced = { path: 'manifest.json', bytes: concatBytes([first?.bytes ?? new Uint8Array(), utf8('\n')]) }
    expect(await told(await packed([spaced, ...rest]))).toMatch(/^noBundle: It is no bundle: its manifest/)
  })
})

describe('tar archives that are no bundles', () => {
  it('are refused: links, devices, other owners, sizes beyond all bounds', async () => {
    const whole = readFileSync(bundle)
    const manifestBytes = files[0]?.bytes.length ?? 0
    const at = 512 + 512 * Math.ceil(manifestBytes / 512)
    const path = newPath('tar')
    const field = async (offset: number, text: string, from = at): Promise<string> => {
      const bytes = new Uint8Array(whole)
      bytes.set(utf8(text), from + offset)
      // The checksum is made right, so that nothing but the field is odd.
      bytes.set(utf8('        '), from + 148)
      const sum = bytes.subarray(from, from + 512).reduce((total, byte) => total + byte, 0)
      bytes.set(utf8(`${sum.toString(8).padStart(6, '0')}\0 `), from + 148)
      await writeFile(path, bytes)
      return await told(path)
    }
    const odd = /^failed: proof\.json has not the header of a bundle/
    for (const type of ['1', '2', '3', '5', 'x', 'g', 'L', 'S', '\0']) expect(await field(156, type)).toMatch(odd)
    expect(await field(157, '/etc/passwd')).toMatch(odd)
    expect(await field(100, '0004755')).toMatch(odd)
    expect(await field(108, '0001750')).toMatch(odd)
    expect(await field(136, '14700000000')).toMatch(odd)
    expect(await field(265, 'root')).toMatch(odd)
    expect(await field(124, '77777777777')).toMatch(/^failed: proof\.json has not \d+ bytes/)
    expect(await field(124, '77777777777', 0)).toMatch(/^impossible: Its manifest has 8589934591 bytes/)
    expect(await field(0, 'other.json\0\0\0', 0)).toMatch(/^noBundle: /)
  })

  it('and other files end with the code for input that is refused, and leave nothing behind', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    for (const bytes of [utf8('{}'), utf8('PK'), new Uint8Array(20_480), new Uint8Array()]) {
      const path = newPath('tar')
      await writeFile(path, bytes)
      const { code, stdout, stderr } = await command(live, ['verify', '--bundle', path], empty)
      expect({ code, stdout, left: readdirSync(empty) }).toEqual({ code: 5, stdout: '', left: [] })
      expect(stderr).toMatch(/^error: It is no bundle/)
    }
    const cut = newPath('tar')
    await writeFile(cut, readFileSync(bundle))
    await truncate(cut, 40_000)
    expect(await command(live, ['verify', '--bundle', cut], empty)).toMatchObject({ code: 10, stdout: '' })
    expect(readdirSync(empty)).toEqual([])
    expect((await command(live, ['verify', '--bundle', join(empty, 'none.tar')])).code).toBe(3)
    await symlink(bundle, join(empty, 'link.tar'))
    expect((await command(live, ['verify', '--bundle', join(empty, 'link.tar')])).code).toBe(0)
  })
})
