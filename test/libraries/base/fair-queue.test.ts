// Turns: nobody waits because somebody else has many queries waiting.
import { array, assert as assertProperty, constantFrom, integer, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FairQueue } from '../../../src/libraries/base/fair-queue.ts'

/** Takes the first in turn until nothing is left. */
function drained(queue: FairQueue<readonly string[]>): string[] {
  const order: string[] = []
  for (;;) {
    const [first] = queue.heads()
    if (first === undefined) return order
    queue.take(first, first)
    order.push(first.join('/'))
  }
}

describe('turns', () => {
  test('callers are served one after the other, however many each has waiting', () => {
    const queue = new FairQueue<readonly string[]>(100, 100)
    for (const key of [['a'], ['a'], ['a'], ['b'], ['c'], ['b']]) queue.push(key, key)
    expect(drained(queue)).toEqual(['a', 'b', 'c', 'a', 'b', 'a'])
  })

  test('those who share a turn take turns in it', () => {
    const queue = new FairQueue<readonly string[]>(100, 100)
    const anonymous = (address: string): string[] => ['anonymous', address]
    for (const key of [anonymous('1'), anonymous('1'), anonymous('2'), ['admin'], ['admin'], anonymous('3')]) {
      queue.push(key, key)
    }
    expect(drained(queue)).toEqual(['anonymous/1', 'admin', 'anonymous/2', 'admin', 'anonymous/3', 'anonymous/1'])
  })

  test('who comes last into the queue waits for at most one query of each other caller', () => {
    const keys = array(constantFrom(['a'], ['b'], ['c', '1'], ['c', '2'], ['d']), { maxLength: 40 })
    assertProperty(
      property(keys, integer({ min: 0, max: 20 }), (waiting, served) => {
        const queue = new FairQueue<readonly string[]>(1000, 100)
        for (const key of waiting) queue.push(key, key)
        for (let i = 0; i < served; i++) {
          const [first] = queue.heads()
          if (first !== undefined) queue.take(first, first)
        }
        queue.push(['late'], ['late'])
        const order = drained(queue)
        expect(order.indexOf('late')).toBeLessThanOrEqual(4)
        expect(new Set(order.slice(0, order.indexOf('late')).map((key) => key[0])).size).toBe(order.indexOf('late'))
        expect(queue.size).toBe(0)
      }),
    )
  })

  test('what leaves the queue is not served', () => {
    const queue = new FairQueue<readonly string[]>(10, 100)
    const [first, second] = [['a'], ['a']]
    queue.push(['a'], first)
    queue.push(['a'], second)
    expect(queue.remove(['a'], first)).toBe(true)
    expect(queue.remove(['a'], first)).toBe(false)
    expect(queue.heads()).toEqual([second])
    expect(queue.drain()).toEqual([second])
    expect([queue.size, queue.heads()]).toEqual([0, []])
  })
})

describe('room', () => {
  test('one caller takes half of what the others leave free, and one place always', () => {
    const queue = new FairQueue<readonly string[]>(8, 50)
    const fill = (key: readonly string[]): number => {
      for (let count = 0; ; count++) {
        if (queue.noRoom(key) !== undefined) return count
        queue.push(key, key)
      }
    }
    expect(fill(['a'])).toBe(4)
    expect(queue.noRoom(['a'])).toBe('share')
    // Within the share of all anonymous callers, addresses share alike.
    expect(fill(['anonymous', '1'])).toBe(1)
    expect(fill(['anonymous', '2'])).toBe(1)
    expect(queue.noRoom(['anonymous', '3'])).toBe('share')
    expect(fill(['b'])).toBe(1)
    expect(fill(['c'])).toBe(1)
    expect(queue.noRoom(['d'])).toBe('full')
  })

  test('is never more than there is, and a newcomer always finds some where others are few', () => {
    const keys = array(constantFrom(['a'], ['b'], ['c', '1'], ['c', '2'], ['c', '3']), { maxLength: 200 })
    assertProperty(
      property(keys, integer({ min: 16, max: 64 }), (asked, most) => {
        const queue = new FairQueue<readonly string[]>(most, 50)
        for (const key of asked) if (queue.noRoom(key) === undefined) queue.push(key, key)
        expect(queue.size).toBeLessThan(most)
        expect(queue.noRoom(['new'])).toBeUndefined()
      }),
    )
  })
})
