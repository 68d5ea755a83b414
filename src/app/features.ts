// The optional features of a node. To add one, make its folder and its row here, and name it in texts/operations.json where
// it has routes. Options and facts of formats are data; code is loaded where it is wanted.

import type { Feature, FeatureCode, Origin, Shared } from '../node/feature.ts'
import { excelFacts, xlsxFacts } from '../features/excel/facts.ts'
import { followOptions } from '../features/follow/options.ts'
import type { checkLedgers } from '../features/ledger/check.ts'
import { ledgerOptions } from '../features/ledger/options.ts'
import type { inspectLedger } from '../features/ledger/put-back.ts'
import { lineProtocolFacts } from '../features/line-protocol/facts.ts'
import { mqttOptions } from '../features/mqtt/options.ts'
import { postgresOptions } from '../features/pgwire/options.ts'
import { otlpJsonFacts, otlpProtobufFacts } from '../features/otlp/facts.ts'
import { shapefileFacts } from '../features/shapefile/facts.ts'
import type { checkWitness } from '../features/witness/check.ts'

export const features: readonly Feature[] = [
  {
    name: 'console',
    about: 'pages for people in a browser: datasets, SQL, sending, verifying, the node',
    load: async () => (await import('../features/console/feature.ts')).webConsole,
  },
  {
    name: 'ogc',
    about: 'datasets with geometries as OGC API Features and vector tiles, for GIS programs and maps',
    load: async () => (await import('../features/ogc/feature.ts')).ogc,
  },
  {
    name: 'iceberg',
    about: 'datasets as Iceberg tables, for lake engines',
    load: async () => (await import('../features/iceberg/feature.ts')).iceberg,
  },
  {
    name: 'line-protocol',
    about: 'writes as the clients of InfluxDB send them, from Telegraf and others',
    formats: [
      { ...lineProtocolFacts, load: async () => (await import('../features/line-protocol/format.ts')).lineProtocol },
    ],
    load: async () => (await import('../features/line-protocol/feature.ts')).lineProtocol,
  },
  {
    name: 'otlp',
    about: 'logs as the programs of OpenTelemetry send them',
    formats: [
      { ...otlpJsonFacts, load: async () => (await import('../features/otlp/format.ts')).otlpJson },
      { ...otlpProtobufFacts, load: async () => (await import('../features/otlp/format.ts')).otlpProtobuf },
    ],
    load: async () => (await import('../features/otlp/feature.ts')).otlp,
  },
  {
    name: 'shapefile',
    about: 'zipped shapefiles as records',
    formats: [{ ...shapefileFacts, load: async () => (await import('../features/shapefile/format.ts')).shapefile }],
  },
  {
    name: 'excel',
    about: 'sheets of Excel workbooks as records, and answers as workbooks',
    outputs: [xlsxFacts],
    formats: [{ ...excelFacts, load: async () => (await import('../features/excel/format.ts')).excel }],
  },
  {
    name: 'follow',
    about: 'datasets of another node, copied and checked, in a store of this one',
    options: followOptions,
    inspect: async (at: { readonly evidence: string }) =>
      (await import('../features/follow/evidence.ts')).inspectEvidence(at.evidence),
    load: async () => (await import('../features/follow/feature.ts')).following,
  },
  {
    name: 'ledger',
    about: 'every block of public datasets in one signed tree, so that nobody can be shown another history',
    options: ledgerOptions,
    inspect: async (_paths: object, store?: Parameters<typeof inspectLedger>[0]) =>
      store === undefined ? [] : (await import('../features/ledger/put-back.ts')).inspectLedger(store),
    check: async (...given: Parameters<typeof checkLedgers>) =>
      (await import('../features/ledger/check.ts')).checkLedgers(...given),
    load: async () => new (await import('../features/ledger/feature.ts')).Ledger(),
  },
  {
    name: 'witness',
    about: 'heads of ledgers elsewhere, cosigned where they go on from the last one',
    check: async (...given: Parameters<typeof checkWitness>) =>
      (await import('../features/witness/check.ts')).checkWitness(...given),
    load: async () => new (await import('../features/witness/feature.ts')).WitnessFeature(),
  },
  {
    name: 'mqtt',
    about: 'messages of an MQTT broker become records',
    options: mqttOptions,
    load: async () => (await import('../features/mqtt/feature.ts')).mqtt,
  },
  {
    name: 'pgwire',
    about: 'datasets as tables for programs that speak to PostgreSQL: BI tools, drivers, psql',
    options: postgresOptions,
    load: async () => new (await import('../features/pgwire/feature.ts')).PostgresFeature(),
  },
]

/** All features but those of these names. */
export function featuresBut(without: readonly string[]): readonly Feature[] {
  return features.filter(({ name }) => !without.includes(name))
}

/** Loads all features but those of these names. */
export async function loadFeatures(without: readonly string[]): Promise<readonly FeatureCode[]> {
  return await Promise.all(featuresBut(without).map(async ({ load }) => (await load?.()) ?? {}))
}

/** What `fsck` checks of what they keep in the store. */
export const storeChecks = features.flatMap(({ check }) => check ?? [])

/** The node that is followed, if any. */
export async function originOf(loaded: readonly FeatureCode[], shared: Shared): Promise<Origin | undefined> {
  for (const { origin } of loaded) {
    const found = await origin?.(shared)
    if (found !== undefined) return found
  }
  return undefined
}
