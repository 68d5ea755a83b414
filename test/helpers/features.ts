// Which features the tests run with: all, or all but those of `PROOFSTREAM_WITHOUT`, which every node of theirs does without.

const without = (process.env['PROOFSTREAM_WITHOUT'] ?? '').split(',')

/** Whether nodes of this run have the features; a test that needs one does not run without it. */
export function runsWith(...features: readonly string[]): boolean {
  return features.every((name) => !without.includes(name))
}

/** Options of a node that keeps a ledger of this name, if nodes of this run do; a block is an entry within the delay. */
export function ledgerOptions(origin: string, delay: string): Readonly<Record<string, string>> {
  return runsWith('ledger') ? { 'ledger-origin': origin, 'ledger-delay': delay } : {}
}
