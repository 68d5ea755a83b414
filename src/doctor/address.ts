// Whether the address that a node is to listen on can be had, while no node of these options runs.

import { createServer } from 'node:net'
import type { Config } from '../config.ts'
import { fail, type Finding, hasCode, ok, reasonOf } from './finding.ts'

/** Listens for a moment. */
export async function checkAddress({ listenHost, listenPort }: Config): Promise<readonly Finding[]> {
  const address = `${listenHost}:${listenPort}`
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(listenPort, listenHost, resolve)
    })
    await new Promise((resolve) => server.close(resolve))
    return [ok('address', `${address} is free.`)]
  } catch (error) {
    const found = hasCode(error, 'EADDRINUSE') ? 'is in use' : `cannot be listened on: ${reasonOf(error)}`
    return [fail('address', `${address} ${found}.`, 'Stop what listens there, or choose another with --listen.')]
  }
}
