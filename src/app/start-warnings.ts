// What the operator of a node is warned of when it has started: how it can be reached, how many files it may open.

import { strayVariables } from './config.ts'
import type { Config } from '../node/config.ts'
import { openFilesWarning } from '../node/machine/disk/open-files.ts'
import type { Logger } from '../libraries/base/logger.ts'

/** Warns in the log, with what to do. */
export async function warnAtStart(config: Config, logger: Logger): Promise<void> {
  for (const variable of strayVariables(config)) {
    logger.warn({ variable }, 'This variable names no option, and nothing reads it; proofstream serve --help lists all')
  }
  warnOfNetwork(config, logger)
  const fewFiles = await openFilesWarning(config.limits)
  if (fewFiles !== undefined) logger.warn({}, fewFiles)
}

function warnOfNetwork({ loopbackOnly, allowedHosts }: Config, logger: Logger): void {
  if (loopbackOnly) return
  logger.warn({}, 'This node speaks plain HTTP to the network: put it behind TLS')
  if (allowedHosts.length > 0) return
  logger.warn(
    {},
    'This node answers to any Host name, also to one that a page of another site gives it: name its own with --public-url',
  )
}
