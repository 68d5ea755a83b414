// The page of evidence packs in a browser: gathers one from the node with the token of the tab, as `proofstream pack-evidence` does,
// and hands it over as a file.

import { parseJson } from '../../../libraries/base/json/json.ts'
import { checkMade, type DatasetPin, gatherPack, type PackNode } from '../../../libraries/evidence/pack/gather.ts'
import { systemClock } from '../../../libraries/base/clock.ts'
import { PackFault } from '../../../libraries/evidence/pack/zip.ts'
import { BundleFault } from '../../../libraries/proof/bundle/manifest.ts'
import { nodeSource } from '../../../libraries/proof/bundle/node-source.ts'
import { lexSql } from '../../../libraries/sql/lexer.ts'
import { neededEngine } from '../../../node/engine/needed-engine.ts'
import { element, memberOf } from '../browser/element.ts'
import { BlobShelf } from '../browser/file-chunks.ts'
import { handOver } from '../browser/save-link.ts'
import { heldToken, problemText } from '../browser/session.ts'
import { sizeText } from '../format.ts'

export function start(main: HTMLElement): void {
  const form = main.querySelector<HTMLFormElement>('#pack')
  const button = form?.querySelector('button')
  const [state, refused, made] = ['#state', '[role=alert]', '#made'].map((place) => form?.querySelector(place))
  if (!form || !button || !state || !refused || !made) return
  button.disabled = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    button.disabled = true
    refused.textContent = ''
    made.replaceChildren()
    make(form, (text) => state.replaceChildren(text))
      .then((content) => made.replaceChildren(...content))
      .catch((error: unknown) => (refused.textContent = faultOf(error)))
      .finally(() => {
        state.replaceChildren()
        button.disabled = false
      })
  })
}

function faultOf(error: unknown): string {
  if (error instanceof PackFault || error instanceof BundleFault) return error.sentence
  return `The pack could not be made: ${String(error)}`
}

async function make(form: HTMLFormElement, say: (text: string) => void): Promise<HTMLElement[]> {
  say('Asking…')
  const text = (id: string): string => form.querySelector<HTMLInputElement>(`#${id}`)?.value.trim() ?? ''
  const listed = (id: string): string[] => text(id).match(/[^\s,]+/g) ?? []
  const [datasets, statements, receipts] = [listed('datasets'), statementsIn(text('statements')), listed('receipts')]
  if (datasets.length + statements.length + receipts.length === 0) throw unable('Name a dataset.')
  const answers: (string | Uint8Array)[] = []
  // At the address of a saved query stands a statement that is not known here.
  for (const sql of statements) answers.push(sql.startsWith('/q/') ? await answerTo(sql) : sql)
  const asked = { datasets, answers, receipts, from: text('from') || undefined, to: text('to') || undefined }
  const pack = await gatherPack(asked, { ...node, say })
  say('Writing the file…')
  const whole = new BlobShelf()
  await pack.write(whole.write)
  await checkMade(pack, whole.read(), systemClock.nowMs())
  const file = whole.blob()
  const link = handOver(file, `${datasets[0]?.split('/').at(-1) ?? 'answers'}-evidence.zip`)
  const check = element('a', '', 'the page that checks proofs')
  check.setAttribute('href', '/verify')
  const held = datasets.length === 0 ? 'what is in it' : `all rows of ${datasets.join(', ')}`
  return [
    element('p', '', 'Saved ', link, `, ${sizeText(file.size)}. Anyone who has the file can read ${held}.`),
    element('p', 'hint', 'To check it: ', check, ', or proofstream verify FILE --policy FILE'),
  ]
}

/** What stands between semicolons, as the engine reads them. */
function statementsIn(text: string): string[] {
  const ends = lexSql(text).flatMap((token) => (token.text === ';' ? [token.start] : []))
  const parts = [...ends, text.length].map((end, at) => text.slice(at === 0 ? 0 : (ends[at - 1] ?? 0) + 1, end).trim())
  return parts.filter((part) => part !== '')
}

const unable = (why: string): PackFault => new PackFault('impossible', why)

/** Throws PackFault where the node does not answer, or answers with another error than `errors`. */
async function ask(
  path: string,
  { accept = 'application/json', json, errors = [] }: { accept?: string; json?: object; errors?: number[] } = {},
): Promise<Response> {
  const token = heldToken()
  const headers = {
    accept,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(json !== undefined && { 'content-type': 'application/json' }),
  }
  const sent = json !== undefined && { method: 'POST', body: JSON.stringify(json) }
  const answer = await fetch(path, { headers, ...sent }).catch(() => undefined)
  if (answer !== undefined && (answer.ok || errors.includes(answer.status))) return answer
  const body: unknown = await answer?.json().catch(() => undefined)
  throw unable(problemText({ ok: false, body: Object(body) }))
}

const bytesOf = async (answer: Response): Promise<Uint8Array> => new Uint8Array(await answer.arrayBuffer())

/** The signed answer of all rows, to a statement or at the address of a saved query. Throws PackFault where it cannot hold them. */
async function answerTo(sql: string, pin?: DatasetPin): Promise<Uint8Array> {
  const limit = memberOf(await (await ask('/limits')).json(), 'limits', 'resultRows', 'value')
  const json = {
    query: sql,
    datasets: pin && [pin],
    limit,
    dataFormat: 'JsonAoa',
    include: ['Input', 'Proof', 'Schema'],
  }
  const address = `${sql}${sql.includes('?') ? '&' : '?'}format=JsonAoa&limit=${String(limit)}&include=proof`
  const bytes = await bytesOf(await (sql.startsWith('/q/') ? ask(address) : ask('/query', { json })))
  const isCut = memberOf(JSON.parse(new TextDecoder().decode(bytes)), 'output', 'truncated') === true
  if (isCut) throw unable(`There are more rows than a signed answer holds, which is ${String(limit)}: ${sql}`)
  return bytes
}

const node: Omit<PackNode, 'say'> = {
  get: async (path) => {
    const answer = await ask(path, { accept: 'application/json, */*;q=0.1', errors: [404, 409, 503] })
    return { status: answer.status, bytes: await bytesOf(answer) }
  },
  source: nodeSource({
    json: async (path) => parseJson(await (await ask(path)).text()),
    bytes: async (path, take) => await take(await bytesOf(await ask(path, { accept: 'application/octet-stream' }))),
  }),
  ask: answerTo,
  engineOf: neededEngine,
  shelf: async () => new BlobShelf(),
}
