// All checks of an installation: what an operator runs before the first start and when something is wrong. What `serve` says
// itself when it starts is not looked at. Nothing is changed; files that are written to try the volume are removed.

import type { Config } from '../../node/config.ts'
import { featuresBut } from '../features.ts'
import { logDriverOf, openStoreThatIs } from '../open-storage.ts'
import { dataPaths } from '../../node/store/layout.ts'
import { checkEngines } from './engines.ts'
import { fail, type Finding, reasonOf } from '../../node/upkeep/finding.ts'
import { checkPrivateFiles, checkVolumes } from './machine.ts'
import { checkState } from './state.ts'

/** Looks at everything that `config` names. Never throws: what cannot be looked at is a finding. */
export async function inspect(config: Config, onCheck: (name: string) => void): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const checks: readonly (readonly [name: string, check: () => Promise<readonly Finding[]>])[] = [
    ['volumes', () => checkVolumes(config)],
    ['files', () => checkPrivateFiles(config)],
    ['state', () => checkState(config)],
    ['engine', async () => (config.roles.includes('replica') ? await checkEngines(config) : [])],
    ['features', () => inspectFeatures(config)],
    ...(config.log === 'file' ? [] : [[config.log, () => inspectLogOf(config)] as const]),
  ]
  for (const [name, check] of checks) {
    onCheck(name)
    try {
      findings.push(...(await check()))
    } catch (error) {
      findings.push(
        fail(name, `This could not be checked: ${reasonOf(error)}`, 'Check the rights of the user who runs this.'),
      )
    }
  }
  return findings
}

async function inspectFeatures(config: Config): Promise<readonly Finding[]> {
  const paths = dataPaths(config.dataDir)
  // Why it cannot be read has been told.
  const store = await openStoreThatIs(config, 'read').catch(() => undefined)
  const features = featuresBut(config.without)
  try {
    const found = await Promise.all(features.map(async ({ inspect }) => (await inspect?.(paths, store)) ?? []))
    return found.flat()
  } finally {
    await store?.close()
  }
}

async function inspectLogOf(config: Config): Promise<readonly Finding[]> {
  const driven = await logDriverOf(config)
  return driven === undefined ? [] : driven.code.inspect(driven.options)
}
