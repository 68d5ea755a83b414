// Requests of one connection are handled one after the other, and no more of them are read than one chunk holds: who
// sends without waiting for answers is held back by TCP, not held in memory.

import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

interface Connection {
  /** A request is being handled. */
  isBusy: boolean
  /** Those that have been read and wait for their turn. */
  readonly waiting: (() => void)[]
}

/** Registered before all other hooks: a request that waits for its turn has cost nothing but its header. */
export function registerOneAtATime(app: FastifyInstance): void {
  const connections = new WeakMap<Socket, Connection>()
  const connectionOf = (socket: Socket): Connection => {
    const known = connections.get(socket)
    if (known !== undefined) return known
    const connection: Connection = { isBusy: false, waiting: [] }
    connections.set(socket, connection)
    // Whoever reads a body resumes the connection.
    socket.on('resume', () => {
      if (connection.waiting.length > 0) socket.pause()
    })
    return connection
  }
  app.addHook('onRequest', ({ raw: { socket } }, _reply, done) => {
    const connection = connectionOf(socket)
    if (connection.isBusy) {
      connection.waiting.push(done)
      socket.pause()
      return
    }
    connection.isBusy = true
    done()
  })
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    done()
    const socket = raw.socket as Socket | null // none where the request was broken off
    if (socket === null) return
    const connection = connectionOf(socket)
    const next = connection.waiting.shift()
    connection.isBusy = next !== undefined
    if (next === undefined || connection.waiting.length > 0) return next?.()
    socket.resume()
    next()
  })
}
