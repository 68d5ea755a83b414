// GET /ping and GET /health: how the clients of InfluxDB ask whether there is a server before they write to it
// (docs/decisions/senders.md#line-protocol). Both are open to all, as our own health is.
// Source: https://docs.influxdata.com/influxdb/v2/api/ (GET /ping, GET /health)

import type { FastifyInstance } from 'fastify'
import type { GatewayContext } from '../../node/http/context.ts'

export function registerInflux(app: FastifyInstance, context: GatewayContext): void {
  const { version } = context.facts
  const loose = { config: { looseParameters: true } }
  app.get('/ping', loose, (_request, reply) =>
    reply.code(204).header('x-influxdb-version', `Proofstream ${version}`).send(),
  )
  app.get('/health', loose, async (_request, reply) => {
    const reasons = Object.values(await context.health.reasons())
    const isReady = reasons.length === 0
    const message = isReady ? 'Ready for writes.' : reasons.join(' ')
    void reply.code(isReady ? 200 : 503).header('cache-control', 'no-store')
    return reply.send({ name: 'proofstream', status: isReady ? 'pass' : 'fail', message, version })
  })
}
