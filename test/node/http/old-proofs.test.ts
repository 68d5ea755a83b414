// Proofs that nodes of older normalisers signed, sent to this one over the same stores: what it can reproduce verifies, what
// it renders or refuses otherwise is inconclusive. None is ever called wrong; what was changed since still is.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { verifyOffline } from '../../../src/libraries/proof/verify.ts'
import { goldenFolder } from '../../helpers/golden-proofs.ts'
import { proofNode } from '../../helpers/proof-node.ts'

const folderOf = (version: number): string => goldenFolder(`SqlDuckDb/1.5.6-${version}`)
const namesOf = (version: number): string[] =>
  readdirSync(join(folderOf(version), 'answers')).map((file) => file.replace('.json', ''))
const saved = (name: string, version = 1): string =>
  readFileSync(join(folderOf(version), 'answers', `${name}.json`), 'utf8')

/** Asked of normaliser 1 in a way that later ones print or refuse otherwise. */
const mayBeInconclusive: ReadonlySet<string> = new Set([
  'export-state',
  'export-state-blob',
  'literal-dot',
  'literals',
  'literals-compared',
  'literals-where',
  'percent',
  'powers',
  'sine',
])

const { verify } = await proofNode([1, 2].map(folderOf))

describe('a proof of normaliser 1', () => {
  it('is there in every form', () => {
    const names = namesOf(1)
    expect(names.length).toBeGreaterThanOrEqual(40)
    for (const name of names) expect(saved(name)).toContain('"queryDialect":"SqlDuckDb/1.5.6-1"')
  })

  it.each(namesOf(1))('%s verifies, or cannot be decided here', async (name) => {
    expect(verifyOffline(saved(name))).toMatchObject({ ok: true, canonicalForm: 'verbatim' })
    const answer = await verify(saved(name))
    const outcome = answer.status === 200 ? 'verified' : answer.at('error.kind')
    const unsure = mayBeInconclusive.has(name) ? ['VerificationInconclusive::EngineUnavailable'] : []
    expect(['verified', ...unsure]).toContain(outcome)
  })

  it.each<[string, string, string | RegExp, string]>([
    ['input', 'truncated', '"limit":100', 'InvalidRequest::InputHash'],
    ['row', 'truncated-aos', '"station":"s0"', 'InvalidRequest::OutputHash'],
    ['output that claims to be cut', 'whole', '"schemaFormat":"ArrowJson"},"proof"', 'InvalidRequest::OutputHash'],
    ['signature', 'count', /(?<="proofValue":"u..)...../, 'InvalidRequest::BadSignature'],
  ])('with a changed %s is told so', async (_, name, from, kind) => {
    const changes: Readonly<Record<string, string>> = {
      truncated: '"limit":101',
      'truncated-aos': '"station":"s9"',
      whole: '"schemaFormat":"ArrowJson","truncated":true},"proof"',
      count: 'AAAAA',
    }
    const body = saved(name).replace(from, changes[name] ?? '')
    expect(body).not.toBe(saved(name))
    const answer = await verify(body)
    expect([answer.status, answer.at('error.kind')]).toEqual([400, kind])
  })
})

describe('a proof of normaliser 2', () => {
  it.each(namesOf(2))('%s verifies', async (name) => {
    expect(saved(name, 2)).toContain('"queryDialect":"SqlDuckDb/1.5.6-2"')
    expect(verifyOffline(saved(name, 2))).toMatchObject({ ok: true, canonicalForm: 'verbatim' })
    expect((await verify(saved(name, 2))).status).toBe(200)
  })
})
