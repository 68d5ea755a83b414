// The rules of access as a table: who may do what to which dataset, and what everybody else is told.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  anonymousPrincipal,
  can,
  canSee,
  type DatasetFacts,
  demand,
  demandAdmin,
  demandCreate,
  demandToken,
  isPattern,
  matchesPattern,
  type Principal,
  type Right,
  type Scope,
} from '../../../src/node/access/scopes.ts'
import { NodeError } from '../../../src/libraries/base/errors.ts'

const open: DatasetFacts = { alias: 'acme/weather', visibility: 'public' }
const hidden: DatasetFacts = { alias: 'acme/secret', visibility: 'private' }

function token(scopes: Scope[], datasets?: string[], anonymousRead = false): Principal {
  return { tokenId: 't', scopes: new Set(scopes), ...(datasets === undefined ? {} : { datasets }), anonymousRead }
}

/** `ok` or the kind of the error. */
function outcome(action: () => void): string {
  try {
    action()
    return 'ok'
  } catch (error) {
    if (error instanceof NodeError) return error.kind
    throw error
  }
}

function asked(principal: Principal, right: Right, dataset: DatasetFacts | undefined): string {
  return outcome(() => demand(principal, right, 'acme/x', dataset))
}

describe('anonymous callers', () => {
  test('read public datasets where the node lets them, and nothing else', () => {
    const reader = anonymousPrincipal(true)
    expect(asked(reader, 'read', open)).toBe('ok')
    expect(asked(reader, 'read', hidden)).toBe('DatasetNotFound')
    expect(asked(reader, 'read', undefined)).toBe('DatasetNotFound')
  })

  test('need a token for any write, whatever is under the name', () => {
    for (const dataset of [open, hidden, undefined]) {
      expect(asked(anonymousPrincipal(true), 'ingest', dataset)).toBe('Unauthenticated')
      expect(asked(anonymousPrincipal(true), 'create', dataset)).toBe('Unauthenticated')
    }
    expect(outcome(() => demandCreate(anonymousPrincipal(true), 'acme/x'))).toBe('Unauthenticated')
    expect(outcome(() => demandAdmin(anonymousPrincipal(true)))).toBe('Unauthenticated')
  })

  test('need a token for reads too where anonymous reads are off, before existence is looked at', () => {
    const stranger = anonymousPrincipal(false)
    for (const dataset of [open, hidden, undefined]) expect(asked(stranger, 'read', dataset)).toBe('Unauthenticated')
    expect(outcome(() => demandToken(stranger, 'read'))).toBe('Unauthenticated')
  })
})

describe('tokens', () => {
  test.each<[Scope, Right[]]>([
    ['read', ['read']],
    ['ingest', ['ingest']],
    ['create', ['create']],
    ['admin', ['read', 'ingest', 'create']],
  ])('%s gives %j and nothing more', (scope, rights) => {
    for (const right of ['read', 'ingest', 'create'] as const) {
      expect(can(token([scope]), right, hidden)).toBe(rights.includes(right))
      expect(asked(token([scope]), right, hidden)).toBe(rights.includes(right) ? 'ok' : 'Forbidden')
    }
    const verdict = (holds: boolean): string => (holds ? 'ok' : 'Forbidden')
    expect(outcome(() => demandCreate(token([scope]), 'acme/new'))).toBe(verdict(rights.includes('create')))
    expect(outcome(() => demandAdmin(token([scope])))).toBe(verdict(scope === 'admin'))
  })

  test('have at least an anonymous caller’s rights, patterns or not', () => {
    expect(asked(token(['ingest'], ['other/*'], true), 'read', open)).toBe('ok')
    expect(asked(token(['ingest'], ['other/*'], true), 'read', hidden)).toBe('DatasetNotFound')
    expect(asked(token(['ingest']), 'read', open)).toBe('Forbidden')
  })

  test('cannot tell a dataset that they may do nothing to from a missing one', () => {
    const outsider = token(['read', 'ingest', 'create', 'admin'], ['other/*'])
    for (const right of ['read', 'ingest', 'create'] as const) {
      expect(asked(outsider, right, hidden)).toBe('DatasetNotFound')
      expect(asked(outsider, right, undefined)).toBe('DatasetNotFound')
    }
    expect(canSee(outsider, hidden)).toBe(false)
    expect(canSee(token(['ingest'], ['acme/*']), hidden)).toBe(true)
  })

  test('create only under names that their patterns cover', () => {
    expect(outcome(() => demandCreate(token(['create'], ['acme/*']), 'ACME/new'))).toBe('ok')
    expect(outcome(() => demandCreate(token(['create'], ['acme/*']), 'other/new'))).toBe('Forbidden')
    expect(outcome(() => demandCreate(token(['ingest']), 'acme/new'))).toBe('Forbidden')
  })

  test('bound to datasets manage no tokens, so that no one can make a wider one', () => {
    expect(outcome(() => demandAdmin(token(['admin'])))).toBe('ok')
    expect(outcome(() => demandAdmin(token(['admin'], ['*/*'])))).toBe('Forbidden')
    expect(outcome(() => demandAdmin(token(['read'])))).toBe('Forbidden')
  })
})

describe('patterns', () => {
  test.each([
    ['acme/*', 'acme/weather', true],
    ['ACME/Weather', 'acme/wEATHER', true],
    ['acme/*', 'acme2/weather', false],
    ['acme/*', 'acme/', true],
    ['*/*', 'a/b', true],
    ['*/b', 'a/c', false],
    ['acme/com.example.*', 'acme/com.example.trips', true],
    ['acme/com.example.*', 'acme/com.example', false],
    ['acme/*-daily', 'acme/trips-daily', true],
    ['acme/*-daily', 'acme/trips-daily-2', false],
    ['acme/a*b*c', 'acme/axxbyyc', true],
    ['acme/a*b*c', 'acme/axxcyyb', false],
    ['acme/*', 'acme/x/y', false],
    ['*', 'acme', true],
    ['\u212a/b', 'k/b', false],
  ])('%s against %s: %s', (pattern, alias, expected) => {
    expect(matchesPattern(pattern, alias)).toBe(expected)
  })

  test('agree with the regular expression that they stand for', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), minLength: 1, maxLength: 8 })
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(part, part, word, word, (left, right, account, dataset) => {
        const source = `${left}/${right}`.replaceAll('.', '\\.').replaceAll('*', '[^/]*')
        const expected = new RegExp(`^${source}$`).test(`${account}/${dataset}`)
        expect(matchesPattern(`${left}/${right}`, `${account}/${dataset}`)).toBe(expected)
      }),
      { numRuns: 2_000 },
    )
  })

  test('with many stars are matched without a blow-up', () => {
    expect(matchesPattern(`acme/${'*a'.repeat(48)}b`, `acme/${'a'.repeat(100)}`)).toBe(false)
  })

  test.each([
    ['acme/*', true],
    ['*/*', true],
    ['a.b-c/d*', true],
    ['acme', false],
    ['acme/', false],
    ['/x', false],
    ['acme/x/y', false],
    ['acme/é', false],
    ['acme/[ab]', false],
    ['acme/../x', false],
    [`acme/${'x'.repeat(200)}`, false],
    ['', false],
  ])('%s is a pattern: %s', (text, expected) => {
    expect(isPattern(text)).toBe(expected)
  })
})
