// How a pipe is cut into batches, by a clock that the test moves: a header alone is none, the first rows are typed together, a
// quote that is not closed takes nothing with it, and places are those in the pipe.

import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { cutInput, type CutOptions } from '../../src/cli/piped-lines.ts'
import { decodeUtf8 } from '../../src/libraries/base/bytes.ts'
import { dialectOf } from '../../src/libraries/formats/dialect/dialect.ts'
import type { StreamFacts } from '../../src/libraries/formats/format.ts'
import { formatNamed } from '../helpers/formats.ts'
import { handClock } from '../helpers/hand-clock.ts'

const format = (name: string): StreamFacts => formatNamed(name) as StreamFacts // the tests name such formats

type Cut = Readonly<{ text: string; header: string; rows: number; lines: number; linesTo: number; isLast: boolean }>

/** A pipe and what is cut of it. */
class Pipe {
  readonly clock = handClock()
  readonly input = new PassThrough()
  readonly stop = new AbortController()
  readonly cut: Cut[] = []
  held = 0
  readonly end: Promise<unknown>

  constructor(options: Partial<CutOptions> = {}) {
    const all = {
      format: format('csv'),
      dialect: undefined,
      mayHaveHeader: true,
      decides: false,
      mostRows: 1_000,
      mostAgeMs: 200,
      stop: this.stop.signal,
      clock: this.clock,
      onHeld: (bytes: number) => void (this.held = bytes),
      ...options,
    }
    this.end = this.#run(all).catch((error: unknown) => error)
  }

  async #run(options: CutOptions): Promise<void> {
    for await (const { bytes, headerBytes, ...place } of cutInput(this.input, options)) {
      const [header, text] = [bytes.subarray(0, headerBytes), bytes.subarray(headerBytes)].map(decodeUtf8)
      this.cut.push({ text: text ?? '', header: header ?? '', ...place })
    }
  }

  get texts(): string[] {
    return this.cut.map(({ text }) => text)
  }

  async send(text: string): Promise<void> {
    this.input.write(text)
    await this.pass(0)
  }

  async pass(ms: number): Promise<void> {
    for (const step of [ms, ...Array.from({ length: 10 }, () => 0)]) await this.clock.advance(step)
  }

  async over(): Promise<unknown> {
    this.input.end()
    return this.end
  }
}

describe('a header', () => {
  test('is no batch, however long the first row takes, and is told as held', async () => {
    const pipe = new Pipe()
    await pipe.send('a,b\n')
    await pipe.pass(3_600_000)
    expect([pipe.cut, pipe.held]).toEqual([[], 4])
    await pipe.send('1,2\n')
    await pipe.pass(199)
    expect([pipe.cut, pipe.held]).toEqual([[], 8])
    await pipe.pass(1)
    const first = { text: '1,2\n', header: 'a,b\n', rows: 0, lines: 1, linesTo: 2, isLast: false }
    expect(pipe.cut).toEqual([first])
    expect(pipe.held).toBe(0)
    await pipe.send('3,4\n')
    expect(pipe.held).toBe(4)
    expect(await pipe.over()).toBeUndefined()
    expect(pipe.cut[1]).toEqual({ text: '3,4\n', header: 'a,b\n', rows: 1, lines: 2, linesTo: 3, isLast: true })
  })

  test.each(['end', 'signal'])('that may be a row is a batch at the %s of the pipe', async (how) => {
    const pipe = new Pipe()
    await pipe.send('1,2\n')
    if (how === 'signal') pipe.stop.abort()
    expect(await (how === 'signal' ? pipe.end : pipe.over())).toBeUndefined()
    expect(pipe.cut).toEqual([{ text: '', header: '1,2\n', rows: 0, lines: 1, linesTo: 1, isLast: true }])
  })

  test('that is said to be absent is a row', async () => {
    const pipe = new Pipe({ mayHaveHeader: false })
    await pipe.send('1,2\n')
    await pipe.pass(200)
    expect(pipe.texts).toEqual(['1,2\n'])
  })

  test('stands behind lines to be skipped, and comments begin no row', async () => {
    const pipe = new Pipe({ dialect: dialectOf({ skipRows: '1,3', comment: '#' }), mostRows: 1 })
    await pipe.send('"title\na,b\nm,s\n# "note\n1,2\n#c\n3,4\n')
    await pipe.over()
    expect(pipe.cut[0]?.header).toBe('"title\na,b\n')
    expect(pipe.texts).toEqual(['m,s\n# "note\n1,2\n', '#c\n3,4\n'])
  })

  test('that says what stands between cells is refused with what to say', async () => {
    const pipe = new Pipe()
    await pipe.send('sep=;\na;b\n')
    expect(await pipe.end).toMatchObject({
      exitCode: 5,
      details: { hint: expect.stringContaining("--set 'delimiter=;'") },
    })
  })
})

describe('the first batch', () => {
  test('waits for a second where it decides types, whatever the age of the others', async () => {
    const pipe = new Pipe({ decides: true })
    await pipe.send('a\n1\n')
    await pipe.pass(999)
    await pipe.send('1.5\n')
    expect(pipe.cut).toEqual([])
    await pipe.pass(1)
    await pipe.send('2\n')
    await pipe.pass(200)
    expect(pipe.texts).toEqual(['1\n1.5\n', '2\n'])
  })

  test('has 10,000 records at most, and the next ones as many as they may', async () => {
    const pipe = new Pipe({ decides: true, mostRows: 3 })
    await pipe.send(`a\n${'1\n'.repeat(9_999)}`)
    expect(pipe.cut).toEqual([])
    await pipe.send('1\n'.repeat(5))
    await pipe.over()
    expect(pipe.texts.map((text) => text.length / 2)).toEqual([10_000, 3, 1])
  })
})

describe('a quote', () => {
  test('inside a bare cell is text, and a cell of two lines stays whole', async () => {
    const pipe = new Pipe({ mostRows: 1, dialect: dialectOf({ delimiter: ';' }) })
    await pipe.send('a;b\n5" pipe;1\nx;"2\n3"\n4;5\n')
    await pipe.over()
    expect(pipe.texts).toEqual(['5" pipe;1\n', 'x;"2\n3"\n', '4;5\n'])
  })

  test('that has taken in a line end for 30 s is the last record, apart from those before it', async () => {
    const pipe = new Pipe()
    await pipe.send('a,b\n1,2\n"3,4\n')
    await pipe.pass(200)
    await pipe.send('5,6\n')
    await pipe.pass(29_999)
    expect(pipe.texts).toEqual(['1,2\n'])
    await pipe.pass(1)
    expect(await pipe.end).toBeUndefined()
    expect(pipe.cut[1]).toMatchObject({ text: '"3,4\n5,6\n\n', rows: 1, lines: 2, isLast: true })
  })

  test('that is closed in time is waited for', async () => {
    const pipe = new Pipe()
    await pipe.send('a,b\n"3,4\n')
    await pipe.pass(29_999)
    await pipe.send('",6\n')
    await pipe.pass(200)
    expect(pipe.texts).toEqual(['"3,4\n",6\n'])
  })
})

test('a record of more than 64 MiB ends the pipe, and those before it are sent', async () => {
  const most = 64 * 1024 * 1024
  const piece = 'x'.repeat(1024 * 1024)
  const pipe = new Pipe({ format: format('ndjson'), mayHaveHeader: false })
  await pipe.send('{}\n')
  for (let bytes = 0; bytes < most; bytes += piece.length) await pipe.send(piece)
  await pipe.pass(200)
  expect([pipe.texts, pipe.held]).toEqual([['{}\n'], most])
  await pipe.send('x')
  expect(await pipe.end).toMatchObject({ exitCode: 5, message: `Record 1 is longer than ${most} bytes.` })
})

test('features of several lines behind separators are cut where each ends', async () => {
  const pipe = new Pipe({ format: format('ndgeojson'), mayHaveHeader: false })
  await pipe.send('\x1e{\n "a": 1\n}\n\x1e{\n')
  await pipe.pass(200)
  await pipe.send('}\n')
  await pipe.pass(200)
  expect(pipe.cut).toMatchObject([
    { text: '\x1e{\n "a": 1\n}\n', rows: 0, lines: 0 },
    { text: '\x1e{\n}\n', rows: 1, lines: 3 },
  ])
})
