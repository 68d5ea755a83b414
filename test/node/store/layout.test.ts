import { describe, expect, test } from 'vitest'
import { DecodeError } from '../../../src/libraries/base/errors.ts'
import * as layout from '../../../src/node/store/layout.ts'

const folder = `fed01${'ab'.repeat(32)}`
const id = `did:odf:${folder}`
const hash = `f1620${'0f'.repeat(32)}`

describe('the layout of the store', () => {
  test('puts everything of a dataset under the multibase part of its id', () => {
    expect(layout.datasetKey(id)).toBe(`datasets/${folder}`)
    expect(layout.headKey(id)).toBe(`datasets/${folder}/refs/head`)
    expect(layout.blockKey(id, hash)).toBe(`datasets/${folder}/blocks/${hash}`)
    expect(layout.dataKey(id, hash)).toBe(`datasets/${folder}/data/${hash}`)
    expect(layout.checkpointKey(id, hash)).toBe(`datasets/${folder}/checkpoints/${hash}`)
    expect(layout.commitKey(id, 12)).toBe(`datasets/${folder}/commits/12`)
    expect(layout.datasetOfFolder(folder)).toBe(id)
    expect(layout.datasetOfFolder('tmp')).toBeUndefined()
  })

  test('puts names in lower case, floors by log and partition, tokens and secrets by id', () => {
    expect(layout.nameKey('Acme/Com.Example.ETH-usd')).toBe('names/acme/com.example.eth-usd')
    expect(layout.progressKey('k_Ab-1', 3, 0)).toBe('progress/k_Ab-1/3/0')
    expect(layout.logKey('k_Ab-1')).toBe('logs/k_Ab-1')
    expect(layout.tokenKey('t1')).toBe('tokens/t1')
    expect(layout.secretKey('receipts')).toBe('secrets/receipts')
  })

  test.each([
    `did:odf:${folder.toUpperCase()}`,
    folder,
    'did:odf:fed01',
    `did:odf:${folder}/..`,
    `did:odf:fed02${'ab'.repeat(32)}`,
    `did:key:${folder}`,
  ])('refuses the dataset id %s', (bad) => {
    expect(() => layout.headKey(bad)).toThrow(DecodeError)
  })

  test.each([
    hash.toUpperCase(),
    `${hash}0`,
    hash.slice(1),
    '../../../etc/passwd',
    `f9680c00120${'ab'.repeat(32)}`,
    '',
  ])('refuses the hash %j', (bad) => {
    expect(() => layout.blockKey(id, bad)).toThrow(DecodeError)
    expect(() => layout.dataKey(id, bad)).toThrow(DecodeError)
    expect(() => layout.checkpointKey(id, bad)).toThrow(DecodeError)
  })

  test.each([
    'acme',
    'acme/',
    '/x',
    'a/b/c',
    '../x',
    'a/..',
    'a/.b',
    'a/b.',
    'a//b',
    'acme/\u212A',
    'a b/c',
    `a/${'x'.repeat(101)}`,
  ])('refuses the alias %j', (bad) => {
    expect(() => layout.nameKey(bad)).toThrow(DecodeError)
  })

  test.each([-1, 1.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY])('refuses the number %d in a key', (bad) => {
    expect(() => layout.commitKey(id, bad)).toThrow(DecodeError)
    expect(() => layout.progressKey('log', 0, bad)).toThrow(DecodeError)
    expect(() => layout.progressKey('log', bad, 0)).toThrow(DecodeError)
  })

  test.each(['', '.', '..', '.tmp', 'a/b', 'ü', 'a b', 'x'.repeat(201)])(
    'refuses %j as log, token or secret',
    (bad) => {
      expect(() => layout.logKey(bad)).toThrow(DecodeError)
      expect(() => layout.tokenKey(bad)).toThrow(DecodeError)
      expect(() => layout.secretKey(bad)).toThrow(DecodeError)
    },
  )

  test('reads plain decimal names back, and nothing else', () => {
    for (const value of [0, 7, 10, 2 ** 53 - 1]) expect(layout.numberOfName(String(value))).toBe(value)
    for (const name of ['', '00', '01', '-1', '1e3', '1.0', ' 1', '9007199254740992', 'x']) {
      expect(layout.numberOfName(name)).toBeUndefined()
    }
  })

  test('makes only keys that every store accepts', () => {
    const keys = [
      layout.nameKey('Acme/x'),
      layout.headKey(id),
      layout.blockKey(id, hash),
      layout.commitKey(id, 2 ** 53 - 1),
      layout.progressKey('log', 0, 1),
      layout.tokenKey('t'),
      layout.secretKey('receipts'),
      layout.logKey('x'),
      layout.namesPrefix,
      layout.datasetsPrefix,
    ]
    for (const key of keys) expect(() => layout.checkKey(key)).not.toThrow()
  })
})
