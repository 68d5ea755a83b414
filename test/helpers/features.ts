// Which features the tests run with: all, or all but those of `PROOFSTREAM_WITHOUT`, which every node of theirs does without.

const without = (process.env['PROOFSTREAM_WITHOUT'] ?? '').split(',')

/** Whether nodes of this run have the features; a test that needs one does not run without it. */
export function runsWith(...features: readonly string[]): boolean {
  return features.every((name) => !without.includes(name))
}
