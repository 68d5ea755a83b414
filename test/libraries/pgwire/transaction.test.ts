// The transaction of a session: its states, savepoints, kept blocks and settings that hold for it alone.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SessionSettings } from '../../../src/libraries/pgwire/settings.ts'
import { Transaction } from '../../../src/libraries/pgwire/transaction.ts'

const none: ReadonlyMap<string, string> = new Map()
const withState = (state: string): unknown => expect.objectContaining({ state })

function open(isolation: 'read committed' | 'repeatable read' = 'read committed'): Transaction {
  const transaction = new Transaction()
  expect(transaction.begin(isolation, none)).toBe(true)
  return transaction
}

function failed(): Transaction {
  const transaction = open()
  transaction.fail()
  return transaction
}

describe('states', () => {
  test('none: there is nothing to end or to go back to', () => {
    const transaction = new Transaction()
    expect([transaction.letter, transaction.isOpen, transaction.kept]).toEqual(['I', false, undefined])
    transaction.fail()
    transaction.demandGood()
    expect(transaction.letter).toBe('I')
    expect(transaction.end('commit', none)).toEqual({ tag: 'COMMIT', settings: undefined })
    expect(transaction.end('rollback', none)).toEqual({ tag: 'ROLLBACK', settings: undefined })
    for (const act of [
      () => transaction.savepoint('a', none),
      () => transaction.release('a'),
      () => transaction.rollbackTo('a'),
    ]) {
      expect(act).toThrow(withState('25P01') as Error)
    }
  })

  test('open: it does not begin again, and ends', () => {
    const transaction = open()
    expect([transaction.letter, transaction.isOpen]).toEqual(['T', true])
    expect(transaction.begin('repeatable read', none)).toBe(false)
    expect(transaction.isolation).toBe('read committed')
    transaction.demandGood()
    expect(transaction.end('commit', none).tag).toBe('COMMIT')
    expect(transaction.letter).toBe('I')
  })

  test('failed: only its end is heard, and a commit rolls back', () => {
    const transaction = failed()
    expect(transaction.letter).toBe('E')
    expect(() => transaction.demandGood()).toThrow(withState('25P02') as Error)
    transaction.fail()
    expect(transaction.end('commit', none).tag).toBe('ROLLBACK')
    expect(transaction.letter).toBe('I')
    expect(failed().end('rollback', none).tag).toBe('ROLLBACK')
  })
})

describe('savepoints', () => {
  test('a rollback to one takes those behind it, and the failure, away', () => {
    const transaction = open()
    for (const name of ['a', 'b', 'c']) transaction.savepoint(name, none)
    transaction.fail()
    transaction.rollbackTo('b')
    expect(transaction.letter).toBe('T')
    expect(() => transaction.rollbackTo('c')).toThrow(withState('3B001') as Error)
    transaction.rollbackTo('b')
    transaction.release('a')
    expect(() => transaction.rollbackTo('b')).toThrow(withState('3B001') as Error)
    expect(() => transaction.release('a')).toThrow(withState('3B001') as Error)
  })

  test('the latest of a name counts, and the one before it is there again', () => {
    const transaction = open()
    transaction.savepoint('a', new Map([['jit', '1']]))
    transaction.savepoint('a', new Map([['jit', '2']]))
    expect(transaction.rollbackTo('a').get('jit')).toBe('2')
    transaction.release('a')
    expect(transaction.rollbackTo('a').get('jit')).toBe('1')
  })

  test('the beginning has no name, and there is an end to them', () => {
    const transaction = open()
    expect(() => transaction.rollbackTo('')).toThrow(withState('3B001') as Error)
    const many = (): void => {
      for (let i = 0; i < 1_001; i++) transaction.savepoint('a', none)
    }
    expect(many).toThrow(withState('53400') as Error)
  })
})

describe('blocks', () => {
  test('are kept by a repeatable read alone, until its end, and not while it has failed', () => {
    expect(open().kept).toBeUndefined()
    const transaction = open('repeatable read')
    transaction.kept?.set('did:odf:1', 'block')
    transaction.savepoint('a', none)
    transaction.fail()
    expect(transaction.kept).toBeUndefined()
    transaction.rollbackTo('a')
    expect(transaction.kept?.get('did:odf:1')).toBe('block')
    transaction.end('commit', none)
    transaction.begin('repeatable read', none)
    expect(transaction.kept?.size).toBe(0)
  })

  test('settle the level of isolation', () => {
    const transaction = open()
    transaction.isolate('repeatable read')
    expect(transaction.kept?.size).toBe(0)
    transaction.kept?.set('did:odf:1', 'block')
    transaction.isolate('repeatable read')
    expect(() => transaction.isolate('read committed')).toThrow(withState('25001') as Error)
    new Transaction().isolate('repeatable read')
  })
})

/** A session's settings and its transaction, as the door holds them together. */
class Both {
  readonly settings = new SessionSettings({})
  readonly transaction = new Transaction()

  do(what: string): void {
    const { settings, transaction } = this
    const [word, value] = what.split(' ')
    if (word === 'begin') transaction.begin('read committed', settings.state)
    else if (word === 'savepoint') transaction.savepoint('s', settings.state)
    else if (word === 'back') settings.putBack(transaction.rollbackTo('s'))
    else if (word === 'release') transaction.release('s')
    else if (word === 'set') {
      transaction.setLasting('application_name')
      settings.set('application_name', value)
    } else if (word === 'local' && transaction.isOpen) {
      transaction.setLocal('application_name', settings.state)
      settings.set('application_name', value)
    } else if (word === 'commit' || word === 'rollback') {
      const ended = transaction.end(word, settings.state)
      if (ended.settings !== undefined) settings.putBack(ended.settings)
    }
  }
}

function nameAfter(steps: string): string {
  const both = new Both()
  for (const step of steps.split(', ')) both.do(step)
  return both.settings.get('application_name')
}

// What PostgreSQL 15 says to each.
const cases: readonly (readonly [steps: string, name: string])[] = [
  ['begin, set a, commit', 'a'],
  ['begin, set a, rollback', ''],
  ['set a, begin, set b, rollback', 'a'],
  ['begin, local a, commit', ''],
  ['set a, begin, local b, commit', 'a'],
  ['set a, begin, local b, local c, commit', 'a'],
  ['begin, set a, local b, commit', 'a'],
  ['begin, set a, local b, rollback', ''],
  ['begin, set a, savepoint, set b, back, commit', 'a'],
  ['begin, set a, savepoint, local b, back, commit', 'a'],
  ['begin, savepoint, set a, release, commit', 'a'],
  ['begin, savepoint, local a, release, commit', ''],
  ['begin, local a, savepoint, local b, back', 'a'],
  ['set a, begin, savepoint, set b, savepoint, set c, back, back', 'b'],
]
test.each(cases)('%s: %s', (steps, name) => {
  expect(nameAfter(steps)).toBe(name)
})

// The later SET holds beyond the transaction.
test.each([
  ['begin, local a, set b, commit', 'b'],
  ['begin, savepoint, local a, back, set b, commit', 'b'],
])('%s: %s', (steps, name) => {
  expect(nameAfter(steps)).toBe(name)
})

test('after a rollback settings are as they were, whatever was done', () => {
  const step = fc.constantFrom('set a', 'set b', 'local c', 'local d', 'savepoint', 'fail')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.constantFrom('', 'a', 'b'), (steps, first) => {
      const both = new Both()
      if (first !== '') both.do(`set ${first}`)
      for (const one of ['begin', ...steps]) {
        if (one === 'fail') both.transaction.fail()
        else both.do(one)
      }
      both.do('rollback')
      expect(both.settings.get('application_name')).toBe(first)
    }),
  )
})
