// What every object store must do, whatever it is made of. Each adapter's test file runs this suite.

import { describe, expect, test } from 'vitest'
import { utf8 } from '../../../src/libraries/base/bytes.ts'
import { DecodeError } from '../../../src/libraries/base/errors.ts'
import type { ObjectStore } from '../../../src/node/store/object-store.ts'

const hostileKeys = [
  '',
  '/',
  'a/',
  '/a',
  'a//b',
  '.',
  '..',
  'a/../b',
  'a/./b',
  '../a',
  '.tmp/a',
  'a/.hidden',
  'a\\b',
  'a b',
  'a/b\n',
  'a\0b',
  'a/ü',
  'a/%2e%2e',
  'a:b',
  `a/${'x'.repeat(201)}`,
  Array.from({ length: 400 }, () => 'xxx').join('/'),
]

export function describeObjectStore(name: string, open: () => Promise<ObjectStore>): void {
  const text = async (store: ObjectStore, key: string): Promise<string | undefined> => {
    const bytes = await store.get(key)
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
  }

  describe(`object store: ${name}`, () => {
    test('gives back the bytes that were put, and says stored', async () => {
      const store = await open()
      expect(await store.put('a/b/c', utf8('hello'))).toBe('stored')
      expect(await store.get('a/b/c')).toEqual(utf8('hello'))
      expect(await store.size('a/b/c')).toBe(5)
    })

    test('joins chunks in order', async () => {
      const store = await open()
      const chunks = Array.from({ length: 300 }, (_, i) => new Uint8Array(2_000).fill(i))
      await store.put('a/large', chunks)
      const bytes = await store.get('a/large')
      expect(bytes?.length).toBe(600_000)
      expect(bytes?.every((byte, at) => byte === Math.floor(at / 2_000) % 256)).toBe(true)
    })

    test('takes a stream whose key is known at its end, once, and nothing of one that fails', async () => {
      const store = await open()
      async function* chunks(fails: boolean): AsyncGenerator<Uint8Array> {
        yield utf8('hel')
        yield utf8('lo')
        if (fails) throw new RangeError('a bug')
      }
      let key = 'a/unknown'
      async function* naming(): AsyncGenerator<Uint8Array> {
        yield* chunks(false)
        key = 'a/b/named'
      }
      expect(await store.putStream(naming(), () => key)).toBe('stored')
      expect(await text(store, 'a/b/named')).toBe('hello')
      expect(await store.putStream(chunks(false), () => 'a/b/named')).toBe('exists')
      await expect(store.putStream(chunks(true), () => 'a/b/failed')).rejects.toThrow('a bug')
      await expect(store.putStream(chunks(false), () => '../x')).rejects.toThrow(DecodeError)
      expect(await store.list('a/b')).toEqual(['named'])
    })

    test('stores an object of no bytes', async () => {
      const store = await open()
      expect(await store.put('a/empty', [])).toBe('stored')
      expect(await store.put('a/none', new Uint8Array(0))).toBe('stored')
      expect(await store.get('a/empty')).toEqual(new Uint8Array(0))
      expect(await store.size('a/none')).toBe(0)
      expect(await store.getRange('a/none', 0, 0)).toEqual(new Uint8Array(0))
    })

    test('keeps the first bytes when a key is put again', async () => {
      const store = await open()
      await store.put('a/b', utf8('first'))
      expect(await store.put('a/b', utf8('second'))).toBe('exists')
      expect(await store.put('a/b', utf8('first'))).toBe('exists')
      expect(await text(store, 'a/b')).toBe('first')
    })

    test('lets exactly one of many racing writers win, and its bytes stand', async () => {
      const store = await open()
      for (let round = 0; round < 5; round++) {
        const key = `race/${round}`
        const writers = Array.from({ length: 24 }, (_, i) => `writer ${i} ${'x'.repeat(i * 50)}`)
        const outcomes = await Promise.all(writers.map((writer) => store.put(key, utf8(writer))))
        expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(1)
        expect(await text(store, key)).toBe(writers[outcomes.indexOf('stored')])
      }
    })

    test('stores many objects at once in new prefixes', async () => {
      const store = await open()
      const keys = Array.from({ length: 60 }, (_, i) => `many/${i % 7}/deep/${i % 3}/${i}`)
      const outcomes = await Promise.all(keys.map((key) => store.put(key, utf8(key))))
      expect(new Set(outcomes)).toEqual(new Set(['stored']))
      for (const key of keys) expect(await text(store, key)).toBe(key)
    })

    test('replaces whole objects: a reader sees one version or the other, never a mixture', async () => {
      const store = await open()
      const version = (fill: number): Uint8Array => new Uint8Array(100_000).fill(fill)
      await store.replace('a/ref', version(1))
      let writing = true
      const write = async (): Promise<void> => {
        for (let i = 2; i < 30; i++) await store.replace('a/ref', version(i))
        writing = false
      }
      const written = write()
      while (writing) {
        const bytes = await store.get('a/ref')
        expect(bytes?.length).toBe(100_000)
        expect(bytes?.every((byte) => byte === bytes[0])).toBe(true)
      }
      await written
      expect((await store.get('a/ref'))?.[0]).toBe(29)
    })

    test('replaces what was put, and a put after a replace finds it', async () => {
      const store = await open()
      await store.put('a/b', utf8('put'))
      await store.replace('a/b', utf8('replaced'))
      expect(await text(store, 'a/b')).toBe('replaced')
      expect(await store.put('a/b', utf8('put'))).toBe('exists')
    })

    test('answers undefined for what is not there', async () => {
      const store = await open()
      await store.put('a/b/c', utf8('x'))
      for (const key of ['nothing', 'a', 'a/b', 'a/x', 'a/b/c/d', 'x/y/z']) {
        expect([key, await store.get(key)]).toEqual([key, undefined])
        expect([key, await store.size(key)]).toEqual([key, undefined])
        expect([key, await store.getRange(key, 0, 0)]).toEqual([key, undefined])
      }
    })

    test('reads ranges up to both edges of the object', async () => {
      const store = await open()
      await store.put('a/b', utf8('0123456789'))
      expect(await store.getRange('a/b', 0, 10)).toEqual(utf8('0123456789'))
      expect(await store.getRange('a/b', 3, 5)).toEqual(utf8('34'))
      expect(await store.getRange('a/b', 9, 10)).toEqual(utf8('9'))
      expect(await store.getRange('a/b', 10, 10)).toEqual(new Uint8Array(0))
    })

    test.each([
      [-1, 2],
      [5, 4],
      [0, 11],
      [11, 11],
      [0.5, 2],
      [0, Number.NaN],
      [0, Number.POSITIVE_INFINITY],
    ])('refuses the range [%d, %d) of ten bytes', async (start, end) => {
      const store = await open()
      await store.put('a/b', utf8('0123456789'))
      await expect(store.getRange('a/b', start, end)).rejects.toThrow(RangeError)
    })

    test('lists the names directly under a prefix, sorted by code units', async () => {
      const store = await open()
      for (const key of ['p/b', 'p/a/1', 'p/a/2', 'p/B', 'p/10', 'p/9', 'p/_', 'p/a-b', 'q/x'])
        await store.put(key, utf8(key))
      expect(await store.list('p')).toEqual(['10', '9', 'B', '_', 'a', 'a-b', 'b'])
      expect(await store.list('p/a')).toEqual(['1', '2'])
      expect(await store.list('p/b')).toEqual([])
      expect(await store.list('nothing/here')).toEqual([])
    })

    test('lists a thousand names', async () => {
      const store = await open()
      const names = Array.from({ length: 1_000 }, (_, i) => String(i).padStart(4, '0'))
      for (let i = 0; i < names.length; i += 100) {
        await Promise.all(names.slice(i, i + 100).map((name) => store.put(`list/${name}`, utf8(name))))
      }
      expect(await store.list('list')).toEqual(names)
    })

    test('deletes an object, silently when there is none, and it can be put again', async () => {
      const store = await open()
      await store.put('a/b', utf8('1'))
      await store.put('a/c', utf8('2'))
      await store.delete('a/b')
      await store.delete('a/b')
      await store.delete('never/was')
      expect(await store.get('a/b')).toBeUndefined()
      expect(await store.list('a')).toEqual(['c'])
      expect(await store.put('a/b', utf8('3'))).toBe('stored')
      expect(await text(store, 'a/b')).toBe('3')
    })

    test('keeps objects from the hands of its callers', async () => {
      const store = await open()
      const mine = utf8('mine')
      await store.put('a/b', mine)
      mine.fill(0)
      const got = await store.get('a/b')
      expect(got).toEqual(utf8('mine'))
      got?.fill(0)
      expect(await store.get('a/b')).toEqual(utf8('mine'))
    })

    test.each(hostileKeys.map((key) => [key.slice(0, 20), key]))(
      'refuses the key %j in every operation',
      async (_, key) => {
        const store = await open()
        await expect(store.put(key, utf8('x'))).rejects.toThrow(DecodeError)
        await expect(store.replace(key, utf8('x'))).rejects.toThrow(DecodeError)
        await expect(store.get(key)).rejects.toThrow(DecodeError)
        await expect(store.getRange(key, 0, 0)).rejects.toThrow(DecodeError)
        await expect(store.size(key)).rejects.toThrow(DecodeError)
        await expect(store.list(key)).rejects.toThrow(DecodeError)
        await expect(store.delete(key)).rejects.toThrow(DecodeError)
      },
    )
  })
}
