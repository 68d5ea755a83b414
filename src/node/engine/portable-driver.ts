// The driver of a portable engine outside a browser: speaks as a worker does. Only bytes run whose hashes were checked here,
// and they are given nothing of Node.js that reaches files, network or other processes.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { compileFunction } from 'node:vm'
import { decodeUtf8, toHex } from '../../libraries/base/bytes.ts'
import { nextTurn } from '../../libraries/base/clock.ts'
import { sha256 } from '../../libraries/base/ids/native-crypto.ts'
import { EngineFailure, type EnginePort, type PortListener } from '../../libraries/proof/rerun/engine.ts'
import type { KnownFile, PortableModule } from './portable-module.ts'

/** What the driver may load. */
const harmless = ['events', 'os', 'path', 'stream', 'util']

/** Starts the driver; one in a process. `onStep`: told before it is asked for something more. Throws EngineFailure. */
export function connectDriver(
  files: Pick<PortableModule, 'module' | 'driver'>,
  listener: PortListener,
  onStep: () => Promise<void>,
): EnginePort {
  const module = known(files.module)
  const load = createRequire(import.meta.url)
  const given = new Map<string, unknown>(harmless.map((name) => [name, load(`node:${name}`)]))
  given.set('fs', { readFileSync: () => module })
  Object.assign(globalThis, { postMessage: listener.answer })
  const script = compileFunction(decodeUtf8(known(files.driver)), ['require', 'module', '__dirname'])
  script((name: string) => given.get(name.replace('node:', '')) ?? {}, { exports: {} }, '')
  const tell = Reflect.get(globalThis, 'onmessage') as (event: { readonly data: object }) => Promise<void> // set by the driver
  return {
    send: (message) => {
      const isTurn = /^(?:POLL|FETCH)/.test(message.type)
      void (isTurn ? nextTurn() : onStep()).then(async () => await tell({ data: message }))
    },
    close: () => {},
  }
}

/** The bytes of a file. Throws EngineFailure where they are others. */
function known({ path, digest }: KnownFile): Uint8Array {
  const bytes = readFileSync(path)
  // mutant: any portable engine runs
  if (toHex(sha256(bytes)) === digest) return bytes
  throw new EngineFailure('its files are others than those that the release knows')
}
