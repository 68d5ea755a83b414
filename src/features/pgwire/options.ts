// What the options say of the PostgreSQL door: where it listens, and with which certificate.

import { NodeError } from '../../libraries/base/errors.ts'
import { invalidOption, type OptionGroup, type OptionRow, type OptionValues } from '../../node/options.ts'

const rows: readonly OptionRow[] = [
  {
    name: 'pg-listen',
    type: 'text',
    text: 'Address for programs that speak to PostgreSQL, such as 127.0.0.1:5432 (default: none). Beyond this computer it takes a certificate',
  },
  {
    name: 'pg-tls-cert',
    type: 'text',
    text: 'PEM file with the certificate of that address and those it was signed by; read again when it changes',
  },
  { name: 'pg-tls-key', type: 'text', text: 'PEM file with the key of that certificate' },
]

export interface PostgresOptions {
  readonly host: string
  readonly port: number
  readonly tls: { readonly cert: string; readonly key: string } | undefined
}

export const postgresOptions: OptionGroup<PostgresOptions> = {
  name: 'pgwire',
  rows,
  needs: 'an address: --pg-listen 127.0.0.1:5432',
  read: readPostgres,
}

/** Undefined without an address. Throws NodeError `InvalidParameter` where the options do not go together. */
function readPostgres(values: OptionValues): PostgresOptions | undefined {
  // parseValue has given each option the type that its row names.
  const text = (name: string): string | undefined => values.get(name) as string | undefined
  const [listen, cert, key] = [text('pg-listen'), text('pg-tls-cert'), text('pg-tls-key')]
  if (listen === undefined) {
    const lonely = rows.find(({ name }) => values.get(name) !== undefined)
    if (lonely === undefined) return undefined
    throw invalidOption(`Option '${lonely.name}' needs an address: --pg-listen 127.0.0.1:5432.`)
  }
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(listen) ?? []
  const [host, port] = [bracketed ?? plain, Number(digits)]
  if (host === undefined || port > 65_535)
    throw invalidOption("Option 'pg-listen' must be host:port, such as 127.0.0.1:5432.")
  if ((cert === undefined) !== (key === undefined)) throw invalidOption('pg-tls-cert and pg-tls-key belong together.')
  const tls = cert === undefined || key === undefined ? undefined : { cert, key }
  if (tls === undefined && !isLoopback(host)) {
    throw new NodeError(
      'InvalidParameter',
      `Option 'pg-listen' is ${listen}, which other computers reach: tokens would travel in the clear.`,
      {
        hint: 'Give --pg-tls-cert and --pg-tls-key, or listen on 127.0.0.1.',
      },
    )
  }
  return { host, port, tls }
}

/** True for addresses that only this computer reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}
