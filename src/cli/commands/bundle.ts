// `bundle`: fetches from a node all that it takes to run the question of a saved answer again, into one file
// (docs/spec/bundle.md), which `verify --bundle` reads. The file appears under its name when it is whole.

import { rmSync } from 'node:fs'
import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { basename } from 'node:path'
import { BundleFault } from '../../libraries/proof/bundle/manifest.ts'
import { type NodeRoutes, nodeSource } from '../../libraries/proof/bundle/node-source.ts'
import { askedOf } from '../../libraries/proof/bundle/read-bundle.ts'
import {
  type BundlePlan,
  type BundleSource,
  planBundle,
  writeBundle,
} from '../../libraries/proof/bundle/write-bundle.ts'
import { systemClock } from '../../index.ts'
import { judgeBlockProof } from '../../libraries/ledger/judge-proof.ts'
import { verifyOffline } from '../../libraries/proof/verify.ts'
import { type NodeClient, openClient, type Sink } from '../client.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, failureOf, note } from '../failure.ts'
import { objectOf } from '../../libraries/base/json/members.ts'
import { createStatusLine, printObject, progressText } from '../output.ts'
import { offlineFailure } from './verify-answer.ts'
import { bundleFailure } from './verify-bundle.ts'

export interface BundleOptions {
  /** With the proof that the ledger has each block which the answer names. */
  readonly ledger?: boolean
}

/** Saves the bundle of a saved answer, beside it unless `-o` names another file. Throws CommandFailure. */
export async function bundle(context: CommandContext, [file = '']: Args, options: BundleOptions): Promise<number> {
  const proof = await readFile(file)
  const verdict = verifyOffline(proof)
  if (!verdict.ok) throw offlineFailure(verdict, file)
  const target = context.path ?? `${basename(file).replace(/\.json$/i, '')}.tar`
  const source = nodeSource(await routesOf(await openClient(context), options))
  const { neededEngine } = await import('../../node/engine/needed-engine.ts')
  const status = createStatusLine()
  try {
    const onBlock = (done: number, of: number): void => status.show(`block ${done} of ${of}`)
    const { pins, dialect } = askedOf(verdict.answer)
    const plan = await planBundle({ proof, pins, engine: neededEngine(dialect) }, { source, onBlock })
    checkLedger(plan)
    status.clear()
    const { rows, blocks, slices, bytes } = plan.contents
    // Anyone who has the file can read them: this is said while it can still be stopped.
    note(`the bundle holds all ${rows} rows of ${blocks} blocks, ${bytes} bytes. Anyone who has the file can read them`)
    await save(plan, source, target)
    const ledger = options.ledger === true ? plan.ledger.length : undefined
    printObject(context.form, objectOf({ bundle: target, rows, blocks, slices, ledger, bytes }))
    return exitCodes.done
  } catch (error) {
    throw error instanceof BundleFault ? bundleFailure(error, target) : error
  } finally {
    status.clear()
  }
}

/** What the node gave for proofs of the ledger must be such. Throws BundleFault. */
function checkLedger({ manifest, ledger }: BundlePlan): void {
  for (const [at, { id, block }] of manifest.ledger.entries()) {
    const judged = judgeBlockProof(ledger[at] ?? new Uint8Array(), { dataset: id, block })
    if (judged.verdict !== 'altered') continue
    throw new BundleFault('failed', `What the node gave as proof of block ${block} of ${id} is none: ${judged.reason}.`)
  }
}

async function save(plan: BundlePlan, source: BundleSource, target: string): Promise<void> {
  const part = `${target}.part-${process.pid}`
  const abandon = (): void => rmSync(part, { force: true })
  process.prependListener('SIGINT', abandon)
  const status = createStatusLine()
  const beganMs = systemClock.monotonicMs()
  let handle: FileHandle | undefined
  let doneBytes = 0
  try {
    handle = await open(part, 'wx', 0o600).catch(unwritable(target))
    const to = handle
    await writeBundle(plan, source, async (bytes) => {
      await to.writeFile(bytes).catch(unwritable(target))
      doneBytes += bytes.length
      const elapsedMs = systemClock.monotonicMs() - beganMs
      status.show(progressText(target, { doneBytes, totalBytes: plan.contents.bytes, elapsedMs }))
    })
    await handle.close()
    await rename(part, target).catch(unwritable(target))
  } catch (error) {
    await handle?.close()
    abandon()
    throw error
  } finally {
    status.clear()
    process.off('SIGINT', abandon)
  }
}

function unwritable(target: string): (cause: unknown) => never {
  return (cause) => {
    throw new CommandFailure(exitCodes.environment, `${target} cannot be written: ${failureOf(cause).message}`, {
      cause,
    })
  }
}

/** How a node is asked for what goes into a bundle. */
export async function routesOf(client: NodeClient, { ledger = false }: BundleOptions): Promise<NodeRoutes> {
  const { askForProof } = ledger ? await import('./ledger.ts') : {}
  return {
    ...(askForProof && { ledgerProof: async (path) => (await askForProof(client, path, 'tlog-proof')).bytes }),
    json: async (path) => (await client.call({ path })).json(),
    bytes: async (path, take) => {
      let fault: unknown
      const sink: Sink = async (body) => {
        for await (const piece of body) {
          // no encoding is set
          await take(piece as Uint8Array).catch((error: unknown) => {
            fault = error
            throw error
          })
        }
      }
      await client.call({ path, headers: { accept: 'application/octet-stream' }, sink }).catch((error: unknown) => {
        throw fault ?? error
      })
    },
  }
}
