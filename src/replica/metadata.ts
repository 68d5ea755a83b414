// What a dataset says of itself at a block: the aspects of GET …/metadata.

import { viewOf } from '../catalog/view.ts'
import type { DatasetView } from '../catalog/view.ts'
import type { DatasetChain } from '../catalog/dataset-chain.ts'
import { arrowJsonSchema } from '../codec/arrow-json.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { NodeError } from '../model/errors.ts'
import type { SchemaFormat } from '../model/query.ts'
import { viewAt } from './pin.ts'

export const metadataAspects = ['attachments', 'info', 'license', 'refs', 'schema', 'seed', 'vocab'] as const
export type MetadataAspect = (typeof metadataAspects)[number]

export interface MetadataAnswer {
  readonly output: Readonly<Record<string, unknown>>
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
  },
): Promise<MetadataAnswer> {
  const view = asked.at === undefined ? viewOf(chain) : await viewAt(catalog, chain, asked.at)
  const output: Record<string, unknown> = {}
  for (const aspect of asked.aspects) addAspect(output, view, { aspect, schemaFormat: asked.schemaFormat })
  return { output, view }
}

function addAspect(
  output: Record<string, unknown>,
  view: DatasetView,
  { aspect, schemaFormat }: { aspect: MetadataAspect; schemaFormat: SchemaFormat },
): void {
  switch (aspect) {
    case 'seed':
      output['seed'] = { datasetId: view.id, datasetKind: 'Root' }
      return
    case 'refs':
      output['refs'] = [{ name: 'head', blockHash: view.block.hash }]
      return
    case 'vocab':
      output['vocab'] = view.vocabulary
      return
    case 'schema':
      if (view.schema === undefined) return
      output['schema'] = arrowJsonSchema(view.schema)
      output['schemaFormat'] = schemaFormat
      return
    case 'info':
      if (view.info !== undefined) output['info'] = withoutKind(view.info)
      return
    case 'license':
      if (view.license !== undefined) output['license'] = withoutKind(view.license)
      return
    case 'attachments':
      if (view.attachments !== undefined) output['attachments'] = view.attachments
  }
}

function withoutKind(event: { readonly kind: string }): object {
  const { kind: _, ...rest } = event
  return rest
}
