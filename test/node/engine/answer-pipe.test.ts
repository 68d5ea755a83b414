// The pipe between the process of an answer and its reader, without either.

import { expect, test } from 'vitest'
import { AnswerPipe } from '../../../src/node/engine/process/answer-stream.ts'

const end = { rows: 0, truncated: false }

test.each([
  ['before its first piece', 0],
  ['after its first piece', 1],
])('a reader that leaves %s is told of', async (_, reads) => {
  let leaves = 0
  const pipe = new AnswerPipe(() => leaves++)
  const pieces = pipe.read(Uint8Array.of(1))
  for (let at = 0; at < reads; at++) await pieces.next()
  const taken = pipe.more(Uint8Array.of(2))
  expect(await pieces.return(end)).toEqual({ done: true, value: end })
  // Whoever sent more does not wait for a reader who has left.
  await taken
  await pieces.return(end)
  expect(leaves).toBe(1)
})

test('a reader that reads to the end leaves nothing', async () => {
  let leaves = 0
  const pipe = new AnswerPipe(() => leaves++)
  const pieces = pipe.read(new Uint8Array(0))
  pipe.end(end)
  expect(await pieces.next()).toEqual({ done: true, value: end })
  expect(await pieces.return(end)).toEqual({ done: true, value: end })
  expect(leaves).toBe(0)
})
