// A node with chains of several blocks, proofs over them, and bundles that the command line makes of these; and a bundle
// taken apart into its files and put together anew.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { tarEnd, tarHeader, tarPadding } from '../../../src/libraries/proof/bundle/tar.ts'
import { sha3Hash } from '../../../src/libraries/base/ids/identifiers.ts'
import { canonicalBytes } from '../../../src/libraries/base/json/canonical.ts'
import { fromPlain } from '../../../src/libraries/base/json/json.ts'
import { concatBytes } from '../../../src/libraries/base/bytes.ts'
import { commit } from '../../../src/libraries/proof/commitment.ts'
import { nodeKeyFromSeed, signProof } from '../../../src/libraries/proof/sign.ts'
import type { LiveNode } from '../../helpers/live-node.ts'
import { type Finished, runCommand } from '../../helpers/run-node.ts'

export const folder = mkdtempSync(join(tmpdir(), 'proofstream-bundles-'))
export const stranger = nodeKeyFromSeed(new Uint8Array(32).fill(7))
let files = 0

type NodeOfBundles = Pick<LiveNode, 'node' | 'adminToken'>

/** A path for a file that is not there yet. */
export function newPath(extension: string): string {
  return join(folder, `${files++}.${extension}`)
}

/** The text of a proof that `query` gave, in a file. */
export async function savedProof(text: string): Promise<string> {
  const path = newPath('json')
  await writeFile(path, text)
  return path
}

/** The bundle of a proof, made by the command line from a node. */
export async function bundleOf(live: NodeOfBundles, proof: string, ...more: readonly string[]): Promise<string> {
  const path = newPath('tar')
  const { code, stderr } = await command(live, ['bundle', await savedProof(proof), '-o', path, ...more])
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return path
}

/** Runs a command against the node, as its admin. */
export async function command(live: NodeOfBundles, args: readonly string[], dir = folder): Promise<Finished> {
  const env = { PROOFSTREAM_SERVER: live.node.url, PROOFSTREAM_TOKEN: live.adminToken, TMPDIR: dir }
  return await runCommand(args, { cwd: dir, env })
}

export interface File {
  readonly path: string
  readonly bytes: Uint8Array
}

/** The files of a bundle. */
export async function filesOf(path: string): Promise<File[]> {
  const bytes = new Uint8Array(await readFile(path))
  const found: File[] = []
  for (let at = 0; bytes[at] !== 0;) {
    const field = (from: number, length: number): string =>
      Buffer.from(bytes.subarray(at + from, at + from + length))
        .toString('latin1')
        .replace(/\0.*$/s, '')
    const prefix = field(345, 155)
    const size = parseInt(field(124, 12), 8)
    found.push({
      path: `${prefix}${prefix === '' ? '' : '/'}${field(0, 100)}`,
      bytes: bytes.subarray(at + 512, at + 512 + size),
    })
    at += 512 + 512 * Math.ceil(size / 512)
  }
  return found
}

/** A bundle of these files, as they are. */
export async function packed(parts: readonly File[]): Promise<string> {
  const bytes = concatBytes(
    parts.flatMap(({ path, bytes }) => [tarHeader(path, bytes.length), bytes, tarPadding(bytes.length)]),
  )
  const path = newPath('tar')
  await writeFile(path, concatBytes([bytes, tarEnd(bytes.length)]))
  return path
}

export const isGnuTar = spawnSync('tar', ['--version'], { encoding: 'utf8' }).stdout.includes('GNU')
export const isPython = spawnSync('python3', ['--version']).status === 0

/** What GNU tar makes of the files of a bundle, in their order. */
export function packedByTar(bundle: string): Buffer {
  const dir = mkdtempSync(join(folder, 'unpacked-'))
  execFileSync('tar', ['-xf', bundle, '-C', dir])
  const names = execFileSync('tar', ['-tf', bundle], { encoding: 'utf8' }).trim().split('\n')
  const flags = ['--format=ustar', '--mode=0644', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0']
  return execFileSync('tar', [...flags, '-cf', '-', ...names], { cwd: dir, maxBuffer: 2 ** 28 })
}

/** Checks a bundle with nothing but Python, as docs/spec/bundle.md has it; its files. */
export function readByPython(bundle: string): number {
  const script = `
import hashlib, json, sys, tarfile
with tarfile.open(sys.argv[1], 'r:') as tar:
    names = tar.getnames()
    read = lambda name: tar.extractfile(name).read()
    folder = lambda of: of['id'][len('did:odf:'):]
    manifest = json.loads(read('manifest.json'))
    assert manifest['version'] == 1
    expected = [('proof.json', manifest['proof']), ('engine.json', manifest['engine'])]
    for of in manifest['ledger']:
        expected += [(f"ledger/{folder(of)}/{of['block']}.tlog-proof", of['proof'])]
    for of in manifest['datasets']:
        expected += [(f'datasets/{folder(of)}/blocks/{entry[0]}', entry) for entry in of['blocks']]
        expected += [(f'datasets/{folder(of)}/data/{entry[0]}', entry) for entry in of['slices']]
    assert names == ['manifest.json'] + [name for name, _ in expected]
    for name, (hash, size) in expected:
        data = read(name)
        assert len(data) == size and 'f1620' + hashlib.sha3_256(data).hexdigest() == hash, name
    assert all(member.isreg() and member.mtime == 0 and member.mode == 0o644 for member in tar)
    engine = json.loads(read('engine.json'))
    assert engine['dialect'] == json.loads(read('proof.json'))['input']['queryDialect']
    assert json.dumps(engine, sort_keys=True, separators=(',', ':')).encode() == read('engine.json')
print(len(expected))`
  const { status, stdout, stderr } = spawnSync('python3', ['-c', script, bundle], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return Number(stdout)
}

interface PlainManifest {
  kind: string
  version: number
  proof: [string, number]
  engine?: [string, number]
  ledger?: { id: string; block: string; proof: [string, number] }[]
  datasets: { id: string; blocks: [string, number][]; slices: [string, number][] }[]
}

/**
 * A bundle of these files under a manifest that is true of them; `change` makes it say something else.
 */
export async function repacked(
  parts: readonly File[],
  change: (manifest: PlainManifest) => void = () => {},
): Promise<string> {
  const entry = ({ bytes }: File): [string, number] => [sha3Hash(bytes), bytes.length]
  const [, proof, ...others] = parts
  const engine = others.find(({ path }) => path === 'engine.json')
  const ledger = others.filter(({ path }) => path.startsWith('ledger/'))
  const objects = others.filter((file) => file !== engine && !ledger.includes(file))
  const manifest: PlainManifest = {
    kind: 'proofstream-bundle',
    version: 1,
    proof: proof === undefined ? ['', 0] : entry(proof),
    ...(engine && {
      engine: entry(engine),
      ledger: ledger.map((file) => {
        const [, folderName = '', name = ''] = file.path.split('/')
        return { id: `did:odf:${folderName}`, block: name.replace('.tlog-proof', ''), proof: entry(file) }
      }),
    }),
    datasets: [],
  }
  for (const file of objects) {
    const [, folderName = '', kind = ''] = file.path.split('/')
    const id = `did:odf:${folderName}`
    let dataset = manifest.datasets.find((one) => one.id === id)
    if (dataset === undefined) manifest.datasets.push((dataset = { id, blocks: [], slices: [] }))
    dataset[kind === 'blocks' ? 'blocks' : 'slices'].push(entry(file))
  }
  change(manifest)
  const named = others.map((file) => ({
    ...file,
    path: file.path.replace(/f1620[0-9a-f]{64}$/, sha3Hash(file.bytes)),
  }))
  const first = { path: 'manifest.json', bytes: canonicalBytes(fromPlain(manifest)) }
  return await packed([first, ...(proof === undefined ? [] : [proof]), ...named])
}

/** A saved answer with changes, signed by a stranger. */
export function signedByStranger(
  saved: string,
  changes: { readonly input?: object; readonly output?: object },
): string {
  const { input, output } = JSON.parse(saved) as { input: object; output: object }
  const answer = { input: { ...input, ...changes.input }, output: { ...output, ...changes.output }, subQueries: [] }
  const commitment = commit({
    input: canonicalBytes(fromPlain(answer.input)),
    output: canonicalBytes(fromPlain(answer.output)),
    subQueries: canonicalBytes(fromPlain([])),
  })
  return JSON.stringify({ ...answer, ...signProof(commitment, stranger) })
}
