// What strangers may hold of a process that is a witness alone: its requests are short, so connections are few and do not last.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** A client that takes longer for a request, or keeps still for as long, loses its connection. */
const requestMs = 15_000
export const connectionsMost = 512

/** Where more than `most` are open, the oldest goes of the address that has most of them, so that it keeps nobody else out. */
export function boundConnections(server: Server, most: number): void {
  server.requestTimeout = requestMs
  server.keepAliveTimeout = requestMs
  // Of a connection on which nothing moves, also of one that takes no answer.
  server.timeout = requestMs
  const byAddress = new Map<string, Set<Socket>>()
  let count = 0
  server.on('connection', (socket) => {
    const { remoteAddress = '' } = socket
    const own = byAddress.get(remoteAddress) ?? new Set<Socket>()
    byAddress.set(remoteAddress, own.add(socket))
    count++
    socket.once('close', () => {
      count--
      own.delete(socket)
      if (own.size === 0) byAddress.delete(remoteAddress)
    })
    if (count <= most) return
    const [oldest] = [...byAddress.values()].reduce((one, other) => (other.size > one.size ? other : one))
    oldest?.destroy()
  })
}
