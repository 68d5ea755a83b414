// `verify`: of one saved answer or bundle it prints all that a program may want to know (verify-answer.ts), of other kinds and of
// many files a report each (verify-files.ts).

import { decoded } from '../../libraries/base/errors.ts'
import { parseDidKey } from '../../libraries/base/ids/identifiers.ts'
import { kindOfFile } from '../../libraries/ledger/file-kind.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes } from '../failure.ts'
import { archiveKind, readGiven } from '../given-file.ts'
import { checkAnswer, tell, type VerifyOptions } from './verify-answer.ts'
import { verifyFiles } from './verify-files.ts'

/** Checks the files (`-`: stdin). Throws CommandFailure when a single answer is no proof, is wrong or cannot be checked. */
export async function verify(context: CommandContext, files: Args, options: VerifyOptions): Promise<number> {
  const [file = ''] = files
  if (options.signer !== undefined) demandKey(options.signer)
  if (options.bundle === true) for (const one of files) refuseAsBundle(one, options)
  if (files.length > 1) return await verifyFiles(context, { files, given: undefined }, options)
  const archive = options.bundle === true ? 'tar' : await archiveKind(file)
  if (archive === 'pack') return await verifyFiles(context, { files, given: undefined }, options)
  if (archive === 'tar') {
    const { checkBundleFile } = await import('./verify-bundle.ts')
    return tell(context, await checkBundleFile(context, file, options), { ...options, file })
  }
  const bytes = await readGiven(file)
  const kind = kindOfFile(bytes)
  if (kind.kind !== 'other') return await verifyFiles(context, { files, given: { bytes, kind } }, options)
  return tell(context, await checkAnswer(context, bytes, { ...options, file }), { ...options, file })
}

/** A name that is no key would make a forgery of each true file. */
function demandKey(signer: string): void {
  if (decoded(() => parseDidKey(signer)) !== undefined) return
  throw new CommandFailure(exitCodes.usage, `--signer is '${signer}', which is no key such as did:key:z6Mk….`)
}

function refuseAsBundle(file: string, options: VerifyOptions): void {
  if (options.offline !== true && file !== '-') return
  const why = file === '-' ? 'A bundle is a file, not stdin.' : '--bundle asks no node: --offline does not go with it.'
  throw new CommandFailure(exitCodes.usage, why)
}
