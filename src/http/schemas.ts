// Parameters that more than one route takes. Schemas of requests validate them, and describe them in the OpenAPI document.

import { Type } from 'typebox'
import { NodeError } from '../model/errors.ts'
import { schemaFormats } from '../model/query.ts'
import { outputFormatNames } from '../outputs/formats.ts'

const nameText = { maxLength: 100, description: 'Labels of letters, digits and inner hyphens, joined by dots.' }

export const DatasetParams = Type.Object({ account: Type.String(nameText), dataset: Type.String(nameText) })

export const DecimalText = (description: string): ReturnType<typeof Type.String> =>
  Type.String({ pattern: '^[0-9]{1,15}$', description })

/** `A, B or C.` */
function oneOf(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`
}

export const SchemaFormatText = Type.String({ description: oneOf(schemaFormats), maxLength: 20 })

const [defaultFormat, ...otherFormats] = outputFormatNames
export const DataFormatText = Type.String({
  description: oneOf([`${defaultFormat} (default)`, ...otherFormats]),
  maxLength: 20,
})

const defaultItems = 100
const maxItems = 1000

/** Items of one page. Throws NodeError `InvalidParameter` outside 1 to 1,000. */
export function pageSize(text: string | undefined): number {
  const items = text === undefined ? defaultItems : Number(text)
  if (items >= 1 && items <= maxItems) return items
  throw new NodeError('InvalidParameter', `limit is ${items}; pages hold 1 to ${maxItems} items.`, {
    hint: 'Follow next for more.',
  })
}
