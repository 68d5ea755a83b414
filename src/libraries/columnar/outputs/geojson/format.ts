// GeoJSON: a FeatureCollection, or a sequence of features of which each begins with a record separator and ends its line.
// Sources: https://www.rfc-editor.org/rfc/rfc7946 and https://www.rfc-editor.org/rfc/rfc8142

import { utf8 } from '../../../base/bytes.ts'
import type { FileColumn, FileFormat, FileOptions, FileWriter } from '../file-format.ts'
import { ByteBuffer } from '../../../base/byte-buffer.ts'
import { featurePlan, featureWriter } from './features.ts'

const startBytes = 64 * 1024

/** What stands around features. */
interface Frame {
  readonly open: string
  readonly before: string
  /** Before each feature but the first. */
  readonly between: string
  readonly after: string
  readonly close: string
}

const collection: Frame = {
  open: '{"type":"FeatureCollection","features":[\n',
  before: '',
  between: ',\n',
  after: '',
  close: '\n]}\n',
}
const sequence: Frame = { open: '', before: '\u001e', between: '', after: '\n', close: '' }

const features = { kind: 'file', hasSystemColumns: false, choices: ['geometry'], hasLists: false } as const

export const geoJson: FileFormat = {
  ...features,
  name: 'GeoJson',
  spellings: ['GeoJSON', 'geojson', 'geo-json'],
  mediaTypes: ['application/geo+json', 'application/vnd.geo+json'],
  extension: 'geojson',
  begin: (columns, options) => beginFeatures(columns, options, collection),
}

export const ndGeoJson: FileFormat = {
  ...features,
  name: 'NdGeoJson',
  spellings: ['NdGeoJSON', 'NDGeoJSON', 'ndgeojson', 'nd-geo-json', 'geojsonseq'],
  mediaTypes: ['application/geo+json-seq', 'application/x-ndgeojson'],
  extension: 'geojsons',
  begin: (columns, options) => beginFeatures(columns, options, sequence),
}

function beginFeatures(columns: readonly FileColumn[], { geometry }: FileOptions, frame: Frame): FileWriter {
  const plan = featurePlan(columns, geometry)
  const out = new ByteBuffer(startBytes)
  out.ascii(frame.open)
  let isFirst = true
  return {
    rows: (batch) => {
      const write = featureWriter(plan, batch, out)
      for (let row = 0; row < batch.rows; row++) {
        if (!isFirst) out.ascii(frame.between)
        isFirst = false
        out.ascii(frame.before)
        write(row)
        out.ascii(frame.after)
      }
      return [out.take()]
    },
    end: () => (frame.close === '' && out.at === 0 ? [] : [out.take(), utf8(frame.close)]),
  }
}
