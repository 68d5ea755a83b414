// One JSON object a line, its members as in the layout JsonAos.
// Source: https://github.com/ndjson/ndjson-spec

import { must } from '../../../base/assert.ts'
import { utf8 } from '../../../base/bytes.ts'
import { cellWriter, jsonStyle } from '../cells.ts'
import type { FileFormat } from '../file-format.ts'
import { ByteBuffer } from '../../../base/byte-buffer.ts'

const startBytes = 64 * 1024

export const ndJson: FileFormat = {
  kind: 'file',
  name: 'NdJson',
  spellings: ['NDJSON', 'NdJSON', 'ndjson', 'nd-json'],
  mediaTypes: ['application/x-ndjson', 'application/jsonl', 'application/ndjson'],
  extension: 'ndjson',
  hasSystemColumns: true,
  choices: [],
  hasLists: false,
  begin: (columns) => {
    const out = new ByteBuffer(startBytes)
    const prefixes = columns.map(({ name }, at) => utf8(`${at === 0 ? '{' : ','}${JSON.stringify(name)}:`))
    const lineEnd = utf8('}\n')
    return {
      rows: (batch) => {
        const writers = columns.map((column, at) =>
          cellWriter(must(batch.columns[at], 'a column of the batch'), column, out, jsonStyle),
        )
        for (let row = 0; row < batch.rows; row++) {
          for (let at = 0; at < writers.length; at++) {
            const prefix = prefixes[at]
            if (prefix !== undefined) out.raw(prefix)
            writers[at]?.(row)
          }
          out.raw(lineEnd)
        }
        return [out.take()]
      },
      end: () => [],
    }
  },
}
