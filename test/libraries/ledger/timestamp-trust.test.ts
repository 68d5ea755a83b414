// Time stamps of OpenSSL, read and checked: what it makes is taken, and what it refuses is refused, whichever byte is another. All
// bytes are tried with TIMESTAMP_CHANGES=all.

import { afterAll, describe, expect, test } from 'vitest'
import { checkTimestamp, readCertificates } from '../../../src/libraries/ledger/timestamp-trust.ts'
import { openTimestamp, timestampRequest } from '../../../src/libraries/ledger/timestamp-token.ts'
import { type Made, OpensslAuthority } from '../../helpers/openssl-authority.ts'

const text = 'node.example/ledger\n600\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n'
const nonce = Uint8Array.from({ length: 16 }, (_, i) => 200 - i)
const made: OpensslAuthority[] = []
afterAll(async () => {
  for (const authority of made) await authority.remove()
})

function authorityOf(of: Made = {}): OpensslAuthority {
  const authority = new OpensslAuthority(of)
  made.push(authority)
  return authority
}

const verdict = async (authority: OpensslAuthority, response: Uint8Array, over = text): Promise<string> =>
  await checkTimestamp(response, over, readCertificates(authority.file('ca.pem'))).then(
    ({ authority: by }) => by,
    (error: Error) => error.message,
  )
const stamped = (of?: Made) => {
  const authority = authorityOf(of)
  return { authority, response: authority.reply(timestampRequest(text, nonce)) }
}
const ca = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign']
const rsa = (bits: number): string[] => [`rsa:${bits}`]
const curve = (name: string): string[] => ['ec', '-pkeyopt', `ec_paramgen_curve:${name}`]

describe('a time stamp', () => {
  test.each<[string, Made]>([
    ['P-256', {}],
    ['P-384 with SHA-384', { key: curve('P-384'), digest: 'sha384', essDigest: 'sha384' }],
    ['P-521 with SHA-512', { key: curve('P-521'), digest: 'sha512', certificateDigest: 'sha512' }],
    ['RSA', { key: rsa(2048), rootKey: rsa(3072) }],
    ['an authority that names its certificate by SHA-1, as older ones do', { essDigest: 'sha1' }],
    ['an authority below a CA below the root', { between: ca, lines: ['certs = ./chain.pem'] }],
  ])('of %s is taken', async (_, of) => {
    const { authority, response } = stamped(of)
    expect([authority.takes(response, text), await verdict(authority, response)]).toEqual([
      true,
      'O=Proofstream, CN=An authority',
    ])
    expect(Math.abs(openTimestamp(response, text, nonce).atMs - Date.now())).toBeLessThan(600_000)
  })

  test.each<[string, Made, string]>([
    ['SHA-1', { digest: 'sha1' }, 'digest that is not taken'],
    ['a short key', { key: rsa(1024) }, 'fewer than 2048 bits'],
    ['a CA with a short key', { rootKey: rsa(1024) }, 'fewer than 2048 bits'],
    ['a certificate signed with SHA-1', { certificateDigest: 'sha1' }, 'an algorithm that is not taken'],
    ['an authority whose CA is none', { between: ['basicConstraints=critical,CA:FALSE'] }, 'by one that is no CA'],
    [
      'a root that signs no certificates',
      { rootExtensions: ['basicConstraints=critical,CA:TRUE', 'keyUsage=cRLSign'] },
      'by one that is no CA',
    ],
    [
      'a chain that is longer than its root allows',
      { between: ca, rootExtensions: ['basicConstraints=critical,CA:TRUE,pathlen:0', 'keyUsage=keyCertSign'] },
      'more CAs than one of them allows',
    ],
    ['a certificate that was no longer valid', { validity: ['-days', '-1'] }, 'not valid'],
  ])('of %s is not', async (_, of, reason) => {
    const { authority, response } = stamped(of)
    expect(await verdict(authority, response)).toContain(reason)
  })

  const key = 'keyUsage=critical,digitalSignature'
  const purpose = 'extendedKeyUsage=critical,timeStamping'
  test.each<[string, boolean, readonly string[]]>([
    ['for time stamps alone, critically', true, [key, purpose]],
    ['without a key usage', true, [purpose]],
    ['for time stamps, which others may overlook', false, [key, 'extendedKeyUsage=timeStamping']],
    ['for time stamps and more', false, [key, `${purpose},serverAuth`]],
    ['for time stamps and anything', false, [key, `${purpose},anyExtendedKeyUsage`]],
    ['for anything', false, [key, 'extendedKeyUsage=critical,anyExtendedKeyUsage']],
    ['for something else', false, [key, 'extendedKeyUsage=critical,codeSigning']],
    ['that does not say for what', false, [key]],
    ['whose key is for another use, too', false, ['keyUsage=critical,digitalSignature,keyEncipherment', purpose]],
  ])('by a certificate %s is taken as by OpenSSL: %s', async (_, isTaken, extensions) => {
    const authority = authorityOf()
    const name = authority.another(extensions)
    const response = authority.signedAnew(authority.reply(timestampRequest(text, nonce)), name)
    const said = await verdict(authority, response)
    expect([authority.takes(response, text), said === 'O=Proofstream, CN=An authority', said]).toEqual([
      isTaken,
      isTaken,
      expect.stringMatching(isTaken ? '' : /not for time stamps alone|has another use/),
    ])
  })

  test('is judged by the CA, whether or not the certificate of its authority is among the trusted ones', async () => {
    const { authority, response } = stamped()
    const by = (...files: string[]): Promise<unknown> =>
      checkTimestamp(response, text, readCertificates(files.map((file) => authority.file(file)).join('')))
    expect(await by('tsa.pem', 'ca.pem')).toMatchObject({ authority: 'O=Proofstream, CN=An authority' })
    await expect(by('tsa.pem')).rejects.toThrow('no trusted certificate')
  })

  test('of another text, another root, another request or longer than it may be is not', async () => {
    const { authority, response } = stamped()
    expect(await verdict(authority, response, `${text}x`)).toContain('another text')
    expect(await verdict(authorityOf(), response)).toContain('no trusted certificate')
    expect(() =>
      openTimestamp(
        response,
        text,
        nonce.map((byte) => byte ^ 1),
      ),
    ).toThrow('another request')
    expect(() => openTimestamp(new Uint8Array(70_000), text)).toThrow('longer than')
  })

  test('is refused wherever OpenSSL refuses it, one byte being another', async () => {
    // All of its certificates are of the chain: to others, which count for nothing, OpenSSL says no for reasons of its own.
    const { authority, response } = stamped({ between: ca })
    const step = process.env['TIMESTAMP_CHANGES'] === 'all' ? 1 : 11
    const taken: number[] = []
    for (let at = 0; at < response.length; at += step) {
      for (const flip of [0x01, 0x20, 0x80]) {
        const changed = Uint8Array.from(response)
        changed[at] = (changed[at] ?? 0) ^ flip
        if ((await verdict(authority, changed)) !== 'O=Proofstream, CN=An authority') continue
        taken.push(at)
        expect([at, flip, authority.takes(changed, text)]).toEqual([at, flip, true])
      }
    }
    expect(taken.length).toBeLessThan(response.length / 10)
  })
})

describe('bytes that are no time stamp', () => {
  const nested = (depth: number): Uint8Array => {
    let bytes = Uint8Array.of(5, 0)
    for (let i = 0; i < depth; i++) {
      const { length } = bytes
      const head = length < 128 ? [0x30, length] : [0x30, 0x82, length >> 8, length & 255]
      bytes = Uint8Array.from([...head, ...bytes])
    }
    return bytes
  }
  test.each<[string, Uint8Array]>([
    ['nothing', new Uint8Array()],
    ['half a header', Uint8Array.of(0x30)],
    ['an indefinite length', Uint8Array.of(0x30, 0x80, 0, 0)],
    ['a length beyond the end', Uint8Array.of(0x30, 0x84, 0xff, 0xff, 0xff, 0xff)],
    ['a padded length', Uint8Array.of(0x30, 0x81, 0x02, 5, 0)],
    ['a thousand levels', nested(1000)],
    [
      'many values',
      Uint8Array.from([
        0x30,
        0x82,
        0xea,
        0x60,
        ...Array<number>(60_000)
          .fill(0)
          .map((_, i) => (i % 2 === 0 ? 5 : 0)),
      ]),
    ],
    ['a status and no token', Uint8Array.of(0x30, 5, 0x30, 3, 2, 1, 0)],
    ['a refusal', Uint8Array.of(0x30, 5, 0x30, 3, 2, 1, 2)],
    ['something behind the end', Uint8Array.of(0x30, 5, 0x30, 3, 2, 1, 0, 0)],
    ['a grant with garbage', Uint8Array.of(0x30, 9, 0x30, 3, 2, 1, 0, 0x30, 2, 5, 0)],
  ])('are refused: %s', (_, bytes) => {
    expect(() => openTimestamp(bytes, text)).toThrow(/^time stamp: /)
  })
})
