// Witnesses that lie, dawdle or break off: only lines that are good go into a head, and the others are not held up.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cosign } from '../../../src/libraries/ledger/cosignature.ts'
import { headText } from '../../../src/libraries/ledger/head.ts'
import { signatureLine } from '../../../src/libraries/ledger/note.ts'
import { emptyRoot } from '../../../src/libraries/ledger/tree.ts'
import { parseAddCheckpoint } from '../../../src/libraries/ledger/witness.ts'
import { origin, signer, witnessName } from '../../libraries/ledger/keys.ts'
import { begin, clock, grow, publisher, settled, showing, shown, states, witnesses } from './publishing.ts'
import type { Manner } from './small-witness.ts'

describe('a witness that', () => {
  const text = (body: Uint8Array): string => parseAddCheckpoint(body).note.text
  const bad: [string, Manner, string][] = [
    [
      'signs with another key',
      (_, response, body) => {
        response.writeHead(200).end(signatureLine(cosign(text(body), witnessName(1), signer(99), 9)))
        return true
      },
      'faulty',
    ],
    [
      'signs another head',
      (_, response) => {
        const other = headText({ origin, size: 5, root: new Uint8Array(32) })
        response.writeHead(200).end(signatureLine(cosign(other, witnessName(1), signer(11), 9)))
        return true
      },
      'faulty',
    ],
    [
      'sends a good line and a bad one',
      (_, response, body) => {
        const [good, other] = [text(body), headText({ origin, size: 5, root: new Uint8Array(32) })]
        const lines = [good, other].map((head) => signatureLine(cosign(head, witnessName(1), signer(11), 9)))
        response.writeHead(200).end(lines.join(''))
        return true
      },
      'faulty',
    ],
    [
      'answers without an end',
      (_, response) => {
        response.writeHead(200)
        const send = (): void => {
          if (!response.destroyed) response.write('x'.repeat(60_000), () => setImmediate(send))
        }
        send()
        return true
      },
      'faulty',
    ],
    [
      'sends its answer byte by byte',
      (_, response) => {
        response.writeHead(200)
        const timer = setInterval(() => response.write('x'), 100)
        response.on('close', () => clearInterval(timer))
        return true
      },
      'faulty',
    ],
    ['never answers', () => new Promise(() => {}), 'silent'],
    [
      'closes the connection',
      (_, response) => {
        response.destroy()
        return true
      },
      'silent',
    ],
    [
      'sends elsewhere',
      (_, response) => {
        response.writeHead(307, { location: `${witnesses[1]!.url}/add-checkpoint` }).end()
        return true
      },
      'faulty',
    ],
    [
      'names a larger size that it does not show',
      (request, response) => {
        if (request.method !== 'POST') return false
        response.writeHead(409).end('99999\n')
        return true
      },
      'ahead',
    ],
    [
      'names the size that it was asked from',
      (_, response, body) => {
        response.writeHead(409).end(`${parseAddCheckpoint(body).oldSize}\n`)
        return true
      },
      'faulty',
    ],
    [
      'names sizes without end',
      (_, response, body) => {
        response.writeHead(409).end(`${(parseAddCheckpoint(body).oldSize + 1) % 5}\n`)
        return true
      },
      'busy',
    ],
    [
      'names no size',
      (_, response) => {
        response.writeHead(409).end('many\n')
        return true
      },
      'faulty',
    ],
    [
      'does not take a right proof',
      (request, response) => {
        if (request.method !== 'POST') return false
        response.writeHead(422).end()
        return true
      },
      'contradicting',
    ],
    [
      'does not take the key',
      (_, response) => {
        response.writeHead(403).end()
        return true
      },
      'refused',
    ],
    [
      'has too much to do',
      (_, response) => {
        response.writeHead(429, { 'retry-after': '120' }).end()
        return true
      },
      'busy',
    ],
    [
      'fails',
      (_, response) => {
        response.writeHead(500).end()
        return true
      },
      'faulty',
    ],
  ]
  test.each(bad)('%s adds no line, and is asked again later', async (_, manner, state) => {
    witnesses[0]!.manner = manner
    const publishing = publisher()
    await publishing.offer(await grow(5))
    await settled(publishing)
    expect([states(publishing)[0], await shown()]).toEqual([state, { size: 5, quorum: 'met', by: ['W2', 'W3'] }])
    expect(witnesses[1]!.asked).toBeLessThan(3)
    const { asked } = witnesses[0]!
    clock.aheadMs += 9_000
    await publishing.tick()
    await settled(publishing)
    expect(witnesses[0]!.asked).toBe(asked)
    witnesses[0]!.manner = undefined
    clock.aheadMs += 120_000
    await showing(publishing, 5, ['W1', 'W2', 'W3'])
  })

  test('that has too much to do is not asked before its time, with a new head neither', async () => {
    witnesses[0]!.manner = bad.find(([name]) => name === 'has too much to do')![1]
    const publishing = publisher()
    await publishing.offer(await grow(5))
    await settled(publishing)
    await publishing.offer(await grow(6))
    await showing(publishing, 6, ['W2', 'W3'])
    expect(witnesses[0]!.asked).toBe(1)
    clock.aheadMs += 121_000
    await publishing.tick()
    await settled(publishing)
    expect(witnesses[0]!.asked).toBe(2)
  })

  test('whatever it answers, the head stays one that its readers take', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 100, max: 599 }).filter((status) => status >= 200),
        fc.oneof(
          fc.string(),
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
        ),
        async (status, body) => {
          begin()
          for (const witness of witnesses) witness.last = { size: 0, root: emptyRoot }
          witnesses[0]!.manner = (_, response) => {
            response.writeHead(status).end(body)
            return true
          }
          const publishing = publisher()
          await publishing.offer(await grow(5))
          await settled(publishing)
          expect(await shown()).toEqual({ size: 5, quorum: 'met', by: ['W2', 'W3'] })
        },
      ),
      { numRuns: 30 },
    )
  })
})
