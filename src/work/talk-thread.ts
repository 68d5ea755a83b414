// Entry of a thread that holds a conversation: begun, it answers each message in order, until the next one is begun.
// Started by talks.ts, never imported.

import { parentPort } from 'node:worker_threads'
import { zstdCompressSync } from 'node:zlib'
import { must } from '../lib/assert.ts'
import { SliceColumns } from './slice-columns.ts'
import { type FromTalkThread, handedOver, type ToTalkThread } from './talks.ts'

const port = must(parentPort ?? undefined, 'this file runs as a thread')
let columns: SliceColumns | undefined

port.on('message', (message: ToTalkThread) => {
  if (message.kind === 'begin') {
    columns = new SliceColumns(message.fields, (bytes) => zstdCompressSync(bytes))
    return
  }
  const { value, buffers } = handedOver(answerTo(message))
  port.postMessage(value, buffers)
})

function answerTo({ message }: Extract<ToTalkThread, { kind: 'say' }>): FromTalkThread {
  try {
    return { kind: 'said', message: must(columns, 'a conversation is begun').take(message) }
  } catch (error) {
    return { kind: 'broken', reason: String(error) }
  }
}
