// A gateway as the client of an MQTT broker: each route is a subscription with a session of its own. Producers go on as they
// are; a message is acknowledged when it is durable in the log.

import type { Logger } from '../../libraries/base/logger.ts'
import { Intake, type IntakeDeps } from './intake.ts'
import { routeOf } from './route.ts'
import { type Counts, Subscription, type SubscriptionDeps } from './subscription.ts'

export interface MqttDeps extends IntakeDeps, Omit<SubscriptionDeps, 'intake' | 'limits'> {
  readonly logger: Logger
  readonly limits: IntakeDeps['limits'] & SubscriptionDeps['limits']
  /** Told apart from those of other gateways; the same at each start. */
  readonly clientId: string
}

/** How it goes with the routes; no name of a topic or a dataset. */
export interface MqttStatus extends Counts {
  readonly routes: number
  /** Those whose messages come. */
  readonly connected: number
  readonly unacknowledged: number
}

export class Mqtt {
  readonly #subscriptions: readonly Subscription[]

  /** Begins to connect. Throws NodeError `InvalidParameter` for parameters of a route that mean nothing there. */
  constructor(deps: MqttDeps) {
    const routes = deps.options.routes.map((route) => routeOf(route, deps.clientId))
    this.#subscriptions = routes.map((route) => new Subscription({ ...deps, intake: new Intake(deps, route) }, route))
  }

  get status(): MqttStatus {
    const all = this.#subscriptions
    const sum = (of: (one: Subscription) => number): number => all.reduce((total, one) => total + of(one), 0)
    return {
      routes: all.length,
      connected: all.filter(({ state }) => state === 'receiving').length,
      received: sum(({ counts }) => counts.received),
      repeated: sum(({ counts }) => counts.repeated),
      stored: sum(({ counts }) => counts.stored),
      quarantined: sum(({ counts }) => counts.quarantined),
      unacknowledged: sum(({ unacknowledged }) => unacknowledged),
    }
  }

  /** Reads no more; what came is durable and acknowledged, or given back to the broker, when it resolves. */
  async close(): Promise<void> {
    await Promise.all(this.#subscriptions.map((one) => one.close()))
  }
}
