// The formats that this program reads and writes: those of the library and those of features. Apart, so that a command that reads no body
// loads no reader.

import { Formats, ownFormats } from '../libraries/formats/registry.ts'
import { OutputFormats } from '../libraries/columnar/outputs/formats.ts'
import { features, featuresBut } from './features.ts'

/** The formats of a program without some features. */
export function formatsBut(without: readonly string[]): Formats {
  const ofFeatures = features.flatMap(({ name, formats = [] }) =>
    formats.map((format) => ({ ...format, feature: name })),
  )
  return new Formats([...ownFormats, ...ofFeatures], without)
}

/** The formats of its answers. */
export function outputsBut(without: readonly string[]): OutputFormats {
  return new OutputFormats(featuresBut(without).flatMap(({ outputs = [] }) => outputs))
}
