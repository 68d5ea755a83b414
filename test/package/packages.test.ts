// What a user of one library installs: `@proofstream/verify`, `client` and `ledger`, made of a copy of this checkout,
// each in an empty folder without the node, without scripts.

import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blockOf } from '../helpers/page-blocks.ts'
import { twoOfThree } from '../libraries/ledger/keys.ts'
import { SmallLedger } from '../libraries/ledger/proofs.ts'
import { proofVectors } from '../libraries/proof/proof-vectors.ts'
import {
  clientPrints,
  copied,
  env,
  installIn,
  repository,
  run,
  serve,
  signerInPage,
  verifiedInPage,
} from './checkout.ts'

/** What `npm pack --json` says of an archive; sizes in bytes. */
interface Archive {
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly bundled: readonly string[]
}

interface Manifest {
  readonly name: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly engines?: unknown
}

const archives = new Map<string, Archive>()
let home = ''
let checkout = ''
const commands = blockOf('docs/client.md', 'npm run packages').trim().split('\n')

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'proofstream-packages-'))
  checkout = copied(home)
  // As docs/client.md has it: an archive of the client in the checkout.
  const [make = ''] = commands
  await run('bash', ['-c', make], { cwd: checkout, env })
  for (const name of ['verify', 'client', 'ledger']) {
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', home, `./dist-packages/${name}`], {
      cwd: checkout,
      env,
    })
    const [archive] = JSON.parse(stdout) as [Archive]
    archives.set(name, archive)
    await installIn(join(home, name), [join(home, archive.filename)], '--ignore-scripts')
  }
})

afterAll(() => rmSync(home, { recursive: true, force: true }))

/** What is installed in a folder: the package.json of each package, and the paths of all files. */
function installedIn(name: string): { readonly manifests: readonly Manifest[]; readonly files: readonly string[] } {
  const modules = join(home, name, 'node_modules')
  const files = readdirSync(modules, { recursive: true, encoding: 'utf8' })
  const manifests = files
    .filter((file) => /^(?:@[^/]+\/)?[^@/.][^/]*\/package\.json$/.test(file))
    .map((file) => JSON.parse(readFileSync(join(modules, file), 'utf8')) as Manifest)
  return { manifests, files }
}

describe.each([
  // Its command judges bundles, ledgers and evidence packs, too.
  { name: 'verify', packed: 130_000, unpacked: 440_000 },
  { name: 'client', packed: 92_000, unpacked: 325_000 },
  { name: 'ledger', packed: 84_000, unpacked: 300_000 },
])('the package @proofstream/$name', ({ name, packed, unpacked }) => {
  test('is small', () => {
    const { size = Infinity, unpackedSize = Infinity, bundled } = archives.get(name) ?? {}
    expect(size).toBeLessThanOrEqual(packed)
    expect(unpackedSize).toBeLessThanOrEqual(unpacked)
    expect(bundled).toEqual([])
  })

  test('brings three packages of plain JavaScript, none of which runs a script or holds a native file', () => {
    const { manifests, files } = installedIn(name)
    const names = manifests.map((manifest) => manifest.name).sort()
    expect(names).toEqual(['@noble/ed25519', '@noble/hashes', `@proofstream/${name}`, 'multiformats'])
    expect(manifests.filter(({ scripts = {} }) => Object.keys(scripts).some((of) => /install/.test(of)))).toEqual([])
    expect(files.filter((file) => /\.(?:node|so|dylib|dll|wasm|gyp|c|cc)$/.test(file))).toEqual([])
    const own = manifests.find((manifest) => manifest.name === `@proofstream/${name}`)
    expect(own).toMatchObject({ engines: { node: '>=20.19' } })
    expect(own).not.toHaveProperty('scripts')
  })

  test('has types that need nothing of Node.js', async () => {
    const page = {
      verify: `
        import { verifyOffline, type OfflineVerdict } from '@proofstream/verify'
        const verdict: OfflineVerdict = verifyOffline(new Uint8Array())
        if (verdict.ok) verdict.signer.length
        // @ts-expect-error a number is no saved answer
        verifyOffline(1)`,
      client: `
        import { ProofstreamClient, ProofstreamError, type BlockEvent } from '@proofstream/client'
        const node = new ProofstreamClient('http://127.0.0.1:1')
        const verdict = node.verify(await node.proof({ receiptId: 'r' }), { policy: 'quorum none' })
        if (verdict.kind === 'proof' && verdict.verdict === 'included')
          if (verdict.facts.kind !== 'statement') verdict.facts.record?.value['n']
        node.verify('').signer satisfies string
        for await (const event of node.events('me/js')) event satisfies BlockEvent
        if (new Error() instanceof ProofstreamError) throw new Error()
        // @ts-expect-error a dataset has a name
        await node.tail(1)`,
      ledger: `
        import { judgeProof, parsePolicy, type ProofVerdict } from '@proofstream/ledger'
        const verdict: ProofVerdict = judgeProof(new Uint8Array(), parsePolicy(new Uint8Array()))
        if (verdict.verdict === 'included' && verdict.facts.kind !== 'statement') verdict.facts.dataset.length
        // @ts-expect-error a number is no proof
        judgeProof(1, parsePolicy(new Uint8Array()))`,
    }[name]
    writeFileSync(join(home, name, 'use.mts'), `${page}\n`)
    const options = ['--module', 'nodenext', '--lib', 'es2023,dom,dom.asynciterable', '--types', '']
    const tsc = join(repository, 'node_modules', '.bin', 'tsc')
    await run(tsc, ['--noEmit', '--strict', ...options, 'use.mts'], { cwd: join(home, name), env })
  })

  test('is named with its archive in its README', () => {
    const readme = readFileSync(join(home, name, 'node_modules', '@proofstream', name, 'README.md'), 'utf8')
    expect(readme).toContain(`npm install ./${archives.get(name)?.filename}\n`)
  })
})

test('the client is installed by the command of docs/client.md', async () => {
  const [, install = ''] = commands
  const project = join(home, 'project')
  mkdirSync(project)
  const own = install.replace('./', `${checkout}/`)
  await run('bash', ['-c', own], { cwd: project, env: { ...env, npm_config_prefer_offline: 'true' } })
  expect(readdirSync(join(project, 'node_modules', '@proofstream'))).toEqual(['client'])
})

test('the installed verifier takes every good answer, and none with a byte changed', async () => {
  const program = `
    import { readFileSync } from 'node:fs'
    import { verifyOffline } from '@proofstream/verify'
    const answers = JSON.parse(readFileSync('answers.json', 'utf8')).map((text) => Buffer.from(text))
    const bad = answers.filter((bytes) => !verifyOffline(bytes).ok)
    const forged = [...answers[0]].filter((byte, at) => verifyOffline(answers[0].with(at, byte ^ 1)).ok)
    console.log(answers.length, bad.length, forged.length)`
  const saved = proofVectors.map(({ responseBodyBytes }) => responseBodyBytes)
  writeFileSync(join(home, 'verify', 'answers.json'), JSON.stringify(saved))
  writeFileSync(join(home, 'verify', 'app.mjs'), program)
  const { stdout } = await run(process.execPath, ['app.mjs'], { cwd: join(home, 'verify'), env })
  expect(stdout).toBe(`${saved.length} 0 0\n`)
})

test('the program in the README of the verifier says what an answer tells', async () => {
  const folder = join(home, 'verify')
  const did = proofVectors[0]?.did ?? ''
  const readme = readFileSync(join(folder, 'node_modules', '@proofstream', 'verify', 'README.md'), 'utf8')
  const [, program = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
  writeFileSync(join(folder, 'answer.json'), proofVectors[0]?.responseBodyBytes ?? '')
  writeFileSync(join(folder, 'app.mjs'), program.replace(/did:key:\w+…/, did))
  const { stdout } = await run(process.execPath, ['app.mjs'], { cwd: folder, env })
  expect(stdout).toContain(`signer: ${did}, the key that you named\n`)
})

test('the command of the verifier judges an answer, and a receipt with its proofs by a policy', async () => {
  const folder = join(home, 'verify')
  writeFileSync(join(folder, 'answer.json'), proofVectors[0]?.responseBodyBytes ?? '')
  const vectors = JSON.parse(readFileSync('test/fixtures/ledger/vectors.json', 'utf8')) as readonly {
    readonly name: string
    readonly files: readonly { readonly text: string }[]
    readonly policy: string
  }[]
  const one = vectors.find(({ name }) => name === 'receipt in one file with its proofs')
  writeFileSync(join(folder, 'receipt.json'), one?.files[0]?.text ?? '')
  writeFileSync(join(folder, 'policy.txt'), one?.policy ?? '')
  const command = ['proofstream-verify', 'answer.json', 'receipt.json', '--policy', 'policy.txt']
  const { stdout } = await run('npx', ['--no', ...command], { cwd: folder, env })
  expect(stdout).toContain(
    '? Unchanged since it was signed by a key that nobody here knows\n  answer.json: a saved answer\n',
  )
  expect(stdout).toContain('\n\n✓ The promised block is in the ledger\n  receipt.json: a signed receipt of a batch\n')
  const alone = run('npx', ['--no', 'proofstream-verify', 'receipt.json'], { cwd: folder, env })
  await expect(alone).rejects.toMatchObject({ code: 14 })
})

test('a bundler puts both into a browser', async () => {
  expect(await verifiedInPage(join(home, 'verify'), '@proofstream/verify')).toBe(true)
  expect(await signerInPage(join(home, 'client'), '@proofstream/client')).toBe(proofVectors[0]?.did)
})

test('the installed client judges files about a ledger by a policy, and takes none with a byte changed', async () => {
  const folder = join(home, 'client')
  const ledger = new SmallLedger(9)
  writeFileSync(join(folder, 'row.tlog-proof'), ledger.text(5, 9, 'row'))
  writeFileSync(join(folder, 'policy.txt'), twoOfThree)
  const program = `
    import { readFileSync } from 'node:fs'
    import { ProofstreamClient, ProofstreamError } from '@proofstream/client'
    const node = new ProofstreamClient('http://127.0.0.1:1')
    const [proof, policy] = ['row.tlog-proof', 'policy.txt'].map((name) => new Uint8Array(readFileSync(name)))
    const { verdict } = node.verify(proof, { policy })
    const judged = [...proof].map((byte, at) => {
      try {
        return node.verify(proof.with(at, byte ^ 1), { policy }).verdict
      } catch (error) {
        return error instanceof ProofstreamError ? 'thrown' : 'failed'
      }
    })
    console.log(verdict, ['included', 'failed', 'thrown'].map((one) => judged.includes(one)).join())`
  writeFileSync(join(folder, 'app.mjs'), program)
  const { stdout } = await run(process.execPath, ['app.mjs'], { cwd: folder, env })
  expect(stdout).toBe('included false,false,true\n')
})

test('the installed client writes to a node, asks, checks and listens', async () => {
  const { url, stop } = await serve(join(checkout, 'bin', 'proofstream.js'), home)
  try {
    const token = join(home, 'proofstream-data', 'token')
    expect(await clientPrints(join(home, 'client'), '@proofstream/client', url, token)).toBe('1\n1 true\n')
  } finally {
    await stop()
  }
})
