// The driver node-postgres, with the types of what is used of it: it has none of its own.

import { createRequire } from 'node:module'

export interface PgResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly fields: readonly {
    readonly name: string
    readonly dataTypeID: number
    readonly dataTypeModifier: number
    readonly format: string
  }[]
  readonly command: string
  readonly rowCount: number | null
}

export interface PgError extends Error {
  readonly code?: string
  readonly position?: string
  readonly hint?: string
  readonly severity?: string
}

export interface PgQuery {
  readonly text: string
  readonly values?: readonly unknown[]
  /** A prepared statement of this name. */
  readonly name?: string
  readonly rowMode?: 'array'
}

export interface PgClient {
  readonly processID: number
  readonly secretKey: number
  connect(): Promise<void>
  query(query: string | PgQuery, values?: readonly unknown[]): Promise<PgResult>
  end(): Promise<void>
  on(event: 'notice', listener: (notice: PgError & { readonly message: string }) => void): void
  on(event: 'error', listener: (error: PgError) => void): void
  on(event: 'end', listener: () => void): void
}

export interface PgConfig {
  readonly port: number
  readonly host?: string
  readonly user?: string
  readonly password?: string
  readonly database?: string
  readonly application_name?: string
  readonly options?: string
  readonly ssl?: { readonly ca: string }
}

interface Pg {
  readonly Client: new (config: PgConfig) => PgClient
}

// `as`: a module of JavaScript without declarations.
const { Client } = createRequire(import.meta.url)('pg') as Pg

/** A client of the node, connected. */
export async function connected(config: PgConfig): Promise<PgClient> {
  const client = new Client({ host: '127.0.0.1', user: 'anonymous', database: 'all', ...config })
  // What ends a connection is told to the query that waits, too.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** The error of a promise. */
export async function errorOf(promise: Promise<unknown>): Promise<PgError> {
  return await promise.then(
    () => new Error('there was none'),
    // `as`: the driver rejects with its own errors.
    (error: unknown) => error as PgError,
  )
}
