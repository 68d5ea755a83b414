// Which version of a file a reader has begun with. Readers of parts ask for one after the other, at the URL they were given:
// they come back to it where it redirects, and compare no tags. A URL that names no block would answer them with parts of
// another file once rows came; so it stays with the file that they began with.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../libraries/base/clock.ts'
import type { OpenFile } from '../answers/files.ts'

/** A caller that asks where a file begins or ends begins to read it, unless a reading has been going on until so short a time ago, */
const sameReadingMs = 5_000
/** and began so short a time ago: others come again and again. */
const longestShareMs = 60_000
/** A reader that asks for a part later than this has given up. */
const longestPauseMs = 60 * 60_000
const mostReadings = 256

interface Reading {
  readonly file: OpenFile
  /** Requests under way. */
  active: number
  /** Its first bytes were asked for since its end was. */
  isFromStart: boolean
  readonly beganMs: number
  lastMs: number
}

export class Readings {
  readonly #clock: Clock
  /** By reader and file; the one that was used last is the last. */
  readonly #readings = new Map<string, Reading>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * The version of the file `newest` that this request of `reader` is about: the one that it began with at this URL, while
   * `isThere` says that its bytes are.
   */
  versionFor(
    request: FastifyRequest,
    reply: FastifyReply,
    {
      reader,
      newest,
      isThere,
    }: { readonly reader: string; readonly newest: OpenFile; readonly isThere: (tag: string | undefined) => boolean },
  ): OpenFile {
    const { method, headers, url } = request
    if (!(method === 'HEAD' || headers.range !== undefined)) return newest
    const key = JSON.stringify([reader, headers['user-agent'], headers.accept, url])
    const held = this.#readings.get(key)
    const asksForEnd = method === 'HEAD' || headers.range?.startsWith('bytes=-') === true
    const asksForStart = headers.range?.startsWith('bytes=0-') === true
    const nowMs = this.#clock.monotonicMs()
    const pauseMs = held === undefined || held.active > 0 ? 0 : nowMs - held.lastMs
    const startsOver = asksForStart && held?.isFromStart === true && held.active === 0 && !headers['if-range']
    const goesOn =
      held !== undefined &&
      !startsOver &&
      (asksForEnd || asksForStart
        ? pauseMs <= sameReadingMs && nowMs - held.beganMs <= longestShareMs
        : pauseMs <= longestPauseMs) &&
      isThere(held.file.tag) &&
      areSame(held.file, newest)
    const reading: Reading = goesOn ? held : { file: newest, active: 0, isFromStart: false, beganMs: nowMs, lastMs: 0 }
    reading.isFromStart = asksForStart || (reading.isFromStart && !asksForEnd)
    this.#readings.delete(key)
    this.#readings.set(key, reading)
    const [oldest] = this.#readings.keys()
    if (this.#readings.size > mostReadings && oldest !== undefined) this.#readings.delete(oldest)
    reading.active++
    reply.raw.once('close', () => {
      reading.active--
      reading.lastMs = this.#clock.monotonicMs()
    })
    return reading.file
  }
}

/** Rights were judged over the datasets that names mean now: the version is of those. */
function areSame(one: OpenFile, other: OpenFile): boolean {
  const ids = ({ heads }: OpenFile): string => JSON.stringify(heads.map(({ id }) => id).sort())
  return ids(one) === ids(other)
}
