// All checks of an installation: what an operator runs before the first start and when something is wrong. What `serve` says
// itself when it starts is not looked at. Nothing is changed; files that are written to try the volume are removed.

import type { Config } from '../config.ts'
import { readBreaches } from '../../features/follow/evidence.ts'
import { dataPaths } from '../store/layout.ts'
import { type Check, fail, type Finding, reasonOf, warn } from './finding.ts'
import { checkKafka } from './kafka.ts'
import { checkPrivateFiles, checkVolumes } from './machine.ts'
import { checkState } from './state.ts'

/** Looks at everything that `config` names. Never throws: what cannot be looked at is a finding. */
export async function inspect(config: Config, onCheck: (name: string) => void): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const checks: readonly (readonly [name: string, check: Check])[] = [
    ['volumes', checkVolumes],
    ['files', checkPrivateFiles],
    ['state', checkState],
    ['evidence', checkEvidence],
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
  return findings
}

/** Chains that became others at the node that is followed. */
const checkEvidence: Check = async ({ dataDir }) => {
  const { evidence } = dataPaths(dataDir)
  return (await readBreaches(evidence)).map(({ alias, kind, at, reason, ours, theirs }) => {
    const hashes = `here ${ours.sequence} ${ours.hash}, there ${theirs.sequence} ${theirs.hash}`
    const found = `${alias} became another chain at its origin (${kind}, ${at}): ${hashes}. ${reason}`
    return warn('evidence', found, `Both blocks are in ${evidence}; docs/replicas.md says what ends the halt.`)
  })
}
