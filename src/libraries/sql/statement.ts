// What a statement is found to be: its class, its names, what it says of the rows that it needs. Plain data, which the gate makes.

import type { TextPosition } from '../base/errors.ts'
import type { ParameterName } from '../model/parameters.ts'

/** The class of a statement (stability.ts). */
export type Stability = 'exact' | 'pinned'

/** What a statement is over datasets of certain columns. */
export interface Judgement {
  /** Other files of the same rows give the same answer. */
  readonly isBlockFree: boolean
  /** One order of its rows takes little beside finding them. */
  readonly takesOrder: boolean
}

/** A construct of a statement and where it stands. */
export interface Construct {
  readonly construct: string
  /** Absent where the engine does not tell. */
  readonly position?: TextPosition
}

/** A name in a FROM clause that no CTE explains; each distinct spelling once, at its first place. */
export interface TableName {
  /** `['acme/trips']` or `['acme', 'trips']`, without quotes. */
  readonly parts: readonly string[]
  /** Parts joined by a dot. */
  readonly text: string
  readonly position?: TextPosition
}

/** Where what is answered from the catalog lies while a statement runs. No account has such a name. */
export const listingSchema = 'listing_of_caller'

/** What a statement may ask of the catalog. */
export interface ListingNames {
  /** The schema that statements write. */
  readonly schema: string
  readonly relations: { has(name: string): boolean }
  /** Functions in `listingSchema`, each with the relations that it reads. */
  readonly functions: ReadonlyMap<string, readonly string[]>
}

/** What every statement may ask. */
export const commonListings: ListingNames = {
  schema: 'information_schema',
  relations: new Set(['tables', 'columns']),
  functions: new Map(),
}

/** A constant of a statement, or the name of the parameter in its place; the digits of a fraction are left out. */
export interface Given {
  readonly kind: 'number' | 'text' | 'boolean' | 'time' | 'day' | 'parameter'
  readonly text: string
}

/** What a statement over one dataset says of the rows that it needs. Columns are in ASCII lower case. */
export interface Narrowing {
  /** Every row that it needs meets all of these. */
  readonly conditions: readonly {
    readonly column: string
    readonly is: '=' | '<' | '<=' | '>' | '>='
    readonly value: Given
  }[]
  /** Comparisons that rows left out would have met. They cannot fail where the types agree. */
  readonly compared: readonly { readonly column: string; readonly value: Given }[]
  /** No row fails to be needed for anything but these. */
  readonly areAll: boolean
  /** It needs the first rows in the order of a column, or of offsets, of those that meet the conditions. */
  readonly first:
    | {
        readonly column: string | undefined
        readonly descending: boolean
        readonly skip?: Given | undefined
        readonly limit?: Given | undefined
      }
    | undefined
  /** Rows alone decide its answer; the rows of another statement may be chosen too, but not for a proof. */
  readonly inProofs: boolean
}

/** What the gate found in a statement that it let through. Plain data. */
export interface Analysis {
  /** The statement as sent. */
  readonly sql: string
  /** It may ask the catalogue of PostgreSQL. */
  readonly speaks?: 'postgres'
  readonly tables: readonly TableName[]
  /** The first construct that makes the statement irreproducible, if any. */
  readonly volatile: Construct | undefined
  /** The first construct that is answered from the catalog: there is no proof of it, and it is its caller's alone. */
  readonly catalogue: Construct | undefined
  /** Its rows may come in another order each time, by which an answer that is not exact may differ. */
  readonly isRaced: boolean
  /** None of these, nor mathematics of the machine, keeps a proof from it. */
  readonly isProvable: boolean
  /** Relations of the catalog that it reads, and those that functions of it read. */
  readonly listings: readonly string[]
  /** Each distinct one once. */
  readonly parameters: readonly ParameterName[]
  /** Absent where every row may matter. */
  readonly narrowing: Narrowing | undefined
  /** The columns of its one dataset that it reads, in ASCII lower case; absent where that is not known. */
  readonly columns: readonly string[] | undefined
}
