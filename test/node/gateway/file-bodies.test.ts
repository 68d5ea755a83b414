// What a file may become: a few bytes of it can stand for any number of rows.

import { readdirSync } from 'node:fs'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { createColumnBuilder } from '../../../src/libraries/columnar/arrow/column-builder.ts'
import type { FileFormat } from '../../../src/libraries/formats/format.ts'
import { readControls } from '../../../src/node/gateway/controls.ts'
import { typedBody } from '../../../src/node/gateway/parse-body.ts'
import { fullSchema, shapeOf } from '../../../src/node/gateway/shape.ts'
import { defaultVocabulary, optional, type RecordBatch, timestampMs } from '../../../src/libraries/model/schema.ts'
import { defaultLimits } from '../../helpers/default-limits.ts'
import { spoolDir } from './support.ts'

const vocabulary = defaultVocabulary
const field = { name: 'a', type: optional({ kind: 'String' } as const) }
const schema = fullSchema([field], vocabulary, { type: timestampMs, position: undefined })
const shape = shapeOf(schema, 5, vocabulary)
const mebibyte = 1024 * 1024

/** One row with a mebibyte of text. */
function batch(): RecordBatch {
  const time = createColumnBuilder({ name: 'event_time', type: optional(timestampMs) }, 1)
  time.appendNull()
  const text = createColumnBuilder(field, 1)
  text.appendBytes(new Uint8Array(mebibyte).fill(0x78), 0, mebibyte)
  return { rows: 1, columns: [time.finish(), text.finish()] }
}

let given = 0

/** Gives as many rows as its body says, in one byte each. */
const bomb: FileFormat = {
  kind: 'file',
  name: 'bomb',
  title: 'bomb',
  mediaTypes: ['application/x-bomb'],
  extensions: ['bomb'],
  about: 'a row a byte',
  openFile: async (file) => ({
    infer: () => Promise.reject(new TypeError('the columns are known')),
    read: async function* () {
      for (given = 0; given < file.bytes; given++) yield batch()
    },
  }),
}

function read(bytes: number) {
  return typedBody(
    {
      stream: Readable.from([new Uint8Array(bytes)]),
      format: { format: bomb, csvHeader: undefined },
      controls: readControls({}, {}),
      limits: defaultLimits(),
      spoolDir,
      fallbackMs: 7,
      cost: { read: () => {}, fill: () => {}, bound: { least: 2 ** 30, perByte: 16, bodyMemoryBytes: 2 ** 32 } },
    },
    { vocabulary, shape },
  )
}

test('a small file may become 64 MiB, and leaves nothing behind when it would become more', async () => {
  const body = await read(60)
  expect(body.rows).toBe(60)
  await Promise.all([body.typed.discard(), body.kept?.discard()])
  await expect(read(1000)).rejects.toMatchObject({
    kind: 'BodyTooLarge',
    details: { limit: { name: 'columnBytes', value: 64 * mebibyte } },
  })
  expect(given).toBeLessThan(70)
  expect(readdirSync(spoolDir)).toEqual([])
})
