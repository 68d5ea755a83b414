// A route as it is followed: what the node's options say of it, with the controls of ingest read, and the id under which
// the broker knows the subscription.

import { type IngestControls, readControls } from '../../node/gateway/controls.ts'
import { sha256Hex } from '../../libraries/base/ids/native-crypto.ts'
import { utf8 } from '../../libraries/base/bytes.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import type { NameRecord } from '../../libraries/odf/chain/records.ts'
import type { Alias } from '../../libraries/model/names.ts'
import type { MqttRouteOptions } from './options.ts'

/** Rules of a dataset, as far as it has some. */
export type KeptRules = NameRecord['ingest']

export interface Route {
  readonly filter: string
  readonly alias: Alias
  readonly clientId: string
  /** Of one message; `kept`: the rules of the dataset, which count where the route says nothing. Throws NodeErrors. */
  readonly controlsFor: (kept: KeptRules) => IngestControls
  /** Column for the topic. */
  readonly topicColumn: string | undefined
}

/** Reads the parameters of a route. Throws NodeError `InvalidParameter` for what counts in requests alone. */
export function routeOf({ filter, alias, query }: MqttRouteOptions, clientIdPrefix: string): Route {
  const { topic: topicColumn, ...said } = query
  // What a device measures has fractions later, though its first message may have none.
  const parameters = { integers: 'numbers', ...said }
  // Nobody waits for the block: a message is acknowledged when it is in the log.
  const headers = { 'content-type': 'application/json', prefer: 'respond-async' }
  const controls = valuesOf(filter, () => readControls(headers, parameters))
  // The topic stands beside what is sent, so that the record is all of it, whatever the dataset says.
  const given = topicColumn === undefined ? parameters : { ...parameters, records: '' }
  const controlsFor = (kept: KeptRules): IngestControls => readControls(headers, given, { kept })
  const [ignored] = controls.ignoredParameters
  const useless = ignored ?? (controls.dryRun ? 'dryRun' : undefined)
  if (useless !== undefined) throw refused(filter, `the parameter '${useless}' means nothing here`)
  if (topicColumn === '') throw refused(filter, 'topic names no column')
  if (topicColumn !== undefined && controls.records !== undefined) {
    throw refused(filter, 'topic is a member of the payload, and records leaves out the members beside them')
  }
  const hash = sha256Hex(utf8(JSON.stringify([filter, alias.folded])))
  // Up to 23 letters and digits are what every broker takes (MQTT 3.1.1 §3.1.3.1).
  return { filter, alias, clientId: `${clientIdPrefix}${hash.slice(0, 6)}`, controlsFor, topicColumn }
}

/** What `read` gives; what is wrong with a value is the option's fault. */
function valuesOf<T>(filter: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    throw refused(filter, error.message.replace(/\.$/, ''))
  }
}

function refused(filter: string, reason: string): NodeError {
  return new NodeError('InvalidParameter', `Option 'mqtt-route' for '${filter}': ${reason}.`, {
    hint: 'proofstream serve --help lists the options; parameters are those of POST …/ingest.',
  })
}
