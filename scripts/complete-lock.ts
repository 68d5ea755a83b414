// Adds to package-lock.json the platform packages that npm left out because they are of another platform than the one
// it ran on; without them a clean install elsewhere has no DuckDB. Run it after each `npm install`; a test fails
// when something is missing. Platform, cpu and libc follow from the package's name; hashes are asked of the
// registry that npm uses.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface LockedPackage {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly dev?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export interface MissingPackage {
  /** Key in `packages` of who asks for it. */
  readonly by: string
  readonly name: string
  readonly version: string
}

const exactVersion = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/
const systems = 'aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32'
const platformPattern = new RegExp(`(?:^|[-/])(${systems})-([a-z0-9]+)(?:-([a-z]+))?$`)
const processors: Readonly<Record<string, string>> = {
  'arm-eabi': 'arm',
  'arm-gnueabihf': 'arm',
  'arm-musleabihf': 'arm',
}
const libraries: Readonly<Record<string, string>> = { gnu: 'glibc', musl: 'musl' }

/** Where Node would find `name` when `from` asks for it: the nearest `node_modules` upwards. */
function find(lock: Lockfile, from: string, name: string): LockedPackage | undefined {
  for (let at = from; ; at = at.includes('/node_modules/') ? at.slice(0, at.lastIndexOf('/node_modules/')) : '') {
    const found = lock.packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`]
    if (found !== undefined || at === '') return found
  }
}

/** Every optional dependency of a locked package that is not locked itself. */
export function missingPackages(lock: Lockfile): MissingPackage[] {
  const missing: MissingPackage[] = []
  for (const [by, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (find(lock, by, name) === undefined) missing.push({ by, name, version })
    }
  }
  return missing
}

/** A folder of the checkout is no download. */
const isFolder = (key: string): boolean => !key.includes('node_modules/')

/** Keys of packages that carry a download address. */
export function withAddress(lock: Lockfile): string[] {
  return Object.entries(lock.packages)
    .filter(([, { resolved, link }]) => resolved !== undefined && link !== true)
    .map(([key]) => key)
}

/** Keys of packages whose bytes nothing holds npm to. */
export function withoutHash(lock: Lockfile): string[] {
  return Object.entries(lock.packages)
    .filter(([key, { integrity, link }]) => !isFolder(key) && integrity === undefined && link !== true)
    .map(([key]) => key)
}

function withHash<T extends Lockfile>(lock: T): T {
  const packages: Record<string, LockedPackage> = { ...lock.packages }
  for (const key of withoutHash(lock)) {
    const { version = '', ...rest } = packages[key] ?? {}
    const name = key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const integrity = execFileSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], { encoding: 'utf8' }).trim()
    if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))
      throw new Error(`${name} ${version} has no hash: '${integrity}'`)
    packages[key] = { version, integrity, ...rest }
  }
  return { ...lock, packages }
}

/** `os`, `cpu`, `libc` of a platform package; `siblings` are the names listed beside it. */
export function platformOf(name: string, siblings: readonly string[]): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> {
  const [, os, cpu = '', abi = ''] = platformPattern.exec(name) ?? []
  if (os === undefined) throw new Error(`${name} does not say its platform: add it to package-lock.json by hand`)
  const plainBesideMusl = os === 'linux' && abi === '' && siblings.includes(`${name}-musl`)
  const libc = os === 'linux' ? (libraries[abi] ?? (plainBesideMusl ? 'glibc' : undefined)) : undefined
  return { os: [os], cpu: [processors[`${cpu}-${abi}`] ?? cpu], ...(libc === undefined ? {} : { libc: [libc] }) }
}

/** The lock with every missing platform package added, keys sorted as npm sorts them. */
export function completeLock<T extends Lockfile>(lock: T): T {
  const packages: Record<string, LockedPackage> = { ...lock.packages }
  for (const { by, name, version } of missingPackages(lock)) {
    if (!exactVersion.test(version)) throw new Error(`${by} asks for ${name} ${version}, which is no exact version`)
    const parent = lock.packages[by]
    const siblings = Object.keys(parent?.optionalDependencies ?? {})
    const key = packages[`node_modules/${name}`] === undefined ? `node_modules/${name}` : `${by}/node_modules/${name}`
    const { os, cpu, libc } = platformOf(name, siblings)
    packages[key] = {
      version,
      ...(cpu === undefined ? {} : { cpu }),
      ...(parent?.dev === true ? { dev: true } : {}),
      ...(libc === undefined ? {} : { libc }),
      optional: true,
      ...(os === undefined ? {} : { os }),
    }
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'))
  return { ...lock, packages: Object.fromEntries(sorted) }
}

if (import.meta.main) {
  const path = fileURLToPath(new URL('../package-lock.json', import.meta.url))
  const lock = JSON.parse(readFileSync(path, 'utf8'))
  const missing = missingPackages(lock)
  writeFileSync(path, `${JSON.stringify(withHash(completeLock(lock)), null, 2)}\n`)
  console.log(`${missing.length} platform packages added`)
}
