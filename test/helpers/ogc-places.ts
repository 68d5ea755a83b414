// Features whose places, times and values are known, for the tests of OGC API Features.

import { expect } from 'vitest'
import type { LiveNode } from './live-node.ts'

export interface Link {
  readonly href: string
  readonly rel: string
  readonly type: string
}

export interface Feature {
  readonly type: string
  readonly id: number
  readonly geometry: { readonly type: string; readonly coordinates: readonly number[] } | null
  readonly properties: Readonly<Record<string, unknown>>
  readonly links?: readonly Link[]
}

export interface Page {
  readonly type: string
  readonly features: readonly Feature[]
  readonly links: readonly Link[]
  readonly timeStamp?: string
  readonly numberMatched?: number
  readonly numberReturned: number
}

export const places = Array.from({ length: 25 }, (_, i) => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [i * 14 - 170, i * 6 - 72] },
  properties: {
    event_time: `2026-03-${String(i + 1).padStart(2, '0')}T12:00:00Z`,
    name: i % 5 === 4 ? null : `place ${i}`,
    height: i * 2.5,
    storeys: String(i),
    open: i % 2 === 0,
  },
}))

/** Posts `places` to a dataset of that name, and waits for the block. */
export async function postPlaces(live: LiveNode, alias: string): Promise<void> {
  const answer = await live.call(`/${alias}/ingest?create=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndgeojson', prefer: 'wait=20' },
    body: places.map((place) => JSON.stringify(place)).join('\n'),
  })
  expect(answer.at('status')).toBe('committed')
}
