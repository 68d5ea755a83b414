// The map example: its script runs over a page of a few elements and a node that has the earthquakes.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type LiveNode, startLiveNode } from '../helpers/live-node.ts'
import { demoFile } from '../helpers/samples.ts'
import { run } from './run.ts'

const repository = new URL('../..', import.meta.url).pathname
const html = readFileSync(join(repository, 'examples', 'map', 'index.html'), 'utf8')
const feed = demoFile('earthquakes.geojson').toString()

/** As much of an element as the page uses. */
class FakeElement {
  readonly attributes: Record<string, string> = {}
  readonly children: FakeElement[] = []
  readonly name: string
  textContent = ''

  constructor(name: string) {
    this.name = name
  }

  setAttribute(name: string, value: string): void {
    this.attributes[name] = value
  }

  append(...elements: FakeElement[]): void {
    this.children.push(...elements)
  }
}

interface Drawn {
  readonly status: string
  readonly points: readonly FakeElement[]
}

/** Runs the script of the page, opened from `origin` with `search`. A browser reads only answers that allow its origin. */
async function open(search: string, origin = 'http://localhost:8000'): Promise<Drawn> {
  const elements: Record<string, FakeElement> = { map: new FakeElement('svg'), status: new FakeElement('header') }
  const asBrowser = async (url: string): Promise<Response> => {
    const answer = await fetch(url, { headers: { origin } })
    if (answer.headers.get('access-control-allow-origin') !== origin) {
      await answer.body?.cancel()
      throw new TypeError('Failed to fetch')
    }
    return answer
  }
  const context = createContext({
    URLSearchParams,
    location: { search },
    fetch: asBrowser,
    document: {
      getElementById: (id: string) => elements[id],
      createElementNS: (_namespace: string, name: string) => new FakeElement(name),
    },
  })
  const script = /<script>([\s\S]*)<\/script>/.exec(html)?.[1] ?? ''
  await runInContext(`${script}\n;drawn`, context)
  return {
    status: elements['status']?.textContent ?? '',
    points: (elements['map']?.children ?? []).filter((element) => element.name === 'circle'),
  }
}

let live: LiveNode
let stored: Answer

beforeAll(async () => {
  live = await startLiveNode()
  const records = await run(process.execPath, [join('examples', 'map', 'to-records.mjs')], { input: feed })
  stored = await live.call('/demo/earthquakes/ingest?create=true', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=20' },
    body: records.stdout,
  })
})
afterAll(() => live.stop())

describe('the map example', () => {
  it('draws a point for each earthquake where it was', async () => {
    const { features } = JSON.parse(feed) as {
      features: { properties: { mag: number; place: string }; geometry: { coordinates: number[] } }[]
    }
    expect([stored.status, stored.at('records.committed')]).toEqual([200, features.length])
    const felt = features.filter(({ properties }) => properties.mag > 0)
    const { status, points } = await open(`?server=${live.node.url}`)
    expect(status).toBe(`${felt.length} points from ${live.node.url}`)
    const places = felt.map(({ geometry: { coordinates } }) => `${coordinates[0]} ${-(coordinates[1] ?? 0)}`)
    const drawn = points.map(({ attributes }) => `${attributes['cx']} ${attributes['cy']}`)
    expect(drawn.sort()).toEqual(places.sort())
    const titles = points.map((circle) => circle.children[0]?.textContent)
    expect(titles).toContain(`${felt[0]?.properties.place} (${felt[0]?.properties.mag})`)
  })

  it('shows what the node says of a wrong query', async () => {
    const { status, points } = await open(`?server=${live.node.url}&query=select+longitud+from+demo.earthquakes`)
    expect([status, points]).toEqual([expect.stringMatching(/^No map: .*longitud/), []])
  })

  it('is not readable for pages from elsewhere on a node that listens on loopback', async () => {
    const { status } = await open(`?server=${live.node.url}`, 'https://example.org')
    expect(status).toBe('No map: Failed to fetch')
  })

  it('loads nothing but the answer of the node', () => {
    expect(html).not.toMatch(/\b(?:src|href)=|@import|url\(/)
  })
})
