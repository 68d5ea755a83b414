// What a dataset says of itself at a block: the aspects of GET …/metadata.

import type { Catalog } from '../catalog/catalog.ts'
import { type DatasetChain, type DatasetView, viewOf } from '../catalog/dataset-chain.ts'
import { fromPlain, jsonText } from '../../libraries/base/json/json.ts'
import { concatBytes, utf8 } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { SchemaFormat } from '../../libraries/model/query.ts'
import { schemaBytes } from '../../libraries/odf/schema-formats.ts'
import { viewAt } from './pin.ts'
import { jsonMembers } from './query.ts'

/** The aspects that are ordinary values; undefined where one was never set. */
const aspectValues = {
  attachments: ({ attachments }: DatasetView) => attachments && { attachments }, // Deployed nodes name it twice.
  info: ({ info }: DatasetView) => info && withoutKind(info),
  license: ({ license }: DatasetView) => license && withoutKind(license),
  refs: ({ block }: DatasetView) => [{ name: 'head', blockHash: block.hash }],
  seed: ({ id }: DatasetView) => ({ datasetId: id, datasetKind: 'Root' }),
  vocab: ({ vocabulary }: DatasetView) => vocabulary,
}

const metadataAspects = ['attachments', 'info', 'ledger', 'license', 'refs', 'schema', 'seed', 'vocab'] as const
type MetadataAspect = (typeof metadataAspects)[number]

export interface MetadataAnswer {
  /** The whole JSON body. */
  readonly body: Uint8Array
  readonly view: DatasetView
}

/** Aspects named by a comma list, any case. Throws NodeError `InvalidParameter`. */
export function parseAspects(include: string | undefined): readonly MetadataAspect[] {
  if (include === undefined) return ['seed']
  const names = include
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
  const unknown = names.find((name) => !metadataAspects.some((aspect) => aspect === name))
  if (unknown !== undefined) {
    throw new NodeError('InvalidParameter', `include names '${unknown.slice(0, 80)}'.`, {
      hint: `Use any of: ${metadataAspects.join(', ')}.`,
      candidates: metadataAspects,
    })
  }
  return metadataAspects.filter((aspect) => names.includes(aspect))
}

/** The asked aspects that exist, at block `at` or the head. Throws NodeError `BlockNotFound`. */
export async function answerMetadata(
  catalog: Catalog,
  chain: DatasetChain,
  asked: {
    readonly aspects: readonly MetadataAspect[]
    readonly schemaFormat: SchemaFormat
    readonly at: string | undefined
    /** What readers recompute entries of the ledger by, at a block. */
    readonly ledgerOf: (view: DatasetView) => Promise<object | undefined>
  },
): Promise<MetadataAnswer> {
  const view = asked.at === undefined ? viewOf(chain) : await viewAt(catalog, chain, asked.at)
  const output: (readonly [string, Uint8Array])[] = []
  for (const aspect of asked.aspects) {
    if (aspect !== 'schema') {
      const value = aspect === 'ledger' ? await asked.ledgerOf(view) : aspectValues[aspect](view)
      if (value !== undefined) output.push([aspect, utf8(jsonText(fromPlain(value)))])
    } else if (view.schema !== undefined) {
      output.push(['schema', schemaBytes(view.schema, asked.schemaFormat)])
      output.push(['schemaFormat', utf8(JSON.stringify(asked.schemaFormat))])
    }
  }
  return { body: concatBytes(jsonMembers([['output', jsonMembers(output)]])), view }
}

function withoutKind(event: { readonly kind: string }): object {
  const { kind: _, ...rest } = event
  return rest
}
