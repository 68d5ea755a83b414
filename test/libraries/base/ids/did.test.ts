// Dataset and node identities against vectors made by other implementations.

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  datasetIdBytes,
  datasetIdFromKey,
  datasetIdText,
  didKeyText,
  parseDidKey,
} from '../../../../src/libraries/base/ids/identifiers.ts'
import { fromHex, toHex } from '../../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../../src/libraries/base/errors.ts'

interface Dids {
  dids: { did: string; bytesHex: string; publicKeyHex: string; didKey: string }[]
  invalidDids: { text: string; reason: string }[]
}

const vectors: Dids = JSON.parse(readFileSync('test/vectors/identifiers.json', 'utf8'))

describe('did:odf', () => {
  test.each(vectors.dids)('$did has its bytes and key', (row) => {
    const key = fromHex(row.publicKeyHex)!
    expect(datasetIdFromKey(key)).toBe(row.did)
    expect(toHex(datasetIdBytes(row.did))).toBe(row.bytesHex)
    expect(datasetIdText(fromHex(row.bytesHex)!)).toBe(row.did)
  })

  test('a base58 spelling is the same dataset', () => {
    const row = vectors.dids[0]!
    expect(datasetIdText(datasetIdBytes(row.didKey.replace('did:key:', 'did:odf:')))).toBe(row.did)
  })

  test.each(vectors.invalidDids)('refuses $text: $reason', ({ text }) => {
    expect(() => datasetIdBytes(text)).toThrow(DecodeError)
  })
})

describe('did:key', () => {
  test.each(vectors.dids)('$didKey names its key', (row) => {
    const key = fromHex(row.publicKeyHex)!
    expect(didKeyText(key)).toBe(row.didKey)
    expect(parseDidKey(row.didKey)).toEqual(key)
  })

  test.each([
    ['did:key:z6Mk', 'cut short'],
    ['did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme', 'a secp256k1 key'],
    ['did:odf:z6Mkon3Necd6NkkyfoGoHxid2znGc59LU3K7mubaRcFbLfLX', 'another method'],
    ['did:key:fed018a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c', 'not base58'],
    ['did:key:z16Mkon3Necd6NkkyfoGoHxid2znGc59LU3K7mubaRcFbLfLX', 'a leading zero byte'],
    ['did:key:z6Mkon3Necd6NkkyfoGoHxid2znGc59LU3K7mubaRcFbLfLX#z6Mk', 'a fragment'],
  ])('refuses %s: %s', (did) => {
    expect(() => parseDidKey(did)).toThrow(DecodeError)
  })
})
