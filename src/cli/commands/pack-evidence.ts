// `pack-evidence`: one zip with all that shows what datasets hold, for somebody who has no account at the node. It appears under its
// name when it is whole. What goes into it is gathered by libraries/evidence/pack.

import { randomUUID } from 'node:crypto'
import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { appendFile, readFile, rename, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { systemClock } from '../../index.ts'
import { decodeUtf8 } from '../../libraries/base/bytes.ts'
import { defined } from '../../libraries/base/collections.ts'
import { checkMade, gatherPack, type PackNode } from '../../libraries/evidence/pack/gather.ts'
import type { Shelf } from '../../libraries/evidence/pack/make-pack.ts'
import { PackFault } from '../../libraries/evidence/pack/zip.ts'
import { BundleFault } from '../../libraries/proof/bundle/manifest.ts'
import { nodeSource } from '../../libraries/proof/bundle/node-source.ts'
import { type NodeClient, openClient } from '../client.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, note } from '../failure.ts'
import { objectOf } from '../../libraries/base/json/members.ts'
import { createStatusLine, printObject } from '../output.ts'
import { bundleFailure } from './verify-bundle.ts'
import { routesOf } from './bundle.ts'
import { signedAnswer } from './query.ts'

export interface PackOptions {
  /** Files with a statement, or with a saved answer. */
  readonly query?: readonly string[]
  /** Ids, or files of saved receipts. */
  readonly receipt?: readonly string[]
  readonly from?: string
  readonly to?: string
  readonly head?: number
}

/** Throws CommandFailure. */
export async function packEvidence(context: CommandContext, datasets: Args, options: PackOptions): Promise<number> {
  const { path: target } = context
  if (target === undefined) throw new CommandFailure(exitCodes.usage, 'A pack is a file: -o pack.zip.')
  const client = await openClient(context)
  const folder = mkdtempSync(join(dirname(target), `.${basename(target)}.`))
  const clean = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', clean)
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(exitCodes.interrupted))
  const status = createStatusLine()
  const say = (what: string): void => status.show(what)
  try {
    const node = { ...(await nodeOf(client)), say, shelf: async () => shelfIn(folder) }
    const { query = [], receipt = [], from, to, head } = options
    const answers = await Promise.all(query.map(answerIn))
    const receipts = await Promise.all(receipt.map(async (one) => await readFile(one).catch(() => one)))
    const pack = await gatherPack({ datasets, answers, receipts, from, to, head }, node)
    const whole = shelfIn(folder)
    await pack.write(whole.write)
    await checkMade(pack, whole.read(), systemClock.nowMs())
    await rename(whole.file, target)
    status.clear()
    printObject(context.form, objectOf({ pack: target, bytes: (await stat(target)).size }))
    note(`anyone who has ${target} can read all rows in it. Check it with: proofstream verify ${target} --policy FILE`)
    return exitCodes.done
  } catch (error) {
    if (error instanceof BundleFault) throw bundleFailure(error, target)
    if (!(error instanceof PackFault)) throw error
    const code = error.verdict === 'altered' ? exitCodes.verificationFailed : exitCodes.verificationImpossible
    throw new CommandFailure(code, error.sentence, { cause: error })
  } finally {
    status.clear()
    clean()
  }
}

async function nodeOf(client: NodeClient): Promise<Omit<PackNode, 'shelf' | 'say'>> {
  const { neededEngine } = await import('../../node/engine/needed-engine.ts')
  return {
    get: async (path) =>
      await client.call({ path, headers: { accept: 'application/json, */*;q=0.1' }, accepts: [404, 409, 503] }),
    source: nodeSource(await routesOf(client, {})),
    ask: async (query, pin) => {
      const datasets = pin && [objectOf({ ...pin })]
      return (await signedAnswer(client, { query, limit: undefined, ...defined({ datasets }) })).bytes
    },
    engineOf: neededEngine,
  }
}

/** A saved answer, or the text of a statement. */
async function answerIn(file: string): Promise<Uint8Array | string> {
  const bytes = await readFile(file)
  return bytes.toString('latin1').trimStart().startsWith('{') ? bytes : decodeUtf8(bytes)
}

/** A file that is written once, and then read. */
function shelfIn(folder: string): Shelf & { readonly file: string } {
  const file = join(folder, randomUUID())
  return {
    file,
    write: async (bytes) => await appendFile(file, bytes, { mode: 0o600 }),
    read: () => createReadStream(file),
  }
}
