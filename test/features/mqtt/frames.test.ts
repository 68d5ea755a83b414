// Packets are cut the same wherever the chunks of a connection end; mqtt-packet writes and judges them.

import fc from 'fast-check'
import { generate, type IPublishPacket } from 'mqtt-packet'
import { expect, test } from 'vitest'
import { DecodeError } from '../../../src/libraries/base/errors.ts'
import { Frames } from '../../../src/features/mqtt/frames.ts'
import { PacketReader } from '../../../src/features/mqtt/packets.ts'

const publish = (payload: string | Buffer, messageId = 7): IPublishPacket => ({
  cmd: 'publish',
  qos: 1,
  dup: false,
  retain: false,
  topic: 'a/b',
  payload,
  messageId,
})

/** What comes of `bytes` in chunks that end at these places. */
function framesOf(bytes: Buffer, cuts: readonly number[], mostBytes: number): { bytes: Buffer; lostBytes: number }[] {
  const frames = new Frames(mostBytes)
  const found: { bytes: Buffer; lostBytes: number }[] = []
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  for (const [at, end] of [...places, bytes.length].entries()) {
    frames.push(bytes.subarray(places[at - 1] ?? 0, end))
    for (let frame = frames.next(); frame !== undefined; frame = frames.next()) found.push(frame)
  }
  return found
}

test('packets of any length come whole, however the bytes come', () => {
  const sizes = fc.array(fc.oneof(fc.nat(300), fc.nat(40_000)), { maxLength: 8 })
  fc.assert(
    fc.property(sizes, fc.array(fc.nat(), { maxLength: 20 }), (lengths, cuts) => {
      const packets = lengths.map((length, at) => generate(publish(Buffer.alloc(length, at), at + 1)))
      const found = framesOf(Buffer.concat(packets), cuts, 1024 * 1024)
      expect(
        found.map(({ bytes, lostBytes }) => [Buffer.compare(bytes, packets.shift() ?? Buffer.alloc(0)), lostBytes]),
      ).toEqual(lengths.map(() => [0, 0]))
    }),
  )
})

test('of a message that is too large the beginning stays, and what follows it comes as before', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 5_000 }), fc.array(fc.nat(), { maxLength: 20 }), (length, cuts) => {
      const large = generate(publish(Buffer.alloc(length, 1)))
      const after = generate(publish('after', 8))
      const mostBytes = 90
      const found = framesOf(Buffer.concat([large, after]), cuts, mostBytes)
      expect(found.map(({ lostBytes }) => lostBytes)).toEqual([large.length - mostBytes, 0])
      const [first, second] = found.map(({ bytes }) => new PacketReader(4).read(bytes))
      expect(first).toMatchObject({ cmd: 'publish', topic: 'a/b', messageId: 7 })
      const { payload } = first as IPublishPacket
      expect(payload.length + (found[0]?.lostBytes ?? 0)).toBe(length)
      expect(second).toMatchObject({ messageId: 8, payload: Buffer.from('after') })
    }),
  )
})

test('what is no packet is refused', () => {
  const frames = new Frames(1_000)
  frames.push(Buffer.of(0x30, 0xff, 0xff, 0xff, 0xff, 1))
  expect(() => frames.next()).toThrow('its length is malformed')
  const suback = new Frames(1_000)
  suback.push(Buffer.of(0x90, 0xff, 0x7f))
  expect(() => suback.next()).toThrow('has 16386 bytes')
})

test('the reader says what is malformed, and reads on', () => {
  const reader = new PacketReader(4)
  expect(() => reader.read(Buffer.of(0x32, 2, 0, 9))).toThrow('MQTT packet')
  // QoS 3.
  expect(() => new PacketReader(4).read(Buffer.of(0x36, 4, 0, 1, 0x61, 0))).toThrow('QoS')
  const faultOf = (bytes: Uint8Array): unknown => {
    try {
      new PacketReader(5).read(Buffer.from(bytes))
      return undefined
    } catch (error) {
      return error
    }
  }
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 2, maxLength: 40 }), (bytes) => {
      const fault = faultOf(bytes)
      expect(fault === undefined || fault instanceof DecodeError).toBe(true)
    }),
  )
})
