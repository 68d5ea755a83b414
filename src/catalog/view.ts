// A snapshot of one dataset at one block: what a query, a tail or an answer about the dataset is computed from.

import type { Visibility } from '../chain/records.ts'
import { must } from '../lib/assert.ts'
import type { DatasetId, Hash, Instant, SetAttachments, SetInfo, SetLicense } from '../model/events.ts'
import { type DataSchema, defaultVocabulary, type Vocabulary } from '../model/schema.ts'
import type { ChainSlices, DatasetChain, Versioned } from './dataset-chain.ts'

export interface DatasetView {
  readonly id: DatasetId
  readonly alias: string
  readonly visibility: Visibility
  readonly block: { readonly hash: Hash; readonly sequence: number; readonly systemTime: Instant }
  readonly rows: number
  readonly slices: ChainSlices
  readonly vocabulary: Vocabulary
  /** Absent before the first SetDataSchema. */
  readonly schema: DataSchema | undefined
  /** Sequence of the block that set the schema; -1 when there is none. */
  readonly schemaSequence: number
  readonly info: SetInfo | undefined
  readonly license: SetLicense | undefined
  readonly attachments: SetAttachments['attachments'] | undefined
}

/** The dataset as of block `sequence` (default: the head). */
export function viewOf(chain: DatasetChain, sequence: number = chain.headSequence): DatasetView {
  const block = must(chain.blocks.at(sequence), 'the block is in the chain')
  const schema = latest(chain.schemas, sequence)
  return {
    id: chain.name.id,
    alias: chain.name.alias,
    visibility: chain.name.visibility,
    block: { hash: block.hash, sequence, systemTime: block.systemTime },
    rows: block.rows,
    slices: chain.slicesUpTo(sequence),
    vocabulary: latest(chain.vocabularies, sequence)?.value ?? defaultVocabulary,
    schema: schema?.value,
    schemaSequence: schema?.sequence ?? -1,
    info: latest(chain.infos, sequence)?.value,
    license: latest(chain.licenses, sequence)?.value,
    attachments: latest(chain.attachments, sequence)?.value,
  }
}

function latest<T>(versions: readonly Versioned<T>[], sequence: number): Versioned<T> | undefined {
  return versions.findLast((version) => version.sequence <= sequence)
}
