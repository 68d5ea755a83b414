// The parameters `bbox` and `datetime`, as OGC API Features has them (OGC 17-069r4 §7.15).

import { Type } from 'typebox'
import { NodeError } from '../model/errors.ts'
import { type Box, boxOf } from '../replica/cql2.ts'
import type { Interval } from '../replica/features.ts'

export const BoxAndTime = {
  bbox: Type.Optional(Type.String({ maxLength: 300, description: 'west,south,east,north in degrees.' })),
  datetime: Type.Optional(
    Type.String({ maxLength: 100, description: 'An event time, or an interval: from/to, ../to, from/.. .' }),
  ),
}

/** Each absent where it is not asked for. Throws NodeError `InvalidParameter`. */
export function readBoxAndTime({
  bbox,
  datetime,
}: {
  readonly bbox?: string | undefined
  readonly datetime?: string | undefined
}): { readonly box: Box | undefined; readonly time: Interval | undefined } {
  return {
    box: bbox === undefined ? undefined : readBox(bbox),
    time: datetime === undefined ? undefined : readInterval(datetime),
  }
}

function readBox(text: string): Box {
  const parts = text.split(',')
  const box = parts.every((part) => /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(part))
    ? boxOf(parts.map(Number))
    : undefined
  if (box !== undefined) return box
  throw new NodeError('InvalidParameter', `bbox is '${text.slice(0, 100)}'.`, {
    hint: 'Write west,south,east,north in degrees, such as bbox=5,58,12,64.',
  })
}

const instant = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2}))?$/i

function readInterval(text: string): Interval {
  const parts = text.split('/')
  const [from = '', to = from] = parts
  const isOpen = (part: string): boolean => part === '' || part === '..'
  const areTimes = [from, to].every((part) => instant.test(part) || (parts.length === 2 && isOpen(part)))
  if (parts.length > 2 || !areTimes || (isOpen(from) && isOpen(to) && parts.length === 1)) {
    throw new NodeError('InvalidParameter', `datetime is '${text.slice(0, 100)}'.`, {
      hint: 'Write an RFC 3339 time, or an interval: 2026-01-01T00:00:00Z/2026-02-01T00:00:00Z, ../2026-02-01T00:00:00Z.',
    })
  }
  const end = to.length === 10 ? `${to}T23:59:59.999999Z` : to
  return { from: isOpen(from) ? undefined : from, to: isOpen(to) ? undefined : end }
}
