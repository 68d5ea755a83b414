// The name of a ledger that its operator has not named.

import { expect, test } from 'vitest'
import { defaultOrigin } from '../../../src/features/ledger/identity.ts'

const key = { publicKey: new Uint8Array(32) }
/** By `printf '\0%.0s' $(seq 32) | sha256sum`. */
const byKey = 'ledger-66687aadf862bd77.invalid/ledger'

test.each([
  [['data.example.org', 'other.example'], 'data.example.org/ledger'],
  [['192.0.2.7'], '192.0.2.7/ledger'],
  [[], byKey],
  // A name of every machine is that of none.
  [['localhost'], byKey],
  [['127.0.0.1'], byKey],
  [['::1'], byKey],
  // No name that a note takes.
  [['2001:db8::1 x'], byKey],
])('%j: %s', (hosts, origin) => {
  expect(defaultOrigin(hosts, key)).toBe(origin)
})
