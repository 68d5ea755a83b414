// Messages of an MQTT broker, for a gateway with one in its options.

import type { FeatureCode } from '../../node/feature.ts'
import type { Metrics } from '../../node/machine/ops/metrics.ts'
import { settingsOf } from '../../node/options.ts'
import { ensureMqttClientId } from './client-id.ts'
import { Mqtt, type MqttStatus } from './mqtt.ts'
import { mqttOptions } from './options.ts'

export const mqtt: FeatureCode = {
  /** Throws NodeError `InvalidParameter` for a route that means nothing. */
  start: async ({ config, paths, gateway, nodeKey, health, opened, ...parts }) => {
    const options = settingsOf(config.settings, mqttOptions)
    if (gateway === undefined || options === undefined) return
    // Other gateways may have a key that was given.
    const ownDid = config.nodeKeyFile === undefined ? nodeKey.did : undefined
    const clientId = options.clientId ?? (await ensureMqttClientId(paths.mqttClientId, ownDid))
    const client = new Mqtt({ ...parts, gateway, options, clientId, limits: config.limits })
    opened.push(() => client.close())
    measureMqtt(parts.metrics, () => client.status)
    health.tell('mqtt', () => client.status)
  },
}

function measureMqtt(metrics: Metrics, load: () => MqttStatus): void {
  metrics.gauge('mqtt_routes', 'Routes of an MQTT broker.', () => load().routes)
  metrics.gauge('mqtt_connected_routes', 'Those whose messages come.', () => load().connected)
  metrics.gauge('mqtt_unacknowledged_messages', 'Messages that came and are not acknowledged.', () => {
    return load().unacknowledged
  })
  metrics.counter('mqtt_received_messages_total', 'Messages that came, each time.', () => load().received)
  metrics.counter('mqtt_repeated_messages_total', 'Those that were being stored when they came again.', () => {
    return load().repeated
  })
  metrics.counter('mqtt_stored_messages_total', 'Messages that are durable in the log.', () => load().stored)
  metrics.counter('mqtt_quarantined_messages_total', 'Messages that are durable in a quarantine.', () => {
    return load().quarantined
  })
}
