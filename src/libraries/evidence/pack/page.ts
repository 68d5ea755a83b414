// READ-ME-FIRST.html of an evidence pack: what its files are, for a person who knows nothing of them. Any reader of the files makes it
// anew, to the byte. Its words are part of the format: another word is another version of the format.
// Source: docs/spec/evidence-pack.md#the-page

import { toHex, utf8 } from '../../base/bytes.ts'
import { createSha2 } from '../../base/ids/native-crypto.ts'
import { Html, html } from '../../base/html.ts'
import type { Line } from '../report.ts'

/** A file of a pack. */
export interface PackedFile {
  readonly path: string
  readonly sizeBytes: number
  /** In hex. */
  readonly sha256: string
  /** Of an answer, a bundle, a receipt, or the first proof of a folder of the ledger. */
  readonly facts?: readonly Line[]
}

const style = `@page { size: A4; margin: 18mm }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 11pt/1.45 system-ui, sans-serif; color: #111; background: #fff }
h1, h2, h3 { line-height: 1.2 } h2 { margin-top: 2rem } h3 { margin-bottom: 0.3rem; break-after: avoid }
section { break-inside: avoid } dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.1rem 1rem; margin: 0.3rem 0 }
dt { color: #555 } dd { margin: 0; overflow-wrap: anywhere }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere } table { border-collapse: collapse; width: 100%; font-size: 9pt }
th, td { text-align: left; vertical-align: top; padding: 0.15rem 0.6rem 0.15rem 0; border-bottom: 1px solid #ccc; white-space: nowrap }
td:last-child { font: 7.5pt ui-monospace, monospace } tr { break-inside: avoid }`

/** What each kind is, what it shows, and what it does not. */
const kinds: Readonly<Record<string, readonly [what: string, shows: string]>> = {
  answers: [
    'a saved answer, signed',
    'It shows that the holder of the key signed these rows as the answer to this question over these blocks. It does not show that the rows follow from the blocks, nor when the question was asked.',
  ],
  bundles: [
    'a bundle: an answer with all its blocks and rows',
    'It shows that the answer was signed, and that no block and no row up to the named block is missing, changed or added. A reader who has it can run the question again, without any node.',
  ],
  receipts: [
    'a signed receipt',
    'It shows what the node said of a batch that it was sent, and, with the proofs in the file, whether the batch is in the ledger. Only a witness that signed by the deadline shows since when. It does not show what was in the body: compare its hash with what sha256sum prints of the file that was sent.',
  ],
  statement: [
    'what the node says of its key',
    'It shows which key the ledger names as that of its node. A reader who believes the ledger knows by it whose signatures these are.',
  ],
  ledger: [
    'proofs that a ledger has blocks',
    'They show that these blocks are in the list that the ledger shows to everybody. Whether it shows everybody the same is what its witnesses sign.',
  ],
}

/** `files` in the order of the pack, without the page. */
export function packPage(files: readonly PackedFile[]): Uint8Array {
  const page = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Read me first: an evidence pack</title>
<style>
${new Html([style], [])}
</style>
<h1>Read me first: an evidence pack</h1>
<p>This page came in a zip together with the files that it tells of. Somebody hands them to you to show what was stored in a dataset. This page is signed by nobody. What it says counts once a program has checked the whole zip.</p>
<h2>Check the zip</h2>
<p>Give the zip itself to a program, not the unpacked files. Take the program from somebody other than the sender of the zip. One is enough. If you doubt it, take another: they are written in different languages.</p>
<dl>
<dt>A page</dt><dd>Save /assets/verify.html of a Proofstream node that is not the sender's, go offline, drop the zip on it, and paste the policy.</dd>
<dt>Python</dt><dd><code>python3 ask.py --check pack.zip --policy policy.txt</code></dd>
<dt>Node.js</dt><dd><code>npx proofstream-verify pack.zip --policy policy.txt</code></dd>
</dl>
<p>The file policy.txt says which ledger you believe, and which witnesses. A node shows its own at /ledger/policy. Get it from the publisher or a witness, not from the sender. The folder keys of the zip holds what the sender says of keys. Compare it; no program trusts it. Without a policy a program checks what the files say by themselves, and ends with: not judged.</p>
<h2>What is in it</h2>
${sections(files)}
<h2>What it does not show</h2>
<p>That what was recorded is true: all of this binds what was stored, not what happened. When something was stored, unless a witness or a time-stamp authority has signed: a program names them. Whose a key is: compare it with the key that its owner shows elsewhere.</p>
<h2>Files</h2>
<table>
<tr><th>File</th><th>Bytes</th><th>SHA-256</th></tr>
${rows(files)}
</table>
<p>For a folder of the ledger stands the SHA-256 of the lines that sha256sum prints of its files, by name.</p>
</html>
`
  return utf8(page.text)
}

function sections(files: readonly PackedFile[]): Html[] {
  return grouped(files).flatMap(({ name, first, last, count }) => {
    const [what, shows] = kinds[name.slice(0, name.search(/[/.]/))] ?? []
    if (what === undefined) return []
    const blocks: Line[] =
      count === undefined ? [] : [['blocks', `sequence ${sequenceOf(first)} to ${sequenceOf(last)}, ${count} proofs`]]
    const pairs = [...blocks, ...(first.facts ?? [])].map(([term, text]) => html`<dt>${term}</dt><dd>${text}</dd>`)
    return [
      html`<section>
<h3>${name}: ${what}</h3>
<dl>
${pairs}
</dl>
<p>${shows}</p>
</section>`,
    ]
  })
}

function rows(files: readonly PackedFile[]): Html[] {
  return grouped(files).map(
    ({ name, sizeBytes, sha256 }) => html`<tr><td>${name}</td><td>${sizeBytes}</td><td>${sha256}</td></tr>`,
  )
}

/** A file, or a folder of the ledger. */
interface Group {
  readonly name: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly first: PackedFile
  readonly last: PackedFile
  /** Of the files of a folder. */
  readonly count?: number
}

function grouped(files: readonly PackedFile[]): Group[] {
  const folders = Map.groupBy(files, ({ path }) =>
    path.startsWith('ledger/') ? path.slice(0, path.lastIndexOf('/') + 1) : path,
  )
  return [...folders].flatMap(([name, held]): Group[] => {
    const [first, last] = [held[0], held.at(-1)]
    if (first === undefined || last === undefined) return []
    if (!name.endsWith('/')) return [{ name, sizeBytes: first.sizeBytes, sha256: first.sha256, first, last }]
    const hash = createSha2('sha256')
    for (const { path, sha256 } of held) hash.update(utf8(`${sha256}  ${path.slice(name.length)}\n`))
    const sizeBytes = held.reduce((sum, one) => sum + one.sizeBytes, 0)
    return [{ name, sizeBytes, sha256: toHex(hash.digest()), first, last, count: held.length }]
  })
}

/** `12` of `ledger/001/000000012.json`. */
function sequenceOf({ path }: PackedFile): number {
  return Number(path.slice(path.lastIndexOf('/') + 1, -'.json'.length))
}
