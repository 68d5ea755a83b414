// What a node does without is not there: no module of it is loaded, its routes say why, its options are refused; and a feature
// that is only added to the list is served, with nothing else of the source naming it.

import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import type { Feature } from '../../src/node/feature.ts'
import { features } from '../../src/app/features.ts'
import { repository } from '../helpers/sources.ts'
import { startLiveNode } from '../helpers/live-node.ts'

const names = features.map(({ name }) => name)
/** Some are a format alone, whose code is loaded for its first body. */
const folders = features.filter((feature) => 'load' in feature).map(({ name }) => name)
const all = names.join(',')

interface Operation {
  readonly role: string
  readonly feature?: string
}
const texts = JSON.parse(await readFile(join(repository, 'texts', 'operations.json'), 'utf8')) as {
  readonly operations: Readonly<Record<string, Operation>>
}
const operations = Object.entries(texts.operations).map(([key, { feature }]) => {
  const [method = '', path = ''] = key.split(' ')
  return { method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, '1'), feature }
})

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'proofstream-without-'))
})
afterAll(async () => await rm(dir, { recursive: true, force: true }))

/** Folders of `src/features` of which a node loads a module until it is ready. */
async function loadedFolders(without: string): Promise<string[]> {
  const script = join(dir, 'loaded.mjs')
  await writeFile(
    script,
    `import { registerHooks } from 'node:module'
    const seen = new Set()
    registerHooks({ load: (url, context, next) => (seen.add(url.match(/src\\/features\\/([^/]+)\\/(?!options|facts)/)?.[1]), next(url, context)) })
    const { startNode } = await import('${repository}/src/app/node.ts')
    const { loadConfig } = await import('${repository}/src/app/config.ts')
    const options = { data: '${dir}/node', listen: '127.0.0.1:0', 'log-level': 'silent', without: '${without}' }
    const node = await startNode(loadConfig(options))
    await node.stop()
    console.log(JSON.stringify([...seen].filter(Boolean)))`,
  )
  const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  const last = stdout.trim().split('\n').at(-1) ?? ''
  if (!last.startsWith('[')) throw new Error(stderr)
  return JSON.parse(last) as string[] // as the script printed them
}

describe('a node without its features', () => {
  it('loads nothing of them', async () => {
    expect((await loadedFolders('')).sort()).toEqual(folders.toSorted())
    expect(await loadedFolders(all)).toEqual([])
    const [first = '', ...others] = folders
    expect((await loadedFolders(first)).sort()).toEqual(others.sort())
  })

  it('says of their routes why they are not there, and answers all others', async () => {
    const live = await startLiveNode({ without: all })
    const answered = async (method: string, path: string): Promise<[number, string]> => {
      const headers = { authorization: `Bearer ${live.adminToken}` }
      const answer = await fetch(`${live.node.url}${path}`, { method, headers })
      return [answer.status, await answer.text()]
    }
    try {
      const optional = operations.filter(({ feature }) => feature !== undefined)
      expect(new Set(optional.map(({ feature }) => feature)).size).toBeGreaterThan(3)
      for (const { method, path, feature } of optional) {
        const [status, text] = await answered(method, path)
        expect([path, status, text]).toEqual([path, 404, expect.stringContaining(`without the feature '${feature}'`)])
        expect(text).toContain(`"This node does not answer ${method} ${path}."`)
      }
      // Nor does another method say that their paths take one.
      for (const [method, path] of [
        ['POST', '/iceberg/v1/namespaces'],
        ['GET', '/write'],
        ['GET', '/acme/lab/v1/logs'],
      ] as const) {
        expect([path, ...(await answered(method, path))]).toEqual([
          path,
          404,
          expect.stringContaining('without the feature'),
        ])
      }
      const [status, text] = await answered('POST', '/v1/logs')
      expect([status, text]).toEqual([
        405,
        expect.stringContaining('/{account}/{dataset}/v1/logs? This node was started with'),
      ])
      expect(text).toContain("without the feature 'otlp'")
      expect((await live.ingest('acme/lab', [{ n: 1 }], '?create=true')).status).toBe(200)
      expect((await live.query('SELECT n FROM "acme/lab"', { include: ['Proof'] })).status).toBe(200)
      const body = new Uint8Array(8)
      for (const type of ['application/zip', 'text/x-line-protocol', 'application/x-otlp-logs+json']) {
        const refused = await live.call('/acme/lab/ingest', { method: 'POST', headers: { 'content-type': type }, body })
        expect([type, refused.status, refused.text]).toEqual([
          type,
          415,
          expect.stringContaining('without the feature'),
        ])
      }
      const [, document] = await answered('GET', '/openapi.json')
      const { paths, tags } = JSON.parse(document) as { readonly paths: object; readonly tags: { name: string }[] }
      const used = Object.values(paths).flatMap((item) => Object.values(item as Record<string, { tags: string[] }>))
      expect(tags.map(({ name }) => name).sort()).toEqual([...new Set(used.flatMap((one) => one.tags))].sort())
      expect(Object.keys(paths).filter((path) => /^.(?:ogc|iceberg|assets)/.test(path))).toEqual([])
      expect(document.includes('"text/html":')).toBe(false)
      const fromBrowser = await fetch(live.node.url, { headers: { accept: 'text/html' } })
      expect(fromBrowser.headers.get('content-type')).toMatch(/json/)
    } finally {
      await live.stop()
    }
  })

  it('has pages that lead to nothing of them', async () => {
    const live = await startLiveNode({ without: names.filter((name) => name !== 'console').join(',') })
    try {
      const place = { type: 'Point', coordinates: [-9.14, 38.72] }
      expect((await live.ingest('acme/cities', [{ geometry: place }], '?create=true')).status).toBe(200)
      const pages = ['/', '/acme/cities', '/query', '/ingest', '/verify', '/info']
      for (const path of pages) {
        const page = await (await fetch(`${live.node.url}${path}`, { headers: { accept: 'text/html' } })).text()
        expect([path, page]).toEqual([path, expect.stringContaining('<main')])
        for (const [, place = ''] of page.matchAll(/(?:href|src|action|data-rows)="(\/[^"#]*)/g)) {
          const { status } = await fetch(`${live.node.url}${place.replaceAll('&amp;', '&')}`)
          expect([path, place, status]).not.toEqual([path, place, 404])
        }
        expect(page).not.toMatch(/\/(?:ogc|iceberg)\b/)
      }
    } finally {
      await live.stop()
    }
  })

  it('is what `npm run test:bare` tries the own tests of a node on', async () => {
    const manifest = await readFile(join(repository, 'package.json'), 'utf8')
    expect(/PROOFSTREAM_WITHOUT=([^ ]*)/.exec(manifest)?.[1]).toBe(all)
  })

  it('refuses their options, wherever one is given, and says which feature it is of', () => {
    const reason = "Option 'mqtt-password' is of the feature 'mqtt', which option 'without' leaves out."
    expect(() => loadConfig({ without: 'mqtt', 'mqtt-password': 'x' })).toThrow(reason)
    vi.stubEnv('PROOFSTREAM_MQTT_PASSWORD', 'x')
    expect(() => loadConfig({ without: 'mqtt' })).toThrow(reason)
    vi.unstubAllEnvs()
    expect(() => loadConfig({ without: 'ogcc' })).toThrow(/'without' is 'ogcc'; expected some of console, ogc/)
  })
})

describe('a feature that is added to the list', () => {
  const toy: Feature = {
    name: 'toy',
    about: 'greets',
    load: async () => ({
      routes: { replica: (app) => void app.get('/toy', { schema: { hide: true } }, () => 'hello') },
      start: async ({ health }) => health.tell('toy', () => 'at play'),
    }),
  }

  it('is served and started', async () => {
    const list = features as Feature[] // a row more, as a commit would add it
    list.push(toy)
    const live = await startLiveNode()
    try {
      expect(await (await fetch(`${live.node.url}/toy`)).text()).toBe('hello')
      expect(await (await fetch(`${live.node.url}/readyz`)).text()).toContain('at play')
    } finally {
      list.pop()
      await live.stop()
    }
  })
})
