// What the options say of an MQTT broker whose messages are taken: read, and held against each other.

import { NodeError } from '../../libraries/base/errors.ts'
import { type Alias, parseAliasText } from '../../libraries/model/names.ts'
import {
  invalidOption,
  type OptionGroup,
  type OptionRow,
  type OptionUrl,
  type OptionValues,
  readOptionUrl,
  type TlsFiles,
  tlsFilesOf,
} from '../../node/options.ts'

const rows: readonly OptionRow[] = [
  {
    name: 'mqtt',
    type: 'text',
    text: 'MQTT broker to take messages from, tcp://[user@]host:1883 or mqtts://[user@]host:8883. The gateway is its client (MQTT 5, or 3.1.1). Parameters after ? are ca=<file> (certificates of the authority of the broker), cert=<file>&key=<file> (the certificate of this node) and client-id=<word>. The broker keeps unacknowledged messages under the client id (default: made from the node key, or for the data directory if --node-key is given)',
  },
  {
    name: 'mqtt-route',
    type: 'list',
    text: "a topic filter and its dataset, such as 'sensors/+/up=account/dataset?preset=ttn', with parameters of ingest and topic=<column>. A route with a comma goes into the config file",
  },
  {
    name: 'mqtt-password',
    type: 'text',
    isSecret: true,
    text: 'password of that user; better in the environment than in a flag',
  },
]

/** One subscription: messages of topics that fit `filter` become rows of `alias`. */
export interface MqttRouteOptions {
  /** Topic filter, with `$share/<group>/` before it where gateways share the messages. */
  readonly filter: string
  readonly alias: Alias
  /** Query parameters of ingest, and `topic`. */
  readonly query: Readonly<Record<string, string>>
}

/** How to reach the broker, and what to take from it. TLS texts are names of files. */
export interface MqttOptions {
  readonly host: string
  readonly port: number
  readonly tls: TlsFiles | undefined
  readonly login: { readonly username: string; readonly password: string | undefined } | undefined
  readonly clientId: string | undefined
  readonly routes: readonly MqttRouteOptions[]
}

const schemes: ReadonlyMap<string, { readonly port: number; readonly isTls: boolean }> = new Map([
  ['tcp', { port: 1883, isTls: false }],
  ['mqtt', { port: 1883, isTls: false }],
  ['mqtts', { port: 8883, isTls: true }],
  ['ssl', { port: 8883, isTls: true }],
])

export const mqttOptions: OptionGroup<MqttOptions> = {
  name: 'mqtt',
  rows,
  needs: 'a broker: --mqtt tcp://host:1883',
  read: readMqtt,
}

/** Undefined without a broker. Throws NodeError `InvalidParameter` where the options do not go together. */
function readMqtt(values: OptionValues): MqttOptions | undefined {
  // parseValue has given each option the type that its row names.
  const text = (name: string): string | undefined => values.get(name) as string | undefined
  const list = (name: string): readonly string[] | undefined => values.get(name) as readonly string[] | undefined
  const routes = list('mqtt-route')
  const address = text('mqtt')
  if (address === undefined) {
    const lonely = rows.find(({ name }) => values.get(name) !== undefined)
    if (lonely === undefined) return undefined
    throw invalidOption(`Option '${lonely.name}' needs a broker: --mqtt tcp://host:1883.`)
  }
  if (routes === undefined || routes.length === 0) {
    throw invalidOption("Option 'mqtt' needs routes: --mqtt-route 'sensors/+/up=account/dataset'.")
  }
  if (list('roles')?.includes('gateway') !== true) {
    throw invalidOption("Option 'mqtt' is for gateways; the roles of this process have none.")
  }
  const { user: username, parameters, isTls, ...broker } = brokerOf(address)
  const clientId = parameters['client-id']
  const files = tlsFilesOf('mqtt', parameters)
  if (!isTls && Object.keys(files).length > 0) {
    throw invalidOption("Option 'mqtt' names files for TLS, so the address must begin with mqtts: mqtts://host:8883.")
  }
  const password = text('mqtt-password')
  if (username === undefined && password !== undefined) {
    throw invalidOption("Option 'mqtt-password' is given, but no user: --mqtt mqtts://user@host:8883.")
  }
  if (clientId !== undefined && !/^[A-Za-z0-9._-]{1,100}$/.test(clientId)) {
    throw invalidOption(`Option 'mqtt' has client-id '${clientId}'; expected letters, digits, '.', '_' and '-'.`)
  }
  const read = routes.map(routeOf)
  const twice = read.find(({ filter, alias }, at) =>
    read.slice(0, at).some((other) => other.filter === filter && other.alias.folded === alias.folded),
  )
  if (twice !== undefined) throw invalidOption(`Option 'mqtt-route' has '${twice.filter}=${twice.alias.text}' twice.`)
  return {
    ...broker,
    tls: isTls ? files : undefined,
    login: username === undefined ? undefined : { username, password },
    clientId,
    routes: read,
  }
}

const form = {
  option: 'mqtt',
  expected: 'tcp://host:1883 or mqtts://user@host:8883',
  parameters: ['ca', 'cert', 'key', 'client-id'],
} as const

type BrokerUrl = OptionUrl<(typeof form.parameters)[number]>

/** Reads `SCHEME://[USER@]HOST[:PORT][?PARAMETERS]`. */
function brokerOf(
  text: string,
): { host: string; port: number; isTls: boolean } & Pick<BrokerUrl, 'user' | 'parameters'> {
  const { scheme, user, hosts, path, parameters } = readOptionUrl(text, form)
  const known = schemes.get(scheme)
  const [address, ...more] = hosts
  if (known === undefined || address === undefined || more.length > 0 || path !== '') {
    throw invalidOption(`Option 'mqtt' must be ${form.expected}, without a password.`)
  }
  return { host: address.host, port: address.port ?? known.port, isTls: known.isTls, user, parameters }
}

/** Reads `FILTER=ACCOUNT/DATASET?PARAMETERS`. */
function routeOf(text: string): MqttRouteOptions {
  const [, filter = '', alias = '', query = ''] = /^(.+?)=([^=/?]+\/[^=/?]+)(?:\?(.*))?$/.exec(text) ?? []
  if (alias === '') throw invalidOption(`Option 'mqtt-route' is '${text}'; expected 'topic/filter=account/dataset'.`)
  if (!isFilter(filter)) throw invalidOption(`Option 'mqtt-route' has '${filter}', which is not a topic filter.`)
  const parameters = [...new URLSearchParams(query)]
  if (new Set(parameters.map(([name]) => name)).size < parameters.length) {
    throw invalidOption(`Option 'mqtt-route' is '${text}': a parameter is given more than once.`)
  }
  return { filter, alias: aliasIn(text, alias), query: Object.fromEntries(parameters) }
}

function aliasIn(route: string, alias: string): Alias {
  try {
    return parseAliasText(alias)
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    throw invalidOption(`Option 'mqtt-route' is '${route}': ${error.message}`, error)
  }
}

/** As MQTT 5 §4.7 and §4.8.2 have topic filters. */
function isFilter(text: string): boolean {
  const [, group, shared] = /^\$share\/([^/]*)\/(.*)$/.exec(text) ?? []
  if (text.startsWith('$share/') && (group === undefined || !/^[^+#]+$/.test(group))) return false
  const levels = (shared ?? text).split('/')
  const isWhole = (level: string, at: number): boolean =>
    level === '+' || (level === '#' && at === levels.length - 1) || !/[+#\0]/.test(level)
  return (shared ?? text) !== '' && Buffer.byteLength(text) <= 65_535 && levels.every(isWhole)
}
