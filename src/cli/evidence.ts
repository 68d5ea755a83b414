#!/usr/bin/env node
// `npx @proofstream/verify FILE…`: files of evidence judged by themselves, without a node and without network. Prints what
// `proofstream verify --offline` prints, and ends with the same codes.

import { createReadStream } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { systemClock } from '../libraries/base/clock.ts'
import { defined } from '../libraries/base/collections.ts'
import { parseDidKey } from '../libraries/base/ids/identifiers.ts'
import { bundleHeadBytes, bundleReport, checkBundle, isBundle } from '../libraries/evidence/bundle.ts'
import { judgeEvidence } from '../libraries/evidence/judge.ts'
import { reportLines } from '../libraries/evidence/layout.ts'
import { type Report, verdictCodes, worseCode } from '../libraries/evidence/report.ts'
import { parsePolicy, type Policy } from '../libraries/ledger/policy.ts'
import { answerBytesMost } from '../libraries/proof/proof-body.ts'
import { type JudgedPack, judgePack } from '../libraries/evidence/pack/judge-pack.ts'
import { isPack, packHeadBytes } from '../libraries/evidence/pack/files.ts'
import { withHistories } from '../libraries/evidence/two-histories.ts'
import { print, tell } from './terminal.ts'

const help = `Usage: proofstream-verify [options] FILE…

Checks saved answers, bundles, evidence packs, proofs of a ledger, signed receipts, refusals, statements and heads, several at once. Nobody is asked.

Options:
  --policy FILE  which ledgers and witnesses count: two lines, from somebody whom you trust
  --signer DID   the key that must have signed: did:key:…
  --verbose      hashes, too
  --json         one JSON object a line
  --help         this text

Exit codes: 0 good, 2 usage, 3 no such file, 5 no evidence, 10 altered, 11 cannot be judged, 12 promise broken, 13 too few witnesses,
14 not judged: whom to trust was not said.
`

interface Trust {
  readonly policy: Policy | undefined
  readonly signer: string | undefined
}

/** The reports in the order of the files. */
async function judgeAll(files: readonly string[], { policy, signer }: Trust): Promise<(readonly [string, Report])[]> {
  const trust = { policy, signer, nowMs: systemClock.nowMs() }
  const packs = new Map<string, JudgedPack>()
  const reports = new Map<string, readonly (readonly [string, Report])[]>()
  const small = new Map<string, Uint8Array>()
  for (const file of files) {
    // What is no file gives its bytes once: bundles and packs have to be some.
    const kind = (await stat(file)).isFile() ? await kindOf(file) : 'other'
    if (kind === 'pack') {
      packs.set(file, await judgePack(createReadStream(file), trust))
    } else if (kind === 'bundle') {
      const found = await checkBundle(createReadStream(file), { policy, ...defined({ signer }) })
      const lack = policy === undefined ? 'Name a policy: --policy FILE.' : undefined
      reports.set(file, [[file, bundleReport(found, { isNamed: signer !== undefined, lack })]])
    } else if (kind === 'small' && (await stat(file)).size > answerBytesMost)
      throw new RangeError(`${file} is larger than evidence is`)
    else small.set(file, await readFile(file))
  }
  const judged = judgeEvidence([...small.values()], trust).map((one) => one ?? {})
  const all = withHistories<{ readonly report?: Report }>([...packs.values(), ...judged])
  for (const [at, file] of [...packs.keys(), ...small.keys()].entries()) {
    const report = all[at]?.report
    const parts = packs.get(file)?.parts.map((one) => [`${file}/${one.path}`, one.report] as const) ?? []
    if (report !== undefined) reports.set(file, [[file, report], ...parts])
  }
  return files.flatMap((file) => reports.get(file) ?? [])
}

async function kindOf(file: string): Promise<'pack' | 'bundle' | 'small'> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(new Uint8Array(Math.max(bundleHeadBytes, packHeadBytes)))
    const head = buffer.subarray(0, bytesRead)
    return isPack(head) ? 'pack' : isBundle(head) ? 'bundle' : 'small'
  } finally {
    await handle.close()
  }
}

async function main(): Promise<number> {
  const flag = { type: 'boolean' } as const
  const text = { type: 'string' } as const
  const options = { policy: text, signer: text, verbose: flag, json: flag, help: flag }
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  if (values.help === true || positionals.length === 0) {
    print(help)
    return values.help === true ? 0 : 2
  }
  // Throws where it names no key: each true file would be called forged.
  if (values.signer !== undefined) parseDidKey(values.signer)
  const policy = values.policy === undefined ? undefined : parsePolicy(await readFile(values.policy))
  const reports = await judgeAll(positionals, { policy, signer: values.signer })
  for (const [at, [file, report]] of reports.entries()) {
    if (values.json === true) print(`${JSON.stringify({ file, code: verdictCodes[report.verdict], ...report })}\n`)
    else {
      const lines = reportLines(report, { file, verbose: values.verbose === true })
      print(`${at === 0 ? '' : '\n'}${lines.join('\n')}\n`)
    }
  }
  return reports.map(([, { verdict }]) => verdictCodes[verdict]).reduce<number>(worseCode, 0)
}

// A reader that stops, such as head, changes no verdict.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => void (code !== 'EPIPE' && process.exit(1)))
const codes: Readonly<Record<string, number>> = { ENOENT: 3, EISDIR: 2, DecodeError: 5 }
try {
  process.exitCode = await main()
} catch (error) {
  const { name, code = name, message } = error as Error & { code?: string } // of this program, or of the system
  tell(`error: ${message}\n`)
  process.exitCode = codes[code] ?? (code.startsWith('ERR_PARSE_ARGS') ? 2 : 1)
}
