// Creation: a message in the log, then the wait until its blocks are committed. Whoever came first in the log wins.

import type { Catalog } from '../catalog/catalog.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import { datasetIdFromKey } from '../ids/did.ts'
import { ed25519Signer, randomBytes } from '../ids/native-crypto.ts'
import type { Clock } from '../lib/clock.ts'
import type { EventLog } from '../log/event-log.ts'
import type { CreateAttachment, CreateInfo, CreateLicense, CreateVocabulary } from '../log/messages.gen.ts'
import { partitionOf } from '../log/partitions.ts'
import { NodeError } from '../model/errors.ts'
import type { Alias } from '../model/names.ts'
import type { DataSchema } from '../model/schema.ts'
import type { Publisher } from './publish.ts'

/** A creation that is not committed within this time has an unknown outcome. */
const commitWithinMs = 15_000
/** A commit that was not announced here is found in the store. */
const lookMs = 1_000

/** What a dataset is made with. */
export interface NewDataset {
  readonly alias: Alias
  readonly schema?: DataSchema
  readonly vocab?: CreateVocabulary
  readonly info?: CreateInfo
  readonly license?: CreateLicense
  readonly attachments?: readonly CreateAttachment[]
  readonly visibility: 'public' | 'private'
  /** The trace of the request. */
  readonly traceparent?: string
}

export interface CreateDeps {
  readonly catalog: Catalog
  readonly log: EventLog
  readonly publisher: Publisher
  readonly clock: Clock
}

/**
 * Logs the creation and waits for it. Resolves with the dataset that now has the name, and whether this call made it.
 * Throws NodeError `OutcomeUnknown` after 15 s, and what the log throws.
 */
export async function createDataset(
  deps: CreateDeps,
  dataset: NewDataset,
): Promise<{ chain: DatasetChain; created: boolean }> {
  const { alias, ...rest } = dataset
  const id = datasetIdFromKey(ed25519Signer(randomBytes(32)).publicKey)
  const partition = partitionOf(alias.folded, deps.log.partitions)
  const ended = new AbortController()
  const appeared = new Promise<void>((resolve) => {
    const stop = deps.catalog.onAdvance(({ chain }) => {
      if (chain.name.alias.toLowerCase() === alias.folded) resolve()
    })
    ended.signal.addEventListener('abort', stop, { once: true })
  })
  try {
    const taken = await deps.catalog.byAlias(alias.text)
    if (taken !== undefined) return { chain: taken, created: false }
    await deps.publisher.create(partition, {
      dataset: id,
      alias: alias.text,
      time: new Date(deps.clock.nowMs()).toISOString(),
      ...rest,
    })
    for (let waitedMs = 0; waitedMs < commitWithinMs; waitedMs += lookMs) {
      await Promise.race([appeared, deps.clock.sleep(lookMs, ended.signal)])
      const chain = await deps.catalog.byAlias(alias.text)
      if (chain !== undefined) return { chain, created: chain.name.id === id }
    }
  } finally {
    ended.abort()
  }
  throw new NodeError(
    'OutcomeUnknown',
    `The creation of '${alias.text}' is in the log but was not committed within ${commitWithinMs / 1000} s.`,
    {
      hint: 'Repeat the same request; it finishes what was begun.',
    },
  )
}
