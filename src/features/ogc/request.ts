// What a request of OGC API Features asks for: its parameters, as they are described and validated, and what they mean for a
// collection. Sources: OGC 17-069r4 §7.15 (limit, bbox, datetime, filters by property), OGC 19-079r2 (filter).

import { type Static, Type } from 'typebox'
import type { DatasetView } from '../../node/catalog/dataset-chain.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import { type FeatureRequest, fieldsByName } from './feature-page.ts'
import { BoxAndTime, readBoxAndTime } from '../../node/http/box-and-time.ts'
import { DecimalText } from '../../node/http/request-target.ts'

/** The coordinates of GeoJSON: longitude and latitude in WGS 84. */
export const crs84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'

export const defaultItems = 10
export const mostItems = 10_000
/** Collections of one page, unless fewer are asked for. */
export const mostCollections = 1000

const CrsText = Type.Optional(Type.String({ maxLength: 200, description: `${crs84}.` }))
const FormatText = Type.Optional(Type.String({ maxLength: 20, description: 'json or html, whatever Accept says.' }))

export const FormatQuery = Type.Object({ f: FormatText }, { additionalProperties: false })
export const FeatureQuery = Type.Object({ f: FormatText, crs: CrsText }, { additionalProperties: false })
export const CollectionsQuery = Type.Object(
  {
    f: FormatText,
    limit: Type.Optional(DecimalText('Collections of one page, 1 to 1,000; 1,000 by default.')),
    after: Type.Optional(
      Type.String({ maxLength: 210, description: 'Id of the last collection of the previous page.' }),
    ),
  },
  { additionalProperties: false },
)

export const CollectionParams = Type.Object({
  collection: Type.String({ maxLength: 210, description: 'account:dataset.' }),
})

const At = Type.Optional(Type.String({ maxLength: 120, description: 'Hash of a block (default: the head).' }))

export const propertiesText =
  'Columns beside id and offset, separated by commas, none where it is empty. By default the first eight scalar ones, name first.'

export const TileQuery = Type.Object(
  { at: At, properties: Type.Optional(Type.String({ maxLength: 1000, description: propertiesText })) },
  { additionalProperties: false },
)

const itemsParameters = {
  f: FormatText,
  limit: Type.Optional(DecimalText('Features of one page, 1 to 10,000; 10 by default.')),
  offset: Type.Optional(DecimalText('Features left out at the start.')),
  ...BoxAndTime,
  'bbox-crs': CrsText,
  crs: CrsText,
  filter: Type.Optional(Type.String({ maxLength: 8000, description: 'CQL2 text.' })),
  'filter-lang': Type.Optional(Type.String({ maxLength: 20, description: 'cql2-text.' })),
  'filter-crs': CrsText,
  sortby: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Columns to sort by. - before a column means descending.' }),
  ),
  at: At,
}

/** Any other parameter is the name of a property with the value that it must have. */
export const ItemsQuery = Type.Object(itemsParameters, { additionalProperties: Type.String({ maxLength: 1000 }) })

export type AskedItems = Static<typeof ItemsQuery>

function invalid(message: string, hint?: string): NodeError {
  return new NodeError('InvalidParameter', message, hint === undefined ? {} : { hint })
}

/** Throws NodeError `InvalidParameter` for a coordinate system that is not that of GeoJSON. */
export function needCrs84(asked: Readonly<Record<string, string | undefined>>): void {
  for (const name of ['crs', 'bbox-crs', 'filter-crs']) {
    const value = asked[name] ?? crs84
    if (value !== crs84)
      throw invalid(`${name} is '${value}'; coordinates are in CRS84 here.`, `Leave ${name} out, or write ${crs84}.`)
  }
}

/** Features of one page, collections of one page. Throws NodeError `InvalidParameter` for 0. */
export function limitOf(
  text: string | undefined,
  { usual, most }: { readonly usual: number; readonly most: number },
): number {
  const limit = Number(text ?? usual)
  if (limit < 1) throw invalid(`limit is 0; pages hold 1 to ${most}.`)
  return Math.min(limit, most)
}

/** What is asked of the collection `view`. Throws NodeError `InvalidParameter`. */
export function featureRequest(view: DatasetView, asked: AskedItems): FeatureRequest {
  needCrs84(asked)
  const language = asked['filter-lang'] ?? 'cql2-text'
  if (language !== 'cql2-text') throw invalid(`filter-lang is '${language}'; only cql2-text is known here.`)
  return {
    view,
    limit: limitOf(asked.limit, { usual: defaultItems, most: mostItems }),
    skip: Number(asked.offset ?? 0),
    ...readBoxAndTime(asked),
    equal: readEqual(view, asked),
    filter: asked.filter,
    sortBy: (asked.sortby ?? '')
      .split(',')
      .filter((key) => key !== '')
      .map((key) => ({ column: key.replace(/^[+-]/, '').trim(), isDescending: key.startsWith('-') })),
  }
}

/** Parameters with names of properties. */
function readEqual(view: DatasetView, asked: AskedItems): FeatureRequest['equal'] {
  const fields = fieldsByName(view)
  return Object.entries(asked).flatMap(([name, text]) => {
    if (Object.hasOwn(itemsParameters, name) || text === undefined) return []
    const field = fields.get(foldAscii(name))
    if (field !== undefined) return [{ field, text }]
    throw new NodeError(
      'InvalidParameter',
      `The parameter '${name.slice(0, 100)}' is not known here, nor a property.`,
      {
        candidates: [...Object.keys(itemsParameters), ...[...fields.values()].map((one) => one.name)].slice(0, 100),
      },
    )
  })
}
