// What the tail of a log has dropped is given back at once, however few messages that were: they may be large.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Tail } from '../../../src/node/log/tail.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void // what the flag exposes

test('a message that was dropped is held by nothing', async () => {
  const tail = new Tail(0, 1000)
  const pushed = Array.from({ length: 5 }, (): WeakRef<Uint8Array> => {
    const message = new Uint8Array(400)
    tail.push([message])
    return new WeakRef(message)
  })
  await expect
    .poll(() => {
      collect()
      return pushed.map((ref) => ref.deref() !== undefined)
    })
    .toEqual([false, false, false, true, true])
  expect(tail.start).toBe(3)
  expect(tail.get(2)).toBeUndefined()
  expect(tail.entriesFrom(3, 5)?.map(({ position }) => position)).toEqual([3, 4])
})
