// A headless Chromium for tests of pages, driven over its own protocol by a pipe (https://chromedevtools.github.io/devtools-protocol).
// Everything that a page may not do is collected: requests, messages of the console, violations of its policy, dialogs.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

const programs = ['chromium', 'chromium-browser', 'google-chrome']

/** The command of a Chromium on this machine. */
export const chromium = programs.find((name) => spawnSync(name, ['--version']).status === 0)
if (chromium === undefined) {
  const message = 'no page is tested in a browser: apt-get install chromium'
  if (process.env['CI'] === 'true') throw new Error(message)
  console.warn(`NOT RUN: ${message}`)
}

type Json = Readonly<Record<string, unknown>>

interface Waiting {
  readonly resolve: (result: Json) => void
  readonly reject: (error: Error) => void
}

export interface Page {
  /** Runs one command of the protocol. */
  readonly send: (method: string, parameters?: Json) => Promise<Json>
  /** Value of an expression in the page; promises are awaited. */
  readonly evaluate: (expression: string) => Promise<unknown>
  readonly open: (url: string) => Promise<void>
  /** Puts files into the field that the selector finds. */
  readonly choose: (selector: string, files: readonly string[]) => Promise<void>
  /** PNG of the whole page. */
  readonly screenshot: () => Promise<Buffer>
  /** What a page of ours never does; empty after this call. */
  readonly faults: () => readonly string[]
}

export interface Browser {
  readonly page: () => Promise<Page>
  readonly close: () => Promise<void>
}

/** Starts the browser. Throws when there is none. */
export async function startChromium(): Promise<Browser> {
  if (chromium === undefined) throw new Error(`none of ${programs.join(', ')} is on this machine`)
  const home = mkdtempSync(join(tmpdir(), 'proofstream-chromium-'))
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run']
  const child = spawn(chromium, [...flags, '--remote-debugging-pipe', `--user-data-dir=${home}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: home },
  })
  const connection = new Connection(child)
  return {
    page: () => openPage(connection),
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      await connection.send('Browser.close', {})
      await ended
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Messages of the protocol: JSON, each ended by a zero byte. */
class Connection {
  readonly #input: Writable
  readonly #waiting = new Map<number, Waiting>()
  readonly listeners = new Map<string, (method: string, parameters: Json) => void>()
  #next = 1
  #rest = ''

  constructor(child: ChildProcess) {
    this.#input = child.stdio[3] as Writable
    const output = child.stdio[4] as Readable
    output.setEncoding('utf8').on('data', (text: string) => this.#take(text))
    child.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the browser ended'))
    })
  }

  send(method: string, params: Json, sessionId?: string): Promise<Json> {
    const id = this.#next++
    this.#input.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`)
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  #take(text: string): void {
    const messages = (this.#rest + text).split('\0')
    this.#rest = messages.pop() ?? ''
    for (const message of messages) this.#handle(JSON.parse(message))
  }

  #handle(message: {
    id?: number
    result?: Json
    error?: { message: string }
    method?: string
    params?: Json
    sessionId?: string
  }): void {
    if (message.id === undefined) {
      this.listeners.get(message.sessionId ?? '')?.(message.method ?? '', message.params ?? {})
      return
    }
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.error === undefined) waiting?.resolve(message.result ?? {})
    else waiting?.reject(new Error(message.error.message))
  }
}

async function openPage(connection: Connection): Promise<Page> {
  const { targetId } = await connection.send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await connection.send('Target.attachToTarget', { targetId, flatten: true })
  const send = (method: string, parameters: Json = {}): Promise<Json> =>
    connection.send(method, parameters, String(sessionId))
  let faults: string[] = []
  let opened = ''
  /** Of the document that has loaded last. */
  let loaded = ''
  let onLoad = (): void => {}
  connection.listeners.set(String(sessionId), (method, parameters) => {
    const text = JSON.stringify(parameters)
    if (method === 'Page.lifecycleEvent' && parameters['name'] === 'load') {
      loaded = String(parameters['loaderId'])
      onLoad()
    }
    if (method === 'Network.requestWillBeSent') {
      const { url } = parameters['request'] as { url: string }
      // Of a page that was opened before, the icon may come late.
      const asking = parameters['type'] === 'Document' ? opened : String(parameters['documentURL'])
      const isOwn = /^https?:/.test(asking) && new URL(url).origin === new URL(asking).origin
      // Pictures of the browser's own fields are data.
      if (url !== opened && !isOwn && !url.startsWith('data:')) faults.push(`request: ${url}`)
    }
    if (method === 'Page.javascriptDialogOpening') {
      faults.push(`dialog: ${text}`)
      void send('Page.handleJavaScriptDialog', { accept: false })
    }
    if (['Runtime.consoleAPICalled', 'Runtime.exceptionThrown', 'Log.entryAdded', 'Audits.issueAdded'].includes(method))
      faults.push(`${method}: ${text}`)
  })
  for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'Audits', 'DOM']) await send(`${domain}.enable`)
  await send('Page.setLifecycleEventsEnabled', { enabled: true })
  return {
    send,
    async evaluate(expression) {
      const answer = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
      const { result, exceptionDetails } = answer as { result: { value?: unknown }; exceptionDetails?: unknown }
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
      return result.value
    },
    async open(url) {
      opened = url
      const { loaderId } = await send('Page.navigate', { url })
      // What loads meanwhile may be the page before it. Within a document nothing loads.
      while (loaderId !== undefined && loaded !== loaderId) {
        await new Promise<void>((resolve) => {
          onLoad = resolve
        })
      }
    },
    async choose(selector, files) {
      const { root } = (await send('DOM.getDocument')) as { root: { nodeId: number } }
      const { nodeId } = await send('DOM.querySelector', { nodeId: root.nodeId, selector })
      await send('DOM.setFileInputFiles', { files, nodeId })
    },
    async screenshot() {
      const { data } = await send('Page.captureScreenshot', { captureBeyondViewport: true })
      return Buffer.from(String(data), 'base64')
    },
    faults() {
      const found = faults
      faults = []
      return found
    },
  }
}
