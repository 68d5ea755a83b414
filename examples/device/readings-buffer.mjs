// Readings on disk until they are known to be durable elsewhere, numbered one after the other. A file has some of them and is
// named by epoch and number of its first; it goes when all in it are durable, but for the newest one: its
// name is what the next number is known by. A device that has lost its directory begins a higher epoch.

import { fsyncSync, mkdirSync, openSync, closeSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export class ReadingsBuffer {
  /** Number of the first reading that is not known to be durable. */
  first
  epoch
  bytes = 0
  #dir
  #mostBytes
  /** Oldest first: number of its first line, its lines, their bytes. */
  #files = []

  constructor(dir, mostBytes) {
    this.#mostBytes = mostBytes
    mkdirSync(dir, { recursive: true })
    this.#dir = dir
    for (const name of readdirSync(dir).sort()) {
      const [, epoch, number] = /^(\d{15})-(\d{15})\.ndjson$/.exec(name) ?? []
      if (number === undefined) continue
      this.epoch = Number(epoch)
      // A line without its end was cut off while it was written: it was never sent.
      const lines = readFileSync(join(dir, name), 'utf8').split('\n').slice(0, -1)
      this.#files.push({ name, first: Number(number), lines: [], bytes: 0 })
      for (const line of lines) this.#add(line)
    }
    this.epoch ??= Date.now()
    this.first = this.#files[0]?.first ?? 0
    if (this.#files.length === 0) this.#begin(0)
    else this.#write(this.#files.at(-1))
  }

  get isFull() {
    return this.bytes >= this.#mostBytes
  }

  /** Number of the next reading. */
  get next() {
    const { first, lines } = this.#files.at(-1)
    return first + lines.length
  }

  /** Keeps a reading; it is on disk when this returns, so that no other ever gets its number. */
  append(line) {
    if (this.#isLong(this.#files.at(-1))) this.#begin(this.next)
    const fd = openSync(this.#path(this.#files.at(-1)), 'a')
    writeSync(fd, `${line}\n`)
    fsyncSync(fd)
    closeSync(fd)
    this.#add(line)
  }

  line(number) {
    const { first, lines } = this.#files.findLast((file) => file.first <= number)
    return lines[number - first]
  }

  /** A blank line from now on. */
  giveUp(number) {
    const file = this.#files.findLast((one) => one.first <= number)
    file.lines[number - file.first] = ''
    this.#write(file)
  }

  /** Readings up to number `last` are durable. */
  release(last) {
    this.first = Math.max(this.first, last + 1)
    if (this.first === this.next && this.#isLong(this.#files.at(-1))) this.#begin(this.next)
    while (this.#files.length > 1 && this.#files[1].first <= this.first) {
      const file = this.#files.shift()
      this.bytes -= file.bytes
      rmSync(this.#path(file))
    }
  }

  #isLong({ bytes }) {
    return bytes >= Math.min(this.#mostBytes / 4, 256 * 1024)
  }

  #add(line) {
    const file = this.#files.at(-1)
    const bytes = Buffer.byteLength(line) + 1
    file.lines.push(line)
    file.bytes += bytes
    this.bytes += bytes
  }

  #begin(first) {
    const digits = (number) => String(number).padStart(15, '0')
    const file = { name: `${digits(this.epoch)}-${digits(first)}.ndjson`, first, lines: [], bytes: 0 }
    this.#files.push(file)
    this.#write(file)
  }

  /** Replaces the file by its lines, whole or not at all. */
  #write(file) {
    const path = this.#path(file)
    const fd = openSync(`${path}.new`, 'w')
    writeSync(fd, file.lines.map((line) => `${line}\n`).join(''))
    fsyncSync(fd)
    closeSync(fd)
    renameSync(`${path}.new`, path)
    const dir = openSync(this.#dir, 'r')
    fsyncSync(dir)
    closeSync(dir)
  }

  #path({ name }) {
    return join(this.#dir, name)
  }
}
