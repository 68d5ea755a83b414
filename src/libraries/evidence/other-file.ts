// What a file is that nobody signed, told by its first bytes, and the command that takes it.

import { textForm } from '../base/text-form.ts'
import { bareReport, type Report } from './report.ts'

const headBytes = 4096

/** Of text: how it begins, what that is, what takes it. */
const texts: readonly (readonly [begin: RegExp, what: string, how: string])[] = [
  [
    /^(?:#[^\n]*\n|[\t\v\f\r \xa0]*\n)*(?:log|witness|group|quorum)[\t ]/,
    'a policy: which ledgers and witnesses count',
    'It says whom to trust, and is no evidence itself. Give it with the files that it is to judge: proofstream verify FILE --policy THIS.',
  ],
  [
    /^-----BEGIN CERTIFICATE-----/,
    'a certificate',
    'It goes with a proof that has a time stamp: proofstream verify PROOF --tsa-ca THIS.',
  ],
  [
    /^-----BEGIN [A-Z ]*PRIVATE KEY-----/,
    'a private key',
    'Give it to nobody. A person who has it can sign in the name of its node.',
  ],
  [/^PRIVATE\+KEY\+/, 'a private key', 'Give it to nobody. A person who has it can sign in the name of its ledger.'],
  [
    /^did:key:z6Mk\w+\s*$/,
    'the name of a key',
    'It says who must have signed: proofstream verify FILE --signer did:key:….',
  ],
  [
    /^\s*\{\s*"@context"[^]*did/,
    'the document of a node with its keys',
    'It says which keys are of that address. Compare them with the signer of a file.',
  ],
  [
    /^\s*</,
    'a page in HTML or XML',
    'Evidence is JSON, a .tlog-proof or a .tar. Was an error page saved in its place?',
  ],
]

/** Of bytes: how they begin, what that is, what takes it. */
const magics: readonly (readonly [begin: string, what: string, how: string])[] = [
  [
    'PAR1',
    'a Parquet file: rows without a proof',
    'A signed answer comes with: proofstream query … --proof FILE. A bundle has blocks, rows and proof in one file.',
  ],
  ['ARROW1', 'an Arrow file: rows without a proof', 'A signed answer comes with: proofstream query … --proof FILE.'],
  ['\u001f\u008b', 'compressed by gzip', 'Unpack it, and check what is in it.'],
  ['\u0028\u00b5\u002f\u00fd', 'compressed by zstd', 'Unpack it, and check what is in it.'],
  ['PK', 'a zip archive or an office document', 'Unpack it, and check the files in it.'],
  ['%PDF', 'a PDF document', 'A printed answer proves nothing. Ask for the file that was checked.'],
  ['\u0089PNG', 'a picture', 'A picture of an answer proves nothing. Ask for the file that was checked.'],
]

/** Undefined where nothing tells. */
export function otherReport(bytes: Uint8Array): Report | undefined {
  if (bytes.length === 0) return named('empty', 'It has no byte. Was it saved whole?')
  const { bytes: text } = textForm(bytes.subarray(0, headBytes))
  const start = String.fromCharCode(...text.subarray(0, headBytes))
  const [, what, how] =
    [...magics.filter(([begin]) => start.startsWith(begin)), ...texts.filter(([begin]) => begin.test(start))][0] ?? []
  return what === undefined || how === undefined ? undefined : named(what, how)
}

function named(what: string, how: string): Report {
  return bareReport({ what, verdict: 'no evidence', headline: 'No evidence', why: [how] })
}
