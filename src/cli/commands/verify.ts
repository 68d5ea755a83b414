// `verify`: one saved answer or bundle is explained in full (verify-answer.ts); files of other kinds, and many files, in a line each
// (verify-files.ts). What an answer does not need is not loaded for it.

import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes } from '../failure.ts'
import { isTar, readGiven } from '../given-file.ts'
import { checkAnswer, tell, type VerifyOptions } from './verify-answer.ts'
import type { GivenFile } from './verify-files.ts'

/**
 * Checks the files (`-`: stdin). One answer is told in full; other kinds, and many files, in a line each. Throws CommandFailure
 * when a single answer is no proof, is wrong or cannot be checked.
 */
export async function verify(context: CommandContext, files: Args, options: VerifyOptions): Promise<number> {
  const [file = ''] = files
  if (options.bundle === true) for (const one of files) refuseAsBundle(one, options)
  if (files.length > 1) return await verifyMany(context, files, options)
  if (options.bundle === true || (await isTar(file))) {
    const { checkBundleFile } = await import('./verify-bundle.ts')
    return tell(context, await checkBundleFile(context, file, options), { ...options, file })
  }
  const bytes = await readGiven(file)
  if (!isAnswer(bytes)) {
    const { kindOfFile } = await import('../../libraries/ledger/file-kind.ts')
    const kind = kindOfFile(bytes)
    if (kind.kind !== 'other') return await verifyMany(context, files, options, { bytes, kind })
  }
  return tell(context, await checkAnswer(context, bytes, { ...options, file }), { ...options, file })
}

async function verifyMany(
  context: CommandContext,
  files: Args,
  options: VerifyOptions,
  given?: GivenFile,
): Promise<number> {
  const { verifyFiles } = await import('./verify-files.ts')
  return await verifyFiles(context, { files, given }, options)
}

/** By its first member: an answer has members that no other kind has, and may be large. */
function isAnswer(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 64)).toString('latin1')
  return /^\s*\{\s*"(?:commitment|input|output|subQueries)"/.test(start)
}

function refuseAsBundle(file: string, options: VerifyOptions): void {
  if (options.offline !== true && file !== '-') return
  const why = file === '-' ? 'A bundle is a file, not stdin.' : '--bundle asks no node: --offline does not go with it.'
  throw new CommandFailure(exitCodes.usage, why)
}
