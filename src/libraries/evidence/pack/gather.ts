// What goes into an evidence pack, fetched from a node: of each dataset a bundle with all its blocks and rows, the proofs of the ledger
// of the blocks that were asked for, answers, receipts with their proofs, and what the node says of its keys. All proofs lead to one
// head, so that the same blocks, answers and head make the same pack.

import { utf8 } from '../../base/bytes.ts'
import { decoded, DecodeError } from '../../base/errors.ts'
import { jsonText, parseJson } from '../../base/json/json.ts'
import { itemsAt, textAt } from '../../base/json/members.ts'
import type { JsonObject, JsonValue } from '../../base/json/value.ts'
import {
  answerPath,
  bundlePath,
  didPath,
  mostNumbered,
  policyPath,
  proofPath,
  receiptPath,
  statementPath,
} from './files.ts'
import { judgePack } from './judge-pack.ts'
import { PackMaker, type Shelf } from './make-pack.ts'
import { PackFault } from './zip.ts'
import { parsePolicy } from '../../ledger/policy.ts'
import { gatherReceipt } from '../../ledger/receipt-file.ts'
import { BundleFault } from '../../proof/bundle/manifest.ts'
import type { EngineFile } from '../../proof/bundle/engine-file.ts'
import { askedOf } from '../../proof/bundle/read-bundle.ts'
import { type BundleSource, planBundle, writeBundle } from '../../proof/bundle/write-bundle.ts'
import { verifyOffline } from '../../proof/verify.ts'
import { type Anchor, anchored, commonAnchor, type Get } from './anchor.ts'
import { proofsOfBlocks, type ShownChain, shownChain } from './shown-blocks.ts'

export interface PackAsked {
  /** Names, `account/dataset`. */
  readonly datasets: readonly string[]
  /** Statements that are asked, and saved answers. */
  readonly answers: readonly (string | Uint8Array)[]
  /** Ids of receipts, and receipts that were saved. */
  readonly receipts: readonly (string | Uint8Array)[]
  /** The blocks whose proofs are wanted: numbers in their chains, or times. Without both: the newest. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Entries of the head to which all proofs are to lead. */
  readonly head?: number | undefined
}

/** How a node is asked, and where bundles wait. All of it throws when the node does not answer. */
export interface PackNode {
  readonly get: Get
  readonly source: BundleSource
  /** The signed answer to a statement, over the newest blocks or the one that is named. */
  readonly ask: (sql: string, pin?: DatasetPin) => Promise<Uint8Array>
  readonly engineOf: (dialect: string) => EngineFile
  readonly shelf: (name: string) => Promise<Shelf>
  readonly say: (what: string) => void
}

/** A dataset at one of its blocks. */
export interface DatasetPin {
  readonly id: string
  readonly alias: string
  readonly blockHash: string
}

/** Reads a pack that was made as its reader will, by the policy in it. Throws PackFault where it does not hold. */
export async function checkMade(maker: PackMaker, pieces: AsyncIterable<Uint8Array>, nowMs: number): Promise<void> {
  const policy = maker.bytesOf(policyPath)
  const trust = { policy: policy && decoded(() => parsePolicy(policy)), nowMs }
  const { verdict, why } = (await judgePack(pieces, trust)).report
  if (verdict !== 'altered' && verdict !== 'no evidence' && verdict !== 'impossible') return
  throw new PackFault('altered', `What was gathered does not hold. ${why.join(' ')}`)
}

interface Proof {
  readonly path: string
  readonly json: JsonObject
}

/** Throws PackFault for what is not there or cannot be shown, BundleFault, and what the node throws. */
export async function gatherPack(asked: PackAsked, node: PackNode): Promise<PackMaker> {
  try {
    return await gathered(asked, node)
  } catch (error) {
    const isTold = error instanceof PackFault || error instanceof BundleFault
    if (isTold || !(error instanceof DecodeError)) throw error
    throw new PackFault('altered', `What the node gives, or a saved receipt, cannot be read: ${error.message}.`)
  }
}

async function gathered(asked: PackAsked, node: PackNode): Promise<PackMaker> {
  const tooMany = (['datasets', 'answers', 'receipts'] as const).find((name) => asked[name].length > mostNumbered)
  if (tooMany !== undefined) throw new PackFault('impossible', `A pack holds at most ${mostNumbered} ${tooMany}.`)
  const maker = new PackMaker()
  for (const [at, one] of asked.answers.entries()) {
    const bytes = typeof one === 'string' ? await node.ask(one) : one
    const verdict = verifyOffline(bytes)
    if (!verdict.ok) throw new PackFault('altered', `Answer ${at + 1} is not to be handed on: ${verdict.message}`)
    const isAsked = typeof one !== 'string' || verdict.answer.query === one
    if (!isAsked) throw new PackFault('altered', `The node answers another question than statement ${at + 1}.`)
    maker.add(answerPath(at + 1), bytes)
  }
  const proofs: Proof[] = []
  for (const [at, name] of asked.datasets.entries()) {
    const chain = await shownChain(name, node.get)
    await addBundle(maker, { name, number: at + 1, chain, node })
    const onProof = (sequence: number): void => node.say(`${name}: proof of block ${sequence}`)
    for (const { sequence, json } of await proofsOfBlocks(chain, asked, { get: node.get, onProof })) {
      proofs.push({ path: proofPath(at + 1, sequence), json })
    }
  }
  const statement = await statementOf(node.get)
  if (statement !== undefined) proofs.push({ path: statementPath, json: statement })
  const receipts = await receiptsOf(asked.receipts, node.get)
  const all = [...proofs.map(({ json }) => json), ...receipts.flatMap(proofsIn)]
  const anchor =
    all.length === 0 && asked.head === undefined ? undefined : await commonAnchor(all, node.get, asked.head)
  for (const { path, json } of proofs) maker.add(path, jsonBytes(await anchored(json, anchor, node.get)))
  for (const [at, receipt] of receipts.entries()) {
    maker.add(receiptPath(at + 1), jsonBytes(await anchoredReceipt(receipt, anchor, node.get)))
  }
  for (const [path, from] of [
    [didPath, '/.well-known/did.json'],
    [policyPath, '/ledger/policy'],
  ] as const) {
    const { status, bytes } = await node.get(from)
    if (status === 200) maker.add(path, bytes)
  }
  return maker
}

async function addBundle(
  maker: PackMaker,
  {
    name,
    number,
    chain,
    node,
  }: { readonly name: string; readonly number: number; readonly chain: ShownChain; readonly node: PackNode },
): Promise<void> {
  const pin = { id: chain.id, alias: name, blockHash: chain.newest.hash }
  const sql = `SELECT count(*) AS "rows" FROM "${name.replaceAll('"', '""')}"`
  const proof = await node.ask(sql, pin)
  const verdict = verifyOffline(proof)
  if (!verdict.ok)
    throw new PackFault('altered', `What the node answered about ${name} is not as it was signed: ${verdict.message}`)
  const { pins, dialect } = askedOf(verdict.answer)
  const isAsked = verdict.answer.query === sql && pins.size === 1 && pins.get(chain.id)?.has(chain.newest.hash) === true
  if (!isAsked) throw new PackFault('altered', `The node answers another question than that about ${name}.`)
  const onBlock = (done: number, of: number): void => node.say(`${name}: block ${done} of ${of}`)
  const plan = await planBundle({ proof, pins, engine: node.engineOf(dialect) }, { source: node.source, onBlock })
  const shelf = await node.shelf(name)
  let written = 0
  await maker.addBundle(bundlePath(number), {
    proof,
    shelf,
    make: async (write) =>
      await writeBundle(plan, node.source, async (bytes) => {
        written += bytes.length
        node.say(`${name}: ${Math.floor((100 * written) / plan.contents.bytes)} % of ${plan.contents.bytes} bytes`)
        await write(bytes)
      }),
  })
}

/** The proof of the newest statement in which the node names its key; undefined where it has no ledger. */
async function statementOf(get: Get): Promise<JsonObject | undefined> {
  const about = await get('/ledger')
  const hash = about.status === 200 ? textAt(parseJson(about.bytes), 'statement') : undefined
  const proof = hash === undefined ? undefined : await get(`/ledger/statements/${hash}/proof?format=json`)
  return proof?.status === 200 ? objectIn(proof.bytes) : undefined
}

async function receiptsOf(asked: PackAsked['receipts'], get: Get): Promise<JsonObject[]> {
  const found: JsonObject[] = []
  for (const [at, one] of asked.entries()) {
    const receipt = typeof one === 'string' ? await receiptOf(one, get) : decoded(() => objectIn(one))
    const name = typeof one === 'string' ? `receipt ${one}` : `JSON in saved receipt ${at + 1}`
    if (receipt === undefined) throw new PackFault('impossible', `There is no ${name}.`)
    found.push(receipt)
  }
  return found
}

async function receiptOf(id: string, get: Get): Promise<JsonObject | undefined> {
  const receipt = await gatherReceipt(id, async (path) => {
    const { status, bytes } = await get(path)
    return status === 200 ? bytes : undefined
  })
  if (receipt === undefined || textAt(receipt, 'receipt', 'receiptId') === id) return receipt
  throw new PackFault('altered', `The node gives another receipt than ${id}.`)
}

function proofsIn(receipt: JsonObject): JsonObject[] {
  return itemsAt(receipt, 'proofs').flatMap((one) => (one instanceof Map ? [one as JsonObject] : [])) // names are strings
}

async function anchoredReceipt(receipt: JsonObject, to: Anchor | undefined, get: Get): Promise<JsonObject> {
  if (!receipt.has('proofs')) return receipt
  const proofs: JsonValue[] = []
  for (const one of proofsIn(receipt)) proofs.push(await anchored(one, to, get))
  return new Map([...receipt, ['proofs', proofs]])
}

const jsonBytes = (value: JsonObject): Uint8Array => utf8(`${jsonText(value)}\n`)

function objectIn(bytes: Uint8Array): JsonObject | undefined {
  const value = parseJson(bytes)
  return value instanceof Map ? (value as JsonObject) : undefined // names of members are strings
}
