// Which hosts are this machine, and which only look so.

import { expect, test } from 'vitest'
import { isLoopback } from '../../../src/libraries/base/loopback.ts'

test('only names and addresses that cannot be another machine are loopback', () => {
  expect(['localhost', '127.0.0.1', '127.8.8.8', '::1'].filter((host) => !isLoopback(host))).toEqual([])
  const others = ['example.org', '127.0.0.1.example.org', '10.0.0.1', 'localhost.example.org', 'localhost.', '']
  const odd = ['[::1]', '127.1', '127.0.0.1000', '2130706433', '0x7f.0.0.1', '::ffff:127.0.0.1', 'LOCALHOST', '::']
  expect([...others, ...odd].filter(isLoopback)).toEqual([])
})
