// All checks of an installation that need no node: what an operator runs before the first start and when something is
// wrong. Nothing is changed; files that are written to try the volume are removed.

import type { Config } from '../config.ts'
import { type Check, fail, type Finding, reasonOf } from './finding.ts'
import {
  checkAddress,
  checkDirectories,
  checkNodeVersion,
  checkOpenFiles,
  checkPrivateFiles,
  checkVolumes,
} from './machine.ts'
import { checkEngine, checkKafka } from './services.ts'
import { checkState } from './state.ts'

export interface Inspection {
  readonly findings: readonly Finding[]
  /** A node has the data directory now. */
  readonly isRunning: boolean
}

/** Looks at everything that `config` names on this machine. Never throws: what cannot be looked at is a finding. */
export async function inspect(config: Config, onCheck: (name: string) => void): Promise<Inspection> {
  const findings: Finding[] = []
  let isRunning = false
  const checkStored: Check = async () => {
    const found: Finding[] = []
    isRunning = await checkState(config, found)
    return found
  }
  const checks: readonly (readonly [name: string, check: Check])[] = [
    ['node', checkNodeVersion],
    ['open files', checkOpenFiles],
    ['directories', checkDirectories],
    ['volumes', checkVolumes],
    ['files', checkPrivateFiles],
    ['state', checkStored],
    ['address', async () => (isRunning ? [] : checkAddress(config))],
    ...(config.roles.includes('replica') ? [['engine', checkEngine] as const] : []),
    ...(config.kafka === undefined ? [] : [['kafka', checkKafka] as const]),
  ]
  for (const [name, check] of checks) {
    onCheck(name)
    try {
      findings.push(...(await check(config)))
    } catch (error) {
      findings.push(
        fail(name, `This could not be checked: ${reasonOf(error)}`, 'Check the rights of the user who runs this.'),
      )
    }
  }
  return { findings, isRunning }
}
