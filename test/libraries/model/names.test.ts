// Names of accounts and datasets: what is wrong with one is said, and what the node's own routes are called is no account.

import { describe, expect, it } from 'vitest'
import { NodeError } from '../../../src/libraries/base/errors.ts'
import { isName, parseAlias } from '../../../src/libraries/model/names.ts'

function refusal(account: string, dataset = 'x'): NodeError {
  try {
    parseAlias(account, dataset)
  } catch (error) {
    if (error instanceof NodeError) return error
  }
  throw new NodeError('Internal', `${account}/${dataset} is taken`)
}

describe('a name that is refused', () => {
  it.each([
    ['my_lab', "'_'", "'my-lab'"],
    ['a__b_c', "'_'", "'a-b-c'"],
    ['my lab', 'Spaces', "'my-lab'"],
    ['x'.repeat(101), '101 characters', ''],
  ])('%s is told its fault', (name, fault, remedy) => {
    const { kind, details } = refusal(name)
    expect(kind).toBe('InvalidName')
    expect(details.hint).toContain(fault)
    expect(details.hint).toContain(remedy)
  })

  it.each(['_', 'a_', '-a', 'a--b', 'ä', '', 'a..b', 'a/b'])('%j is told the rule', (name) => {
    expect(isName(name)).toBe(false)
    expect(refusal(name).details.hint).toMatch(/^Use ASCII letters/)
  })
})

describe('an account that is a route of the node, or may become one', () => {
  it.each(
    (
      'accounts api assets console datasets errors events graphql healthz iceberg info limits login main memory metrics ' +
      'odata ogc openapi platform presets query readyz receipts sign swagger system temp tokens ui-config verify ' +
      'well-known write'
    ).split(' '),
  )('%s is reserved, in any case', (account) => {
    for (const name of [account, account.toUpperCase()]) expect(refusal(name).kind).toBe('ReservedName')
    expect(parseAlias('x', account).text).toBe(`x/${account}`)
  })
})
