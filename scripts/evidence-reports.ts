// Writes test/fixtures/evidence/reports.json: what every judge prints of the vectors of ledgers, of saved answers, of files as mail and
// editors leave them, and of files that are no evidence. `node scripts/evidence-reports.ts` writes; tests compare.

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { utf8 } from '../src/libraries/base/bytes.ts'
import { DecodeError } from '../src/libraries/base/errors.ts'
import { judgeEvidence } from '../src/libraries/evidence/judge.ts'
import { reportLines } from '../src/libraries/evidence/layout.ts'
import { verdictCodes } from '../src/libraries/evidence/report.ts'
import { parsePolicy, type Policy } from '../src/libraries/ledger/policy.ts'

/** Files, and whom their reader trusts. */
export interface Given {
  readonly name: string
  readonly files: readonly { readonly name: string; readonly text?: string; readonly base64?: string }[]
  readonly policy?: string
  readonly signer?: string
  readonly now: string
}

const read = (path: string): string => readFileSync(new URL(`../test/${path}`, import.meta.url), 'utf8')
const vectors = JSON.parse(read('fixtures/ledger/vectors.json')) as readonly Given[]
const join = read('fixtures/answers/join.json')

function policyOf(text: string | undefined): Policy | undefined | 'refused' {
  try {
    return text === undefined ? undefined : parsePolicy(utf8(text))
  } catch (error) {
    if (error instanceof DecodeError) return 'refused'
    throw error
  }
}

/** Code and lines of each file; undefined where the policy is none. */
function reportsOf({ files, policy: text, signer, now }: Given) {
  const policy = policyOf(text)
  if (policy === 'refused') return undefined
  const bytes = files.map((file) =>
    file.base64 === undefined ? utf8(file.text ?? '') : Buffer.from(file.base64, 'base64'),
  )
  const judged = judgeEvidence(bytes, { policy, signer, nowMs: Date.parse(now) })
  return judged.map(
    (one, at) =>
      one && {
        code: verdictCodes[one.report.verdict],
        lines: reportLines(one.report, { file: files[at]?.name ?? '', verbose: true }),
      },
  )
}

const named = (name: string): Given => {
  const found = vectors.find((one) => one.name === name)
  if (found === undefined) throw new TypeError(`no vector ${name}`)
  return found
}

/** A vector whose files a transport has changed. */
function changed(name: string, how: string, change: (text: string) => string | Uint8Array): Given {
  const vector = named(name)
  const files = vector.files.map((file) => {
    const made = change(file.text ?? '')
    return typeof made === 'string'
      ? { name: file.name, text: made }
      : { name: file.name, base64: Buffer.from(made).toString('base64') }
  })
  const { policy } = vector
  return {
    ...vector,
    name: `${name}, ${how}`,
    files,
    ...(policy !== undefined && { policy: policy.replaceAll('\n', '\r\n') }),
  }
}

const texts = [
  'proof of a row',
  'proof of a block as JSON',
  'head',
  'statement by itself',
  'receipt with the proof of its batch',
  'refusal',
]
const ways: readonly (readonly [string, (text: string) => string | Uint8Array])[] = [
  ['with line ends of Windows', (text) => text.replaceAll('\n', '\r\n')],
  ['with a byte order mark', (text) => `\ufeff${text}`],
  ['with blanks at the ends of lines', (text) => text.replaceAll('\n', ' \t\n')],
  ['without its last line end', (text) => text.replace(/\n$/, '')],
  ['with two line ends more', (text) => `${text}\n\n`],
  ['in UTF-16', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
]

const now = '2026-06-01T00:00:00Z'
const alone = (name: string, text: string, more: Partial<Given> = {}): Given => ({
  name,
  files: [{ name: 'file', text }],
  now,
  ...more,
})

const extras: readonly Given[] = [
  alone('answer', join),
  alone('answer by the key that is named', join, { signer: String(JSON.parse(join).proof.verificationMethod) }),
  alone('answer by another than the one that is named', join, {
    signer: 'did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH',
  }),
  alone('answer with another row', join.replace(/"data":\[\[/, '"data":[["x"],[')),
  alone('policy as a file', named('head').policy ?? ''),
  alone('private key', '-----BEGIN PRIVATE KEY-----\nMC4CAQAw\n'),
  alone('page', '<!doctype html><title>502</title>'),
  alone('empty', ''),
  alone('text', 'nothing that is known\n'),
  ...texts.flatMap((name) => ways.map(([how, change]) => changed(name, how, change))),
]

/** What the file has: of the vectors what is printed, of the others what is given, too. */
export const reportsText = `${JSON.stringify(
  {
    vectors: Object.fromEntries(vectors.map((one) => [one.name, reportsOf(one)?.[0] ?? null])),
    extras: extras.map((one) => ({ ...one, reports: reportsOf(one) ?? null })),
  },
  undefined,
  1,
)}\n`

const target = new URL('../test/fixtures/evidence/reports.json', import.meta.url)
if (process.argv[1] === new URL(import.meta.url).pathname) await writeFile(target, reportsText)
