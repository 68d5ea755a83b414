// The program as a node: ready line, graceful end, and what commands find of a node on this machine.

import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compiledFolder, type Finished, programPath, runCommand, runProgram, serveNode } from '../helpers/run-node.ts'

describe('serve', () => {
  test('runs a node whose records outlive it, and that commands use without being told a token', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'proofstream-serve-'))
    const node = await serveNode(dataDir)
    const run = (args: readonly string[], input = ''): Promise<Finished> =>
      runCommand(args, { input, env: { PROOFSTREAM_SERVER: node.url, PROOFSTREAM_DATA: dataDir } })

    const ingested = await run(['ingest', 'me/lab', '-o', 'table'], '{"temp":21.5}\n{"temp":null}\n')
    expect(ingested.stdout).toMatch(/^stdin: 2 rows committed in block \d+ \(f1620/)
    expect(ingested.stderr).toMatch(/^created dataset me\/lab: event_time Timestamp.*, temp Float64\n$/)
    const proof = join(dataDir, 'proof.json')
    const asked = await run(['query', 'select temp from "me/lab"', '--proof', proof])
    expect(asked.stdout).toBe('{"temp":21.5}\n{"temp":null}\n')
    const verified = await run(['verify', proof, '--signer', node.did])
    expect(JSON.parse(verified.stdout)).toMatchObject({
      ok: true,
      relation: 'self',
      checks: { reproduction: 'passed' },
    })

    const second = await runCommand(['serve', '--data', dataDir, '--listen', '127.0.0.1:0'])
    expect({ code: second.code, stdout: second.stdout }).toEqual({ code: 9, stdout: '' })
    expect(second.stderr).toContain(`in use by process ${node.pid}`)

    expect(await node.end('SIGTERM')).toEqual({ code: 0, signal: null })
    const checked = await runCommand(['fsck', dataDir])
    expect({ code: checked.code, stderr: checked.stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(checked.stdout)).toMatchObject({ dataset: 'me/lab', rows: 2, ok: true })
    expect((await runCommand(['fsck', join(dataDir, 'store')])).stdout).toBe(checked.stdout)
  })

  test.skipIf(process.platform !== 'linux')(
    'gives its memory back, as one process from its start to its end',
    async () => {
      const node = await serveNode(await mkdtemp(join(tmpdir(), 'proofstream-serve-')), [], {
        NODE_COMPILE_CACHE: undefined,
        MALLOC_ARENA_MAX: '7',
      })
      const environment = (await readFile(`/proc/${node.pid}/environ`, 'utf8')).split('\0')
      expect(environment).toContain('MALLOC_MMAP_THRESHOLD_=65536')
      // What the operator sets stays; in a small memory test/scenario/small-memory.test.ts looks at it.
      expect(environment).toContain('MALLOC_ARENA_MAX=7')
      // Nobody but the owner of the program may write what is run of it.
      expect(environment).toContain(`NODE_COMPILE_CACHE=${compiledFolder}`)
      expect(await node.end('SIGTERM')).toEqual({ code: 0, signal: null })
    },
  )
})

describe('the command', () => {
  test('starts the sources with a Node.js that can, wherever it is called from', async () => {
    const { code, stdout } = await runProgram([programPath, '--version'], {
      cwd: tmpdir(),
    })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^proofstream \d+\.\d+\.\d+ \(Node\.js \d/)
  })

  test('tells an old Node.js in a sentence, with 9', async () => {
    const pretend = join(await mkdtemp(join(tmpdir(), 'proofstream-old-')), 'old.mjs')
    await writeFile(
      pretend,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.17.0' } })",
    )
    const { code, stderr } = await runProgram(['--import', pretend, programPath, 'serve'])
    expect(code).toBe(9)
    expect(stderr).toMatch(/^error: Proofstream needs Node\.js 22\.18 or newer; this is 22\.17\.0/)
  })
})
