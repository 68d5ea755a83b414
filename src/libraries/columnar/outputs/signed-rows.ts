// The address under which the rows of a file come with a proof: the statement over datasets pinned at the blocks of the file. An alias
// is as a pin has it: `acme/trips`, or `trips=acme/trips` where the statement has another name.

import type { Parameters } from '../../model/parameters.ts'

/** Links have room for as many: headers have a bound in most clients. */
const longestQueryChars = 2000

export interface SignedRows {
  readonly heads: readonly Record<'alias' | 'block', string>[]
  readonly sql: string
  /** Its values; an address carries text alone. */
  readonly parameters?: Parameters | undefined
  readonly skip: number
}

/** The path, but for the number of rows; undefined where it is too long. */
export function signedPath({ heads, sql, parameters, skip }: SignedRows): string | undefined {
  const values = parameters?.values ?? []
  if (values.some(({ type }) => type !== 'VARCHAR')) return undefined
  const query = [
    `query=${encodeURIComponent(sql)}`,
    ...heads.map(({ alias, block }) => `pin=${encodeURIComponent(alias)}@${block}`),
    ...values.map(({ name, text }) => `param.${encodeURIComponent(name)}=${encodeURIComponent(text)}`),
    ...(skip === 0 ? [] : [`skip=${skip}`]),
  ].join('&')
  return query.length > longestQueryChars ? undefined : `/query?${query}`
}

/** The path, or the whole address, with the number of rows. */
export function signedAddress(path: string, rows: number): string {
  return `${path}&limit=${rows}&include=proof`
}
