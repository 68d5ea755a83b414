// `ledger audit`: recomputes a ledger from its entries, holds its head against the policy and against the head of the last audit,
// and its entries against the chains that the caller may read. Memory does not grow with the ledger.

import { rename, rm, writeFile } from 'node:fs/promises'
import { type JsonObject, type JsonValue, systemClock } from '../../index.ts'
import { base64Text } from '../../libraries/base/base64.ts'
import { decodeUtf8, toHex } from '../../libraries/base/bytes.ts'
import { durationMs } from '../../libraries/base/clock.ts'
import type { StatementEntry } from '../../libraries/ledger/entry.ts'
import { parseSize } from '../../libraries/ledger/head.ts'
import { witnessedText } from '../../libraries/ledger/open-head.ts'
import { Order } from '../../libraries/ledger/order.ts'
import type { TreeHead } from '../../libraries/ledger/tree.ts'
import { verifierKeyText } from '../../libraries/ledger/verifier-key.ts'
import { Chains, type ChainsReport, type Finding, type OnFinding } from '../audit-chains.ts'
import { type NodeClient, openClient } from '../client.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, type ExitCode, exitCodes, failureOf, note } from '../failure.ts'
import { readNamed } from '../given-file.ts'
import { itemsAt, memberAt, objectOf, textAt } from '../../libraries/base/json/members.ts'
import { witnessedMembers } from '../../libraries/evidence/facts.ts'
import { wordOfCode } from '../../libraries/evidence/report.ts'
import { openedHead } from '../judged.ts'
import { type KnownPolicy, policyOfFile, policyOfNode, tilesOf } from '../ledger-policy.ts'
import { LedgerTiles } from '../ledger-tiles.ts'
import { createStatusLine, printObject, printObjects, type StatusLine } from '../output.ts'

export interface AuditOptions {
  readonly policy?: string
  /** File with the head of the last audit; it is replaced by that of this one. */
  readonly state?: string
}

/** More findings are counted, not told. */
const mostFindings = 100
const mostStatements = 1000
/** A node that has just been asked may still show an older head. */
const shorterTries = 3
const shorterMs = 1_000
/** No block waits for longer, whatever a node says of its delay. */
const delayMost = 86_400_000
/** Beside the delay of the ledger: what a keeper waits for witnesses, and clocks that differ. */
const graceMs = 120_000

type OpenedHead = ReturnType<typeof openedHead>

/** What an audit is about. */
interface Audit {
  readonly client: NodeClient
  readonly known: KnownPolicy
  readonly tiles: LedgerTiles
  readonly status: StatusLine
  readonly findings: Findings
}

/** Tells what is wrong, up to a number of it. */
class Findings {
  count = 0
  readonly kinds = new Set<string>()
  readonly told: Finding[] = []

  add(finding: Finding): void {
    this.count++
    this.kinds.add(finding.finding)
    if (this.told.length < mostFindings) this.told.push(finding)
  }
}

/** Resolves to the exit code: what is wrong is told in a line each, and at the end what was looked at. Throws CommandFailure. */
export async function auditLedger(context: CommandContext, [url = '']: Args, options: AuditOptions): Promise<number> {
  const { server, ledger } = addressesOf(url)
  const client = await openClient({ ...context, server })
  const known = options.policy === undefined ? await policyOfNode(client) : await policyOfFile(options.policy)
  const status = createStatusLine()
  const before = options.state === undefined ? undefined : await earlierHead(options.state, known)
  const heads: Head[] = before === undefined ? [] : [before]
  try {
    const names = known.policy.logs.map(({ key }) => key.name)
    const named = ledger === undefined ? await tilesOf(client, names) : new LedgerTiles(ledger)
    const { tiles, shown } = await currentHead(named, known, heads)
    const audit = { client, known, tiles, status, findings: new Findings() }
    const { state } = options
    const seen = before && { head: before.opened.head, checked: await checkedUpTo(state, before.opened) }
    const { order, chains, statements } = await auditEntries(audit, shown.opened, seen)
    // Blocks are held against it below, which may break off.
    if (state !== undefined) await writeFile(uncheckedFile(state), String(seen?.checked ?? 0))
    if (state !== undefined) await saveHead(state, shown.bytes)
    const about = await aboutLedger(client)
    const dueMs = systemClock.nowMs() - delayMs(about) - graceMs
    const compared = await chains.compare(dueMs, (blocks) => status.show(`chains: ${blocks} blocks`))
    if (state !== undefined && chains.areRootsRead && !audit.findings.kinds.has('another root'))
      await rm(uncheckedFile(state), { force: true })
    status.clear()
    const { opened } = shown
    return report(context, audit, { opened, before: before?.opened, order, statements, compared, about })
  } catch (error) {
    status.clear()
    tellFault(context, failureOf(error), heads)
    throw error
  } finally {
    status.clear()
  }
}

/** A signed head as it came, and what the policy says of it. */
interface Head {
  readonly bytes: Uint8Array
  readonly opened: OpenedHead
}

/** What cannot be trusted is data, too: the heads that were signed, the one that was kept first. */
function tellFault({ form }: CommandContext, { exitCode, message }: CommandFailure, heads: readonly Head[]): void {
  const verdict = wordOfCode(exitCode)
  if (verdict === 'failed') return
  const texts = heads.map(({ bytes }) => decodeUtf8(bytes))
  printObject(form, objectOf({ verdict, code: exitCode, reason: message, heads: texts }))
}

/** The node, and its ledger where `url` is the address of one. Throws CommandFailure (usage). */
function addressesOf(url: string): { readonly server: string; readonly ledger: string | undefined } {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new CommandFailure(exitCodes.usage, `'${url}' is not the address of a node or a ledger.`)
  }
  const address = url.replace(/\/+$/, '')
  const [, server] = /^(.*)\/ledger(?:\/\d+)?$/.exec(address) ?? []
  return server === undefined ? { server: address, ledger: undefined } : { server, ledger: address }
}

/** The head of the last audit. Throws CommandFailure where the file has another thing. */
async function earlierHead(file: string, known: KnownPolicy): Promise<Head | undefined> {
  const bytes = await existing(file)
  if (bytes === undefined) return undefined
  try {
    return { bytes, opened: openedHead(bytes, known) }
  } catch (error) {
    const { exitCode, message } = failureOf(error)
    throw new CommandFailure(exitCode, `${file} has no head of this ledger. ${message}`, {
      hint: 'Name another file with --state; it is made where there is none.',
      cause: error,
    })
  }
}

/** Beside the head of the last audit, where not all roots below it were recomputed and right: up to which entry they were. */
const uncheckedFile = (state: string): string => `${state}.unchecked`

async function checkedUpTo(state = '', { head }: OpenedHead): Promise<number> {
  const bytes = await existing(uncheckedFile(state))
  return bytes === undefined ? head.size : (parseSize(decodeUtf8(bytes)) ?? 0)
}

async function existing(file: string): Promise<Uint8Array | undefined> {
  return await readNamed(file).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
}

async function saveHead(file: string, bytes: Uint8Array): Promise<void> {
  const part = `${file}.part-${process.pid}`
  await writeFile(part, bytes)
  await rename(part, file)
}

/** The head of now, which joins the others. The policy may have another address for the ledger than the one that was named. */
async function currentHead(
  named: LedgerTiles,
  known: KnownPolicy,
  heads: Head[],
): Promise<{ readonly tiles: LedgerTiles; readonly shown: Head }> {
  const before = heads[0]?.opened.head
  const { head } = openedHead(await named.head(), known)
  const url = known.policy.logs.find(({ key }) => key.name === head.origin)?.url
  const tiles = url === undefined ? named : new LedgerTiles(url)
  if (before !== undefined && before.origin !== head.origin) {
    const message = `The head that is kept is of ${before.origin}, this ledger is ${head.origin}.`
    throw new CommandFailure(exitCodes.verificationImpossible, message)
  }
  for (let tried = 1; ; tried++) {
    const bytes = await tiles.head()
    const shown = { bytes, opened: openedHead(bytes, known) }
    const { size } = shown.opened.head
    if (before === undefined || size >= before.size) {
      heads.push(shown)
      return { tiles, shown }
    }
    if (tried === shorterTries) {
      heads.push(shown)
      throw tiles.altered(`it had ${before.size} entries before, and shows ${size} now`)
    }
    await systemClock.sleep(shorterMs)
  }
}

/** Recomputes the tree, and judges the entries by themselves. */
async function auditEntries(
  { client, known, tiles, status, findings }: Audit,
  { head }: OpenedHead,
  before: { readonly head: TreeHead; readonly checked: number } | undefined,
): Promise<{ readonly order: Order; readonly chains: Chains; readonly statements: JsonValue[] }> {
  const onFinding: OnFinding = (finding) => {
    findings.add({ ...finding, ...(finding.dataset !== undefined && { dataset: chains.nameOf(finding.dataset) }) })
  }
  const chains: Chains = new Chains(client, onFinding)
  await chains.open((done) => status.show(`datasets: ${done}`))
  const order = new Order()
  const entries: { readonly entry: StatementEntry; readonly index: number }[] = []
  await tiles.auditor.scan({
    head,
    isWithTiles: true,
    ...(before !== undefined && { earlier: before.head }),
    each: (entry, index) => {
      if (entry.kind === 'statement') {
        if (entries.length < mostStatements) entries.push({ entry, index })
        return
      }
      if (index === 0) findings.add({ finding: 'no statement', index, about: 'the first entry is not a statement' })
      const tag = toHex(entry.datasetTag)
      const fault = order.take(tag, entry.sequence)
      if (fault !== undefined) onFinding({ ...fault, dataset: tag, sequence: entry.sequence, index })
      else chains.take(tag, entry, index >= (before?.checked ?? 0))
    },
    onSize: (done) => status.show(`ledger: ${done} of ${head.size} entries`),
  })
  const key = known.policy.logs.find((log) => log.key.name === head.origin)?.key
  const statements: JsonValue[] = []
  for (const { entry, index } of entries) {
    const { ledger, time, version, node } = (await tiles.auditor.statement(entry, index)).statement
    statements.push(objectOf({ index, time, version, node }))
    if (ledger.origin === head.origin && key !== undefined && ledger.keys.includes(verifierKeyText(key))) continue
    findings.add({ finding: 'another ledger', index, about: `the statement is of ${ledger.origin}, or of other keys` })
  }
  return { order, chains, statements }
}

/** What the node says of its ledger; undefined where it has none. */
async function aboutLedger(client: NodeClient) {
  const answer = await client.call({ path: '/ledger', isAnonymous: true, accepts: [404] })
  return answer.status === 200 ? answer.json() : undefined
}

/** In which time a block has to be an entry, as the node says it. */
function delayMs(about: JsonValue | undefined): number {
  return Math.min(durationMs(textAt(about, 'delay') ?? '') ?? 60_000, delayMost)
}

/** The ledger that took the place of this one, as the node says it. */
function successorOf(origin: string, about: JsonValue | undefined): string | undefined {
  const origins = [...itemsAt(about, 'former'), about].map((one) => textAt(one, 'origin'))
  const at = origins.indexOf(origin)
  return at < 0 ? undefined : origins[at + 1]
}

interface Result {
  readonly opened: OpenedHead
  readonly before: OpenedHead | undefined
  readonly order: Order
  readonly statements: JsonValue[]
  readonly compared: ChainsReport
  readonly about: JsonValue | undefined
}

const columns = ['finding', 'dataset', 'sequence', 'index', 'about']

function report(
  { form }: CommandContext,
  { findings, known, tiles }: Audit,
  { opened, before, order, statements, compared, about }: Result,
): ExitCode {
  const { head, quorum, witnessed } = opened
  const successor = successorOf(head.origin, about)
  // The head is as old as its newest cosignature: a ledger that adds nothing looks no worse by that.
  const newest = witnessed.toSorted((one, other) => other.at - one.at)[0]
  const [verdict, code]: [string, ExitCode] =
    findings.count > 0
      ? ['contradicted', exitCodes.verificationFailed]
      : quorum === 'not met'
        ? ['witness quorum not met', exitCodes.quorumNotMet]
        : ['consistent', exitCodes.done]
  const summary: JsonObject = objectOf({
    verdict,
    code,
    ledger: objectOf({ origin: head.origin, size: head.size, root: base64Text(head.root), address: tiles.address }),
    successor,
    headAt: newest && witnessedText(newest),
    ageSeconds: newest && Math.round(systemClock.nowMs() / 1000 - newest.at),
    // The word of the node.
    state: textAt(about, 'state'),
    behind: memberAt(about, 'behind'),
    since: before?.head.size,
    quorum,
    witnessed: witnessedMembers(witnessed).map(objectOf),
    policy: known.name,
    findings: findings.count,
    entered: order.datasets,
    statements,
    compared: objectOf({ ...compared }),
  })
  const lines = findings.told.map((finding) => objectOf({ ...finding }))
  if (form === 'ndjson') printObjects(form, columns, [...lines, summary])
  else if (form === 'table') {
    if (lines.length > 0) printObjects(form, columns, lines)
    printObject(form, summary)
  } else if (form === 'json') printObject(form, objectOf({ ...Object.fromEntries(summary), told: lines }))
  else printObjects(form, columns, lines)
  if (successor !== undefined)
    note(`${head.origin} was renewed: ${successor} took its place; get its policy to audit it`)
  return code
}
