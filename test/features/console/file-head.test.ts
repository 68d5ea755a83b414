// How much of a file the ingest page looks at: whole lines of its first 256 KiB, outside of quotes, or all of what has no
// lines up to 8 MiB; and the text of its first lines.

import { describe, expect, test } from 'vitest'
import { headOf } from '../../../src/features/console/browser/file-head.ts'

const csv = { mediaType: 'text/csv', charset: '', quote: '' }
const [lookBytes, wholeBytes] = [256 * 1024, 8 * 1024 * 1024]

const partOf = async (text: string, said = csv): Promise<string | undefined> =>
  await (await headOf(new Blob([text]), said)).part?.text()

describe('the beginning of a file', () => {
  test('is all of it up to 256 KiB, and whole lines beyond', async () => {
    const fits = 'a,b\n'.repeat(lookBytes / 4)
    expect(await partOf(fits)).toBe(fits)
    expect(await partOf(`${fits}x`)).toBe(fits)
    expect((await partOf(`a,b${fits}`))?.length).toBe(lookBytes - 1)
  })

  test('does not end in a cell, nor is misled by a quote inside of one', async () => {
    const quoted = `n\n1,"${'x\n'.repeat(lookBytes / 2)}"\n`
    expect(await partOf(quoted)).toBe('n\n')
    expect((await partOf(quoted, { ...csv, quote: 'none' }))?.endsWith('x\n')).toBe(true)
    const inches = `n,t\n1,5" pipe\n2,"a ""b"" c"\n${'3,x\n'.repeat(lookBytes / 4)}`
    expect((await partOf(inches))?.length).toBeGreaterThan(lookBytes - 5)
    const json = { ...csv, mediaType: 'application/x-ndjson' }
    const lines = `{"a":"\\""}\n${'{"a":1}\n'.repeat(lookBytes / 8)}`
    expect((await partOf(lines, json))?.length).toBeGreaterThan(lookBytes - 9)
  })

  test('is the whole of what has no line of its own up to 8 MiB, and nothing beyond', async () => {
    for (const mediaType of ['text/csv', 'application/json', 'application/vnd.apache.parquet']) {
      const said = { ...csv, mediaType }
      expect((await partOf('x'.repeat(wholeBytes), said))?.length).toBe(wholeBytes)
      expect(await partOf('x'.repeat(wholeBytes + 1), said)).toBe(undefined)
    }
  })

  test('is shown as twenty lines in its character set, with what controls made harmless', async () => {
    const linesOf = async (bytes: Uint8Array, charset = ''): Promise<readonly string[] | undefined> =>
      (await headOf(new Blob([new Uint8Array(bytes)]), { ...csv, charset })).lines
    expect(await linesOf(Buffer.from('K\xf6ln\r\n\u0080', 'latin1'), 'windows-1252')).toEqual(['Köln', '€'])
    expect(await linesOf(Buffer.from('\ufeffKöln\n', 'utf8'), 'windows-1252')).toEqual(['Köln', ''])
    for (const charset of ['', 'utf-16le']) {
      expect(await linesOf(Buffer.from('\ufeffa\tö\n', 'utf16le'), charset)).toEqual(['a\tö', ''])
    }
    expect(await linesOf(Buffer.from('\ufeffö', 'utf16le').swap16())).toEqual(['ö'])
    expect(await linesOf(Buffer.from('a\n'), 'klingon')).toEqual(['a', ''])
    expect(await linesOf(Buffer.from('\u202ea\u0007'))).toEqual(['\\u202ea\\u0007'])
    expect((await linesOf(Buffer.from('x\n'.repeat(30))))?.length).toBe(20)
    expect((await linesOf(Buffer.from('x'.repeat(500))))?.[0]?.length).toBe(201)
    expect((await headOf(new Blob(['PK']), { ...csv, mediaType: 'application/zip' })).lines).toBe(undefined)
  })
})
