// The door for programs that speak to PostgreSQL: BI tools, drivers, psql. It answers what `/query` answers, with the same rights,
// processes and limits (docs/bi.md). Off until --pg-listen is given.

import type { AddressInfo } from 'node:net'
import type { FeatureCode, FeatureParts } from '../../node/feature.ts'
import type { OptionalRoutes, ReplicaContext } from '../../node/http/context.ts'
import { settingsOf } from '../../node/options.ts'
import { postgresOptions } from './options.ts'

export class PostgresFeature implements FeatureCode {
  #context: ReplicaContext | undefined
  #http: (() => AddressInfo | string | null) | undefined
  readonly routes: OptionalRoutes = {
    replica: (app, context) => {
      this.#context = context
      this.#http = () => app.server.address()
    },
  }

  /** Begins to listen, where the options say so. Throws NodeError `InvalidParameter`, and what the system says of the address. */
  async start(parts: FeatureParts): Promise<void> {
    const options = settingsOf(parts.config.settings, postgresOptions)
    const context = this.#context
    if (options === undefined || context === undefined) return
    const [{ PostgresServer }, { readCertificate }] = await Promise.all([import('./server.ts'), import('./tls.ts')])
    const tls = options.tls && (await readCertificate(options.tls, parts))
    const server = new PostgresServer({
      context,
      options,
      tls,
      version: parts.version,
      address: () => this.#address(parts),
    })
    parts.opened.push(async () => {
      tls?.close()
      await server.close()
    })
    context.metrics.gauge('postgres_connections', 'Connections of PostgreSQL clients.', () => server.connections)
    await server.listen()
    parts.logger.info({ address: server.address }, 'Programs that speak to PostgreSQL are answered')
  }

  /** Where this node is reached over HTTP. */
  #address({ config: { publicUrl, listenHost } }: FeatureParts): string {
    if (publicUrl !== undefined) return publicUrl
    const http = this.#http?.()
    const port = typeof http === 'object' ? (http?.port ?? 0) : 0
    return `http://${listenHost.includes(':') ? `[${listenHost}]` : listenHost}:${port}`
  }
}
