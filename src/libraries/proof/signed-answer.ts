// What a saved answer says in words of the one who reads it: what was asked, of which datasets at which blocks, how many
// rows came and whether that is all of them. Reads members as they are; nothing is checked here, that is check.ts.

import { defined } from '../base/collections.ts'
import { JsonNumber, type JsonObject, type JsonValue } from '../base/json/value.ts'
import type { ProofBody } from './proof-body.ts'

export interface AskedDataset {
  readonly id: string
  /** The name in the statement. */
  readonly alias?: string
  readonly blockHash?: string
  /** When the block was made, as it was signed: by our nodes alone. */
  readonly blockTime?: string
}

/** `whole`: no row was left out after those; `cut`: rows beyond `limit` were; `unknown`: the answer does not tell. */
export type Extent = 'whole' | 'cut' | 'unknown'

export interface SignedAnswer {
  readonly query?: string
  /** Values for the parameters of the statement, as they were given. */
  readonly parameters?: JsonValue
  /** Language, engine and normaliser that ran. */
  readonly dialect?: string
  readonly datasets: readonly AskedDataset[]
  /** Rows left out at the start. */
  readonly skip: number
  readonly limit?: number
  /** Absent where the answer has no output, or one that is no list of rows. */
  readonly rows?: number
  readonly extent: Extent
}

export function readSignedAnswer({ input, output }: Pick<ProofBody, 'input' | 'output'>): SignedAnswer {
  const [query, dialect] = [textAt(input, 'query'), textAt(input, 'queryDialect')]
  const limit = numberAt(input, 'limit')
  const parameters = input.get('parameters')
  const rows = output instanceof Map ? rowsOf(output.get('data')) : undefined
  const truncated = output instanceof Map && output.get('truncated') === true
  return {
    ...defined({ query, parameters, dialect }),
    datasets: datasetsOf(input.get('datasets')),
    skip: numberAt(input, 'skip') ?? 0,
    ...defined({ limit, rows }),
    extent: truncated ? 'cut' : extentOf(rows, limit, dialect),
  }
}

/** Our outputs say when they are cut; of all others only one below its limit is surely whole. */
function extentOf(rows: number | undefined, limit: number | undefined, dialect: string | undefined): Extent {
  if (rows === undefined) return 'unknown'
  return /^SqlDuckDb\/\d+\.\d+\.\d+-\d{1,9}$/.test(dialect ?? '') || (limit !== undefined && rows < limit)
    ? 'whole'
    : 'unknown'
}

/** `100 rows, cut by limit 100`. */
export function extentText(answer: Pick<SignedAnswer, 'rows' | 'limit' | 'skip' | 'extent'>): string | undefined {
  const { rows, limit, skip, extent } = answer
  if (rows === undefined) return undefined
  const count = `${rows} ${rows === 1 ? 'row' : 'rows'}${skip > 0 ? ` after the first ${skip}` : ''}`
  if (extent === 'cut') return `${count}, cut by limit ${limit ?? rows}`
  return extent === 'whole' ? `${count}, none left out` : `${count}; whether more were left out is not said`
}

function datasetsOf(value: JsonValue | undefined): AskedDataset[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item): AskedDataset[] => {
    if (!(item instanceof Map)) return []
    const id = textAt(item, 'id')
    if (id === undefined) return []
    const members = (['alias', 'blockHash', 'blockTime'] as const).flatMap((name) => {
      const value = textAt(item, name)
      return value === undefined ? [] : [[name, value] as const]
    })
    return [{ id, ...Object.fromEntries(members) }]
  })
}

/** Rows of `data` in any JSON layout; undefined for another value. */
function rowsOf(data: JsonValue | undefined): number | undefined {
  if (Array.isArray(data)) return data.length
  if (!(data instanceof Map)) return undefined
  const [column] = data.values()
  if (column === undefined) return 0
  return Array.isArray(column) ? column.length : undefined
}

function textAt(object: JsonObject, name: string): string | undefined {
  const value = object.get(name)
  return typeof value === 'string' ? value : undefined
}

function numberAt(object: JsonObject, name: string): number | undefined {
  const value = object.get(name)
  const number = value instanceof JsonNumber ? Number(value.token) : Number.NaN
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined
}
