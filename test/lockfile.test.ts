import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  completeLock,
  type Lockfile,
  missingPackages,
  platformOf,
  withAddress,
  withoutHash,
} from '../scripts/complete-lock.ts'

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as Lockfile

describe('package-lock.json', () => {
  test('locks the packages of every platform (else run node scripts/complete-lock.ts)', () => {
    expect(missingPackages(lock)).toEqual([])
  })

  test('has no download addresses', () => {
    expect(withAddress(lock)).toEqual([])
  })

  test('has the hash of every package, on any platform', () => {
    expect(withoutHash(lock)).toEqual([])
  })

  test('has DuckDB for Linux, macOS and Windows', () => {
    for (const platform of ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64']) {
      expect(Object.keys(lock.packages)).toContain(`node_modules/@duckdb/node-bindings-${platform}`)
    }
  })

  test('names platforms as their packages do: the rule agrees with every entry that npm itself wrote', () => {
    let compared = 0
    for (const [by, parent] of Object.entries(lock.packages)) {
      const siblings = Object.keys(parent.optionalDependencies ?? {})
      for (const name of siblings) {
        const entry = lock.packages[`node_modules/${name}`]
        if (entry === undefined || !('integrity' in entry) || entry.os === undefined || entry.cpu === undefined)
          continue
        const { os, cpu, libc } = entry
        expect([by, name, platformOf(name, siblings)]).toEqual([by, name, { os, cpu, ...(libc && { libc }) }])
        compared++
      }
    }
    expect(compared).toBeGreaterThan(40)
  })
})

describe('completing a lock', () => {
  const incomplete: Lockfile = {
    packages: {
      '': {},
      'node_modules/a': {
        version: '1.0.0',
        optionalDependencies: { '@a/linux-x64': '1.0.0', '@a/darwin-arm64': '1.0.0' },
      },
      'node_modules/b': {
        version: '2.0.0',
        dev: true,
        optionalDependencies: { '@a/linux-x64': '1.0.0', 'b-linux-x64': '2.0.0', 'b-linux-x64-musl': '2.0.0' },
      },
      'node_modules/@a/linux-x64': { version: '1.0.0', optional: true },
    },
  }

  test('adds what is missing, and nothing else', () => {
    const complete = completeLock(incomplete)
    expect(missingPackages(complete)).toEqual([])
    expect(complete.packages['node_modules/@a/darwin-arm64']).toEqual({
      version: '1.0.0',
      cpu: ['arm64'],
      optional: true,
      os: ['darwin'],
    })
    expect(complete.packages['node_modules/b-linux-x64']).toMatchObject({ libc: ['glibc'], dev: true })
    expect(complete.packages['node_modules/b-linux-x64-musl']).toMatchObject({ libc: ['musl'] })
    expect(Object.keys(complete.packages)).toHaveLength(7)
    expect(complete.packages).toMatchObject(incomplete.packages)
  })

  test('finds what is missing and what has an address', () => {
    expect(missingPackages(incomplete).map((missing) => missing.name)).toEqual([
      '@a/darwin-arm64',
      'b-linux-x64',
      'b-linux-x64-musl',
    ])
    expect(withAddress({ packages: { 'node_modules/a': { resolved: 'https://registry.example/a.tgz' } } })).toEqual([
      'node_modules/a',
    ])
  })

  test('refuses to guess a version or a platform', () => {
    const asks = (name: string, version: string): Lockfile => ({
      packages: { 'node_modules/a': { optionalDependencies: { [name]: version } } },
    })
    expect(() => completeLock(asks('a-linux-x64', '^1.0.0'))).toThrow('no exact version')
    expect(() => completeLock(asks('a-fast', '1.0.0'))).toThrow('platform')
  })
})
