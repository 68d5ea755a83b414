// The parameters `bbox` and `datetime`, as OGC API Features has them (OGC 17-069r4 §7.15).

import { Type } from 'typebox'
import { NodeError } from '../../libraries/base/errors.ts'
import { parseRfc3339Ms } from '../../libraries/model/instant.ts'
import { type Box, boxOf, type Interval } from '../answers/conditions.ts'

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

/** RFC 3339 as the engine reads it; a date stands for all of its day. */
function momentOf(part: string, timeOfDay: string): string | undefined {
  const text = /^\d{4}-\d{2}-\d{2}$/.test(part) ? `${part}T${timeOfDay}Z` : part.toUpperCase()
  return parseRfc3339Ms(text) === undefined ? undefined : text
}

function readInterval(text: string): Interval {
  const parts = text.split('/')
  const [first = '', last = first] = parts
  const isOpen = (part: string): boolean => parts.length === 2 && (part === '' || part === '..')
  const from = isOpen(first) ? undefined : momentOf(first, '00:00:00')
  const to = isOpen(last) ? undefined : momentOf(last, '23:59:59.999999')
  const isTold = (isOpen(first) || from !== undefined) && (isOpen(last) || to !== undefined)
  if (parts.length <= 2 && isTold) {
    const isBackwards =
      from !== undefined && to !== undefined && Number(parseRfc3339Ms(from)) > Number(parseRfc3339Ms(to))
    if (!isBackwards) return { from, to }
    throw new NodeError('InvalidParameter', `datetime is '${text.slice(0, 100)}', which ends before it begins.`, {
      hint: 'Write the earlier time first.',
    })
  }
  throw new NodeError('InvalidParameter', `datetime is '${text.slice(0, 100)}'.`, {
    hint: 'Write an RFC 3339 time, or an interval: 2026-01-01T00:00:00Z/2026-02-01T00:00:00Z, ../2026-02-01T00:00:00Z.',
  })
}
