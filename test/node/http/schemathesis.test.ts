// The routes of OGC API Features called as their own description allows and forbids, by schemathesis
// (https://schemathesis.readthedocs.io), where python3 has it (pip install schemathesis); skipped elsewhere. Examples of each
// operation: SCHEMATHESIS_EXAMPLES, 15 by default. What it found stands in ogc-conformance.test.ts, too.

import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { liveNode } from '../../helpers/live-node.ts'
import { postPlaces } from '../../helpers/ogc-places.ts'

const hasSchemathesis = spawnSync('python3', ['-c', 'import schemathesis']).status === 0
if (!hasSchemathesis)
  console.warn('schemathesis is not installed: the descriptions of the routes of maps are not fuzzed.')
const examples = process.env['SCHEMATHESIS_EXAMPLES'] ?? '15'

const live = await liveNode()
await postPlaces(live, 'acme/places')
const folder = mkdtempSync(join(tmpdir(), 'proofstream-schemathesis-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Described {
  schema: object
}

/** What is wrong, or nothing. `described` names what there is, so that most calls find something. */
async function faultsOf(described: object, url: string, options: readonly string[]): Promise<string> {
  const file = join(folder, 'description.json')
  writeFileSync(file, JSON.stringify(described))
  const program = 'from schemathesis.cli import schemathesis; schemathesis()'
  const always = [
    '--checks',
    'all',
    '--phases',
    'examples,coverage,fuzzing',
    '-n',
    examples,
    '--generation-deterministic',
  ]
  const asked = ['run', file, '--url', url, ...always, '--continue-on-failure', '--no-color', ...options]
  try {
    await promisify(execFile)('python3', ['-c', program, ...asked], { cwd: folder, maxBuffer: 2 ** 26 })
    return ''
  } catch (error) {
    return String(Reflect.get(Object(error), 'stdout'))
  }
}

const timeout = 30_000 + Number(examples) * 2000

test.skipIf(!hasSchemathesis)('the description that GIS clients read', { timeout }, async () => {
  const described = Object((await live.call('/ogc/api')).json)
  const { collectionId, featureId, limit, collections } = described.components.parameters as Record<string, Described>
  Object.assign(collectionId?.schema ?? {}, { enum: ['acme:places'] })
  Object.assign(featureId?.schema ?? {}, { pattern: '^[0-9]{1,3}$' })
  // More than the most is cut to it, as the standard asks.
  for (const one of [limit, collections]) Object.assign(one?.schema ?? {}, { maximum: undefined })
  // Not every text is a time, a filter or the name of a column; PUT /ogc/api would be a dataset, so that it is 401.
  const checks = ['--exclude-checks', 'positive_data_acceptance,unsupported_method']
  expect(await faultsOf(described, `${live.node.url}/ogc`, checks)).toBe('')
})

test.skipIf(!hasSchemathesis)('the description of the node', { timeout }, async () => {
  const described = Object((await live.call('/openapi.json')).json)
  // It tells the parameters as texts.
  const checks = ['--exclude-checks', 'positive_data_acceptance,negative_data_rejection']
  expect(await faultsOf(described, live.node.url, ['--include-path-regex', '^/ogc', ...checks])).toBe('')
})
