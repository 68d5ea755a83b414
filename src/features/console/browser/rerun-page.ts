// The script of the page that runs the question of a proof again: from a bundle, or from a saved answer whose blocks and rows
// the node that serves the page hands out. All of it is checked against the proof first, then DuckDB in this page runs it.
// A file is chosen here, or handed over by the verify page that opened this one.

import { nodeSource } from '../../../libraries/proof/bundle/node-source.ts'
import { BundleFault } from '../../../libraries/proof/bundle/manifest.ts'
import { askedOf } from '../../../libraries/proof/bundle/read-bundle.ts'
import { planBundle, writeBundle } from '../../../libraries/proof/bundle/write-bundle.ts'
import { parseJson } from '../../../libraries/base/json/json.ts'
import { cleanText } from '../../../libraries/base/clean-text.ts'
import { verifyOffline } from '../../../libraries/proof/verify.ts'
import { neededEngine } from '../../../node/engine/needed-engine.ts'
import { type BundleFindings, checkBundle } from '../../../libraries/evidence/bundle.ts'
import { engineLines } from './engine-lines.ts'
import { archiveKind, chunksOf } from './file-chunks.ts'
import { type PortableVerdict, rerun } from '../../../libraries/proof/rerun/verdict.ts'
import { dialect, engineVersion } from '../../../node/engine/messages.ts'
import { readProof } from '../../../libraries/proof/read-proof.ts'
import { element } from './element.ts'
import { BundleRows, decompress } from './bundle-rows.ts'
import { type Handover, rerunIsReady } from './rerun-handover.ts'
import { openBrowserEngine } from './browser-engine.ts'

const fileField = document.querySelector<HTMLInputElement>('#file')
const access = document.querySelector<HTMLFormElement>('#access')
const result = document.querySelector('#result')
const details = document.querySelector('#details')

/** As deep as saved answers of deployed nodes nest. */
const maxDepth = 128

/** The check that began last shows what it finds. */
let current = 0

/** The token of a reader of private data: in the memory of this page alone. */
let token: string | undefined
let judged: Blob | undefined
/** The page of the same node that opened this one has a file for it, or nothing to say. */
const opened: Window | null = opener

fileField?.addEventListener('change', () => {
  const [file] = fileField.files ?? []
  if (file !== undefined) void judge(file, ++current)
})

access?.addEventListener('submit', (event) => {
  event.preventDefault()
  token = access.querySelector('input')?.value.trim()
  access.reset()
  if (judged !== undefined) void judge(judged, ++current)
})

addEventListener('message', ({ origin, source, data }: MessageEvent<Partial<Handover>>) => {
  if (origin !== location.origin || source !== opened || !(data.file instanceof Blob)) return
  if (data.token !== undefined) token = data.token
  void judge(data.file, ++current)
})
opened?.postMessage(rerunIsReady, location.origin)

async function judge(file: Blob, own: number): Promise<void> {
  judged = file
  if (access !== null) access.hidden = true
  const say = (text: string): void => show(own, '', text, [])
  try {
    const rows = new BundleRows()
    const bundle = (await archiveKind(file)) === 'bundle' ? file : await fetchBundle(file, say)
    const onProgress = (share: number): void => say(`Checking… ${Math.floor(100 * share)}%`)
    const found = await checkBundle(chunksOf(bundle, onProgress), {}, { rows })
    if (found.kind !== 'whole') return showFault(own, found)
    say('Starting the engine…')
    const saved = parseJson(found.proof, { maxDepth })
    const proof = readProof(saved, Infinity)
    const output = saved instanceof Map ? saved.get('output') : undefined
    const engine = await openBrowserEngine(new URL('.', document.baseURI))
    try {
      say('Running the query…')
      const tables = rows.tables(proof.request.datasets ?? [])
      const of = { version: engineVersion, dialect, proof, output, tables, decompress }
      showVerdict(own, await rerun(engine, of), found)
    } finally {
      engine.close()
    }
  } catch (error) {
    const why = error instanceof BundleFault ? error.sentence : error instanceof Error ? error.message : String(error)
    if (error instanceof NotHandedOut && access !== null) access.hidden = false
    show(own, 'unjudged', '? It cannot be run here', [why])
  }
}

/** The node does not hand out what the proof names to this caller. */
class NotHandedOut extends TypeError {
  override readonly name: string = 'NotHandedOut'
}

/** The bundle of a saved answer, of what the node hands out. Throws BundleFault and NotHandedOut. */
async function fetchBundle(file: Blob, say: (text: string) => void): Promise<Blob> {
  const proof = new Uint8Array(await file.arrayBuffer())
  const verdict = verifyOffline(proof)
  if (!verdict.ok) throw new BundleFault(verdict.outcome === 'failed' ? 'failed' : 'noBundle', verdict.message)
  const ask = async (path: string, accept: string): Promise<Response> => {
    const headers = { accept, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
    const answer = await fetch(path, { headers, credentials: 'omit' })
    if (!answer.ok) throw new NotHandedOut(`This node answers ${answer.status} to ${path}.`)
    return answer
  }
  const source = nodeSource({
    json: async (path) => parseJson(await (await ask(path, 'application/json')).text()),
    bytes: async (path, take) => {
      await take(new Uint8Array(await (await ask(path, 'application/octet-stream')).arrayBuffer()))
    },
  })
  const onBlock = (done: number, of: number): void => say(`Fetching block ${done} of ${of}…`)
  const { pins, dialect } = askedOf(verdict.answer)
  const plan = await planBundle({ proof, pins, engine: neededEngine(dialect) }, { source, onBlock })
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  await writeBundle(plan, source, async (part) => {
    parts.push(part.slice())
    bytes += part.length
    say(`Fetching rows… ${Math.floor((100 * bytes) / plan.contents.bytes)}%`)
  })
  return new Blob(parts)
}

function showFault(own: number, found: BundleFindings): void {
  const why = found.kind === 'fault' ? found.fault.sentence : found.kind === 'proof' ? found.verdict.message : ''
  const outcome = found.kind === 'fault' ? found.fault.outcome : found.kind === 'proof' ? found.verdict.outcome : ''
  if (outcome === 'failed') show(own, 'bad', '✗ Do not trust this file', [why])
  else show(own, 'unjudged', '? It cannot be run here', [why])
}

const headlines = {
  same: ['good', '✓ Run again here: the same rows'],
  other: ['bad', '✗ Run again here: other rows than those that were signed'],
  unknown: ['unjudged', '? Inconclusive here'],
} as const

function showVerdict(
  own: number,
  { outcome, why }: PortableVerdict,
  { verdict, contents, ledger }: BundleFindings & { readonly kind: 'whole' },
): void {
  const [tone, headline] = headlines[outcome]
  const more =
    outcome === 'unknown'
      ? ['A node, or proofstream verify --bundle, can tell: nothing is said against the answer.']
      : []
  show(own, tone, headline, [
    why,
    ...more,
    `Question: ${verdict.answer.query ?? ''}`,
    `The query ran over ${contents.rows} rows of ${contents.blocks} blocks, with exactly the bytes that the proof names.`,
    `Signed by ${verdict.signer}. This check does not show whose key that is, or whether the records are true.`,
    ...(ledger.length === 0
      ? []
      : ['Whether a ledger has the blocks: the page that checks proofs judges that, by a policy.']),
    ...engineLines(verdict.answer.dialect),
  ])
}

function show(own: number, tone: string, headline: string, lines: readonly (string | HTMLElement)[]): void {
  if (own !== current) return
  details?.replaceChildren(
    ...lines.map((line) => (typeof line === 'string' ? element('p', '', cleanText(line)) : line)),
  )
  result?.replaceChildren(element('h2', tone, cleanText(headline)))
}
