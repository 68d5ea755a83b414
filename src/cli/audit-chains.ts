// The chains of a node beside its ledger: the tags of entries, which everybody sees, against those that follow from the blocks of
// the datasets that the caller may read. Keeps 48 bytes for each block of these, nothing for others.

import type { JsonValue } from '../index.ts'
import { toHex } from '../libraries/base/bytes.ts'
import { DecodeError } from '../libraries/base/errors.ts'
import { type EntryOfBlock, type EntryVerdict, isOfBlock, judgeEntry } from '../libraries/ledger/audit.ts'
import { type BlockEntry, datasetTag } from '../libraries/ledger/entry.ts'
import { type DatasetSecrets, datasetSecretsFromJson, type SecretWalk } from '../libraries/ledger/secrets.ts'
import { ReadableBlock } from './audit-roots.ts'
import { datasetPath, type NodeClient } from './client.ts'
import { CommandFailure, exitCodes } from './failure.ts'
import { memberAt, numberAt, textAt } from '../libraries/base/json/members.ts'
import { noNode } from './node-answer.ts'
import { pagesOf } from './pages.ts'

/** What is wrong, in a line. */
export interface Finding {
  readonly finding: string
  /** Alias of a dataset that the caller may read, else a tag in hex. */
  readonly dataset?: string
  readonly sequence?: number
  readonly index?: number
  readonly about?: string
}

/** Is told what is wrong. */
export type OnFinding = (finding: Finding) => void

/** So much of a tag tells blocks apart, and of a root batches and rows. */
const keptBytes = 16
/** Of an entry: block tag, batch root, row root. */
const entryBytes = 3 * keptBytes
const nothing = new Uint8Array()

/** A dataset that the caller may read, and what the ledger has of it. */
interface Chain {
  readonly alias: string
  /** Undefined where the ledger should have it, and has nothing of it yet. */
  readonly secrets: SecretWalk | undefined
  /** Of its entries in order the first 16 bytes of block tag, batch root and row root. */
  kept: Uint8Array
  /** How many they are. */
  entered: number
  /** Sequence from which on the roots are recomputed: the entries before were there at the last audit. */
  newFrom: number
}

export interface ChainsReport {
  readonly datasets: number
  readonly blocks: number
  /** Blocks that are not entries and are young enough. */
  readonly waiting: number
  /** Blocks whose entries have roots that were recomputed. */
  readonly recomputed: number
  /** Blocks of which a secret or an object is gone, so that not all can be compared. */
  readonly unknown: number
  /** Datasets that are not in the ledger. */
  readonly outside: number
}

export class Chains {
  readonly #client: NodeClient
  readonly #onFinding: OnFinding
  readonly #byTag = new Map<string, Chain>()
  #outside = 0
  /** False where an object is gone from which a root would have been recomputed. */
  areRootsRead = true

  constructor(client: NodeClient, onFinding: OnFinding) {
    this.#client = client
    this.#onFinding = onFinding
  }

  get count(): number {
    return this.#byTag.size
  }

  /** Asks for the salts of all datasets that the caller may read. Throws CommandFailure. */
  async open(onDataset: (done: number) => void): Promise<void> {
    const list = { path: '/datasets' }
    for await (const page of pagesOf(this.#client, list, { items: 'datasets', cursor: 'after' })) {
      for (const dataset of page) {
        await this.#openOne(dataset)
        onDataset(this.#byTag.size + this.#outside)
      }
    }
  }

  async #openOne(dataset: JsonValue): Promise<void> {
    const [alias, id] = [textAt(dataset, 'alias') ?? '', textAt(dataset, 'id') ?? '']
    // A dataset may go meanwhile.
    const call = { path: `${datasetPath(alias)}/metadata`, query: { include: 'ledger' }, accepts: [404, 410] }
    const answer = await this.#client.call(call)
    const told = answer.status === 200 ? memberAt(answer.json(), 'output', 'ledger') : undefined
    const open = { alias, kept: nothing, entered: 0, newFrom: Number.POSITIVE_INFINITY }
    if (told !== undefined) {
      const { salt, secrets } = readSecrets(told, alias)
      this.#byTag.set(toHex(datasetTag(salt, id)), { ...open, secrets })
    } else if (answer.status === 200 && memberAt(dataset, 'ledger') === true) {
      this.#byTag.set(id, { ...open, secrets: undefined })
    } else this.#outside++
  }

  /** An entry in its place; `isNew`: it was not there at the last audit. */
  take(tag: string, { sequence, blockTag, batchRoot, rowRoot }: BlockEntry, isNew: boolean): void {
    const chain = this.#byTag.get(tag)
    if (chain === undefined) return
    const at = sequence * entryBytes
    if (chain.kept.length < at + entryBytes) {
      // Most datasets have few blocks.
      const larger = new Uint8Array(at === 0 ? entryBytes : 2 * (at + entryBytes))
      larger.set(chain.kept)
      chain.kept = larger
    }
    for (const [place, bytes] of [blockTag, batchRoot, rowRoot].entries()) {
      chain.kept.set(bytes.subarray(0, keptBytes), at + place * keptBytes)
    }
    chain.entered = sequence + 1
    if (isNew) chain.newFrom = Math.min(chain.newFrom, sequence)
  }

  /** Alias for a tag that is known. */
  nameOf(tag: string): string {
    return this.#byTag.get(tag)?.alias ?? tag
  }

  /** Reads the chains, and holds their blocks against the entries. Blocks from before `dueMs` have to be there. */
  async compare(dueMs: number, onBlocks: (blocks: number) => void): Promise<ChainsReport> {
    const report = { datasets: this.count, blocks: 0, recomputed: 0, waiting: 0, unknown: 0, outside: this.#outside }
    for (const [tag, chain] of this.#byTag) {
      // Its secrets take most memory while they are walked.
      this.#byTag.delete(tag)
      const list = { path: `${datasetPath(chain.alias)}/blocks` }
      const { entered, alias: dataset } = chain
      const missing = { finding: 'not in the chain', dataset }
      let length = 0
      let next = -1
      const about = 'the list of blocks leaves it out'
      for await (const page of pagesOf(this.#client, list, { items: 'blocks', cursor: 'before' })) {
        for (const block of page) {
          const sequence = numberAt(block, 'sequence') ?? -1
          if (!Number.isSafeInteger(sequence) || sequence < 0) {
            throw noNode(this.#client.server, `lists a block of ${chain.alias} without a sequence`)
          }
          // The newest comes first.
          if (length > 0 && sequence !== next) this.#onFinding({ ...missing, sequence: next, about })
          next = sequence - 1
          length = Math.max(length, sequence + 1)
          report.blocks++
          const found = await this.#judge(chain, block, { sequence, dueMs })
          if (found !== undefined) report[found]++
          onBlocks(report.blocks)
        }
      }
      if (next >= 0) this.#onFinding({ ...missing, sequence: next, about })
      if (length < entered) {
        this.#onFinding({
          ...missing,
          sequence: length,
          about: `the ledger has ${entered} blocks, the chain ${length}`,
        })
      }
    }
    return report
  }

  async #judge(
    chain: Chain,
    block: JsonValue,
    { sequence, dueMs }: { readonly sequence: number; readonly dueMs: number },
  ): Promise<'waiting' | 'unknown' | 'recomputed' | undefined> {
    const { alias: dataset, entered } = chain
    if (sequence >= entered) {
      const time = textAt(block, 'systemTime') ?? ''
      if (Date.parse(time) > dueMs) return 'waiting'
      this.#onFinding({ finding: 'missing', dataset, sequence, about: `the block of ${time} is not in the ledger` })
      return undefined
    }
    const secret = chain.secrets?.secretOf(sequence)
    if (secret === undefined) return 'unknown'
    const hash = textAt(block, 'hash') ?? ''
    const entry = entryAt(chain, sequence)
    const own = new ReadableBlock(this.#client, datasetPath(dataset), { hash, secret })
    const isNew = sequence >= chain.newFrom
    const verdict = isNew ? await judged(entry, own) : isOfBlock(entry, own) ? 'none' : 'another block'
    if (verdict === 'none') return undefined
    if (verdict === 'another block') {
      const about = 'the entry is of another block than the chain has'
      this.#onFinding({ finding: 'another block', dataset, sequence, about })
      return undefined
    }
    if (verdict === 'unread') {
      this.areRootsRead = false
      return 'unknown'
    }
    if (verdict !== 'good') this.#onFinding({ finding: 'another root', dataset, sequence, about: verdict.about })
    return 'recomputed'
  }
}

function entryAt({ kept }: Chain, sequence: number): EntryOfBlock {
  const field = (place: number): Uint8Array => {
    const at = sequence * entryBytes + place * keptBytes
    return kept.subarray(at, at + keptBytes)
  }
  return { blockTag: field(0), batchRoot: field(1), rowRoot: field(2) }
}

async function judged(entry: EntryOfBlock, block: ReadableBlock): Promise<EntryVerdict> {
  return await judgeEntry(entry, block).catch((error: unknown) => {
    if (!(error instanceof DecodeError)) throw error
    return { about: `the block cannot be read: ${error.message}` }
  })
}

function readSecrets(told: JsonValue, alias: string): DatasetSecrets {
  try {
    return datasetSecretsFromJson(memberAt(told, 'salt'), memberAt(told, 'keys'))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const message = `What the node says of the secrets of ${alias} cannot be read: ${error.message}.`
    throw new CommandFailure(exitCodes.verificationImpossible, message, { cause: error })
  }
}
