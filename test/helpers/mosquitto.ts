// A real broker, Eclipse Mosquitto, as a process of its own on a free port. Its state lies in a directory, so that it can be
// killed and started again.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** Whether the program is installed (`apt-get install mosquitto`). */
export const hasMosquitto = spawnSync('mosquitto', ['-h']).error === undefined

export class Mosquitto {
  readonly port: number
  readonly #configFile: string
  #child: ChildProcess | undefined

  private constructor(port: number, configFile: string) {
    this.port = port
    this.#configFile = configFile
  }

  /** Starts a broker with `settings` beside what tests need. */
  static async start(settings: readonly string[] = [], listener: readonly string[] = []): Promise<Mosquitto> {
    const directory = await mkdtemp(join(tmpdir(), 'proofstream-mosquitto-'))
    const port = await freePort()
    const configFile = join(directory, 'mosquitto.conf')
    const lines = [
      'per_listener_settings false',
      'allow_anonymous true',
      'persistence true',
      `persistence_location ${directory}/`,
      'max_queued_messages 0',
      'log_dest none',
      ...(process.getuid?.() === 0 ? ['user root'] : []),
      ...settings,
      `listener ${port} 127.0.0.1`,
      ...listener,
    ]
    await writeFile(configFile, `${lines.join('\n')}\n`)
    const broker = new Mosquitto(port, configFile)
    await broker.restart()
    return broker
  }

  get url(): string {
    return `tcp://127.0.0.1:${this.port}`
  }

  /** Starts it again after `stop`. */
  async restart(): Promise<void> {
    const child = spawn('mosquitto', ['-c', this.#configFile], { stdio: 'ignore' })
    this.#child = child
    for (let tries = 0; !(await isOpen(this.port)); tries++) {
      if (child.exitCode !== null) throw new Error('mosquitto did not start')
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }

  /** `SIGTERM` lets it write its state, `SIGKILL` does not. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
