// `bundle`: fetches from a node all that it takes to run the question of a saved answer again, into one file
// (docs/spec/bundle.md), which `verify --bundle` reads. The file appears under its name when it is whole.

import { rmSync } from 'node:fs'
import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { basename } from 'node:path'
import { BundleFault } from '../../libraries/proof/bundle/manifest.ts'
import { type NodeRoutes, nodeSource } from '../../libraries/proof/bundle/node-source.ts'
import { pinsOf } from '../../libraries/proof/bundle/read-bundle.ts'
import {
  type BundlePlan,
  type BundleSource,
  planBundle,
  writeBundle,
} from '../../libraries/proof/bundle/write-bundle.ts'
import { systemClock } from '../../index.ts'
import { verifyOffline } from '../../libraries/proof/verify.ts'
import { type NodeClient, openClient, type Sink } from '../client.ts'
import type { Args, CommandContext } from '../context.ts'
import { CommandFailure, exitCodes, failureOf, note } from '../failure.ts'
import { objectOf } from '../json-values.ts'
import { createStatusLine, printObject, progressText } from '../output.ts'
import { bundleFailure, offlineFailure } from './verify-answer.ts'

/** Saves the bundle of a saved answer, beside it unless `-o` names another file. Throws CommandFailure. */
export async function bundle(context: CommandContext, [file = '']: Args): Promise<number> {
  const proof = await readFile(file)
  const verdict = verifyOffline(proof)
  if (!verdict.ok) throw offlineFailure(verdict, file)
  const target = context.bundle ?? `${basename(file).replace(/\.json$/i, '')}.tar`
  const source = nodeSource(routesOf(await openClient(context)))
  const status = createStatusLine()
  try {
    const onBlock = (done: number, of: number): void => status.show(`block ${done} of ${of}`)
    const plan = await planBundle(proof, pinsOf(verdict.answer), { source, onBlock })
    status.clear()
    const { rows, blocks, slices, bytes } = plan.contents
    // Whoever is handed the file can read them: this is said while it can still be stopped.
    note(`the bundle holds all ${rows} rows of ${blocks} blocks, ${bytes} bytes: who has it can read them`)
    await save(plan, source, target)
    printObject(context.form, objectOf({ bundle: target, rows, blocks, slices, bytes }))
    return exitCodes.done
  } catch (error) {
    throw error instanceof BundleFault ? bundleFailure(error, target) : error
  } finally {
    status.clear()
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
function routesOf(client: NodeClient): NodeRoutes {
  return {
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
