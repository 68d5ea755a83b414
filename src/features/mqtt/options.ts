// What the options say of an MQTT broker whose messages are taken: read, and held against each other.

import { defined } from '../../libraries/base/collections.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { type Alias, parseAliasText } from '../../libraries/model/names.ts'
import { invalidOption, type OptionGroup, type OptionRow, type OptionValues } from '../../node/options.ts'

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
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined
  readonly login: { readonly username: string; readonly password: string | undefined } | undefined
  readonly clientId: string | undefined
  readonly routes: readonly MqttRouteOptions[]
}

const schemes: Readonly<Record<string, { readonly port: number; readonly isTls: boolean }>> = {
  'tcp:': { port: 1883, isTls: false },
  'mqtt:': { port: 1883, isTls: false },
  'mqtts:': { port: 8883, isTls: true },
  'ssl:': { port: 8883, isTls: true },
}

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
  const { username, parameters, isTls, ...broker } = brokerOf(address)
  const { ca, cert, key, 'client-id': clientId } = parameters
  if ((cert === undefined) !== (key === undefined)) {
    throw invalidOption("Option 'mqtt' names 'cert' or 'key'; they belong together.")
  }
  if (!isTls && (ca ?? cert) !== undefined) {
    throw invalidOption("Option 'mqtt' names files for TLS, so the address must begin with mqtts: mqtts://host:8883.")
  }
  const password = text('mqtt-password')
  if (username === undefined && password !== undefined) {
    throw invalidOption("Option 'mqtt-password' is given, but no user: --mqtt mqtts://user@host:8883.")
  }
  if (clientId !== undefined && !/^[A-Za-z0-9._-]{1,100}$/.test(clientId)) {
    throw invalidOption(`Option 'mqtt' has client-id '${clientId}'; expected letters, digits, '.', '_' and '-'.`)
  }
  const files = {
    ...defined({ ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
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

const parameterNames = ['ca', 'cert', 'key', 'client-id'] as const

interface Broker extends Pick<MqttOptions, 'host' | 'port'> {
  readonly isTls: boolean
  readonly username: string | undefined
  readonly parameters: Readonly<Partial<Record<(typeof parameterNames)[number], string>>>
}

/** Reads `SCHEME://[USER@]HOST[:PORT][?PARAMETERS]`. */
function brokerOf(address: string): Broker {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const scheme = url && schemes[url.protocol]
  const isBare = url !== undefined && /^\/?$/.test(url.pathname) && url.hash === '' && url.password === ''
  // An address with a password in it is not repeated.
  if (url === undefined || scheme === undefined || !isBare || url.hostname === '') {
    throw invalidOption(
      "Option 'mqtt' is not an address of a broker; expected tcp://host:1883 or mqtts://user@host:8883, without a password.",
    )
  }
  const parameters = [...url.searchParams]
  const strange = parameters.find(([name, value]) => value === '' || !parameterNames.some((known) => known === name))
  if (strange !== undefined || new Set(parameters.map(([name]) => name)).size < parameters.length) {
    throw invalidOption(
      `Option 'mqtt' may have each of the parameters ${parameterNames.join(', ')} once, with a value.`,
    )
  }
  const { port, isTls } = scheme
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? port : Number(url.port),
    isTls,
    username: url.username === '' ? undefined : userOf(url.username),
    parameters: Object.fromEntries(parameters), // of known names by the lines above
  }
}

function userOf(escaped: string): string {
  try {
    return decodeURIComponent(escaped)
  } catch (error) {
    throw invalidOption("Option 'mqtt' has a user with a '%' that begins no escape; a '%' itself is %25.", error)
  }
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
