// What a node says about parameters of HTTP, in the words of the command line.

import { expect, test } from 'vitest'
import { withFlags } from '../../src/cli/problem.ts'

test.each([
  ['the zone is missing (or say timeZone=UTC)', 'the zone is missing (or say --time-zone UTC)'],
  ['Say eventTimeUnit=s, ms, us or ns to send epochs.', 'Say --event-time-unit s, ms, us or ns to send epochs.'],
  ['(say integers=float64). unknownFields=add', '(say --integers float64). --unknown-fields add'],
  [
    'Say header=present or header=absent in the media type: text/csv; header=absent.',
    'Say --header present or --header absent.',
  ],
  ['a=b, timezone=x, csvHeader=1, timeZone=', 'a=b, timezone=x, csvHeader=1, timeZone='],
])('%j is told as %j', (said, told) => {
  expect(withFlags(said)).toBe(told)
})
