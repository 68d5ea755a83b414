// Rows on their way from a node to a file or stdout, as fast as they come: memory does not grow with them. A file appears
// under its name when it is whole; how far it is shows on a terminal.

import { createWriteStream, rmSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { PassThrough, type Readable, Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { systemClock } from '../index.ts'
import type { Answer, Call, NodeClient } from './client.ts'
import { CommandFailure, exitCodes, note } from './failure.ts'
import type { FileForm } from './file-forms.ts'
import { createStatusLine, progressText } from './output.ts'
import { toStdout } from './terminal.ts'

export interface Target {
  readonly form: FileForm
  /** Path of a file; undefined: stdout. */
  readonly path: string | undefined
}

/** Asks and saves what comes. Throws CommandFailure; then there is no file, or the one that was there before. */
export async function save(client: NodeClient, call: Call, { form, path }: Target): Promise<Answer> {
  const shape = (): Transform => (form.isArray === true ? new ArrayOfLines() : new PassThrough())
  if (path === undefined) {
    return await client.call({
      ...call,
      sink: async (body) => await copy(body, shape(), process.stdout, { end: false, through: toStdout() }),
    })
  }
  const part = `${path}.part-${process.pid}`
  const abandon = (): void => rmSync(part, { force: true })
  process.prependListener('SIGINT', abandon)
  const progress = new Progress(path)
  try {
    const answer = await client.call({
      ...call,
      sink: async (body, headers) => {
        progress.totalBytes = form.isArray === true ? undefined : lengthOf(headers['content-length'])
        body.on('data', (chunk: Uint8Array) => progress.add(chunk.length))
        await copy(body, shape(), createWriteStream(part, { flags: 'wx' }), { file: path })
      },
    })
    await rename(part, path).catch((error: unknown) => {
      throw unwritable(path, error)
    })
    progress.clear()
    note(`saved ${path}: ${progress.text}`)
    return answer
  } catch (error) {
    abandon()
    throw error
  } finally {
    progress.clear()
    process.off('SIGINT', abandon)
  }
}

/** Throws CommandFailure where `to` cannot be written; all else is the connection's. */
async function copy(
  body: Readable,
  shape: Transform,
  to: Writable,
  { file, end = true, through }: { readonly file?: string; readonly end?: boolean; readonly through?: Transform },
): Promise<void> {
  // A fault of one stream ends the other with the same error.
  let first: 'body' | 'to' | undefined
  const onLost = (): void => void (first ??= 'body')
  const onUnwritable = (): void => void (first ??= 'to')
  body.once('error', onLost)
  to.once('error', onUnwritable)
  try {
    await pipeline([body, shape, ...(through === undefined ? [] : [through]), to], { end })
  } catch (error) {
    throw first === 'to' ? unwritable(file ?? 'stdout', error) : error
  } finally {
    body.off('error', onLost)
    to.off('error', onUnwritable)
  }
}

function unwritable(file: string, cause: unknown): CommandFailure {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new CommandFailure(exitCodes.environment, `${file} cannot be written: ${reason}`, { cause })
}

function lengthOf(header: string | undefined): number | undefined {
  return header === undefined ? undefined : Number(header)
}

class Progress {
  totalBytes: number | undefined
  readonly #label: string
  readonly #status = createStatusLine()
  readonly #beganMs = systemClock.monotonicMs()
  #doneBytes = 0

  constructor(label: string) {
    this.#label = label
  }

  /** `12.3 MB in 1.5 s` */
  get text(): string {
    const seconds = (systemClock.monotonicMs() - this.#beganMs) / 1000
    return `${(this.#doneBytes / 1_000_000).toFixed(this.#doneBytes < 100_000 ? 3 : 1)} MB in ${seconds.toFixed(1)} s`
  }

  add(bytes: number): void {
    this.#doneBytes += bytes
    const state = { doneBytes: this.#doneBytes, totalBytes: this.totalBytes }
    this.#status.show(progressText(this.#label, { ...state, elapsedMs: systemClock.monotonicMs() - this.#beganMs }))
  }

  clear(): void {
    this.#status.clear()
  }
}

/** Lines of JSON values as one array of them, a value a line. */
export class ArrayOfLines extends Transform {
  /** What stands before the next byte: the start, nothing, or a line end that may be the last. */
  #before: 'start' | 'nothing' | 'line end' = 'start'

  override _transform(chunk: Buffer, _encoding: string, done: () => void): void {
    if (chunk.length === 0) return done()
    const text = chunk.toString('latin1')
    const isEnded = text.endsWith('\n')
    const lines = (isEnded ? text.slice(0, -1) : text).replaceAll('\n', ',\n')
    const opening = { start: '[\n', nothing: '', 'line end': ',\n' }[this.#before]
    this.push(Buffer.from(opening + lines, 'latin1'))
    this.#before = isEnded ? 'line end' : 'nothing'
    done()
  }

  override _flush(done: () => void): void {
    this.push(this.#before === 'start' ? '[]\n' : '\n]\n')
    done()
  }
}
