// Readings of a sensor: what the benchmarks of readers read, and the columns of it.

import type { ReaderOptions } from '../src/libraries/formats/format.ts'
import { type DataType, defaultVocabulary, type Field, optional, timestampMs } from '../src/libraries/model/schema.ts'

export const field = (name: string, type: DataType): Field => ({ name, type: optional(type) })

/** The columns of a reading, without its event time. */
export const readingFields: readonly Field[] = [
  field('device', { kind: 'String' }),
  field('temperature', { kind: 'Float64' }),
  field('humidity', { kind: 'Float64' }),
  field('pressure', { kind: 'Float64' }),
  field('count', { kind: 'Int64' }),
]

export function readingOptions(fields: readonly Field[]): ReaderOptions {
  return {
    fields,
    eventTimeType: timestampMs,
    vocabulary: defaultVocabulary,
    unknownFields: 'reject',
    recordBytes: 16 * 1024 * 1024,
    jsonDepth: 64,
  }
}

export function reading(i: number): Record<string, unknown> {
  return {
    event_time: new Date(1_704_067_200_000 + i * 137).toISOString(),
    device: `sensor-${i % 500}`,
    temperature: ((i * 7919) % 40_000) / 1000,
    humidity: ((i * 104_729) % 10_000) / 100,
    pressure: 900 + ((i * 1299) % 20_000) / 100,
    count: i * 31,
  }
}
