// The machine under an installation: the file systems beneath its directories and what they can do, space, who may read
// there, the files with the node's secrets. No secret is shown.

import { link, mkdtemp, open, readFile, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isTokenText } from '../../node/access/token.ts'
import type { Config } from '../../node/config.ts'
import { hasCode } from '../../node/machine/disk/files.ts'
import { spaceReserveBytes } from '../../node/machine/disk/space.ts'
import { systemClock } from '../../libraries/base/clock.ts'
import { DecodeError } from '../../libraries/base/errors.ts'
import { nodeKeyFromJson } from '../../libraries/proof/sign.ts'
import { placesOf } from '../open-storage.ts'
import { fail, type Finding, ok, reasonOf, warn } from '../../node/upkeep/finding.ts'

const localDisk = 'Put the directory on a local disk (ext4, xfs, btrfs).'
const MiB = 1024 * 1024
/** Space for some hours of work beside the reserve. */
const comfortBytes = 4 * spaceReserveBytes

/** Whether others may read the directories, and what the volumes beneath are and can do: kind, link(2), fdatasync, space. */
export async function checkVolumes(config: Config): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const seen = new Set<number>()
  for (const { check, path } of directoriesOf(config)) {
    findings.push(...(await checkDirectory(check, path)))
    const place = await existing(path)
    const { dev } = await stat(place)
    if (seen.has(dev)) continue
    seen.add(dev)
    findings.push(await checkKind(check, place), await checkWrites(check, place), await checkSpace(check, place))
  }
  return findings
}

function directoriesOf({ dataDir, storeDir }: Config): readonly { readonly check: string; readonly path: string }[] {
  const data = { check: 'data', path: resolve(dataDir) }
  return storeDir === undefined ? [data] : [data, { check: 'store', path: resolve(storeDir) }]
}

/** What is wrong with a directory that is there; nothing of one that the first start makes. */
async function checkDirectory(check: string, path: string): Promise<readonly Finding[]> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return []
  if (!found.isDirectory()) return [fail(check, `${path} is not a directory.`, 'Name another with --data or --store.')]
  const mode = found.mode & 0o777
  if ((mode & 0o077) === 0) return []
  return [warn(check, `${path} is open to other users (mode ${octal(mode)}).`, `chmod 700 ${path}`)]
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

/** The directory itself, or the nearest one above it that is there. */
async function existing(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const found = await stat(at).catch(() => undefined)
    if (found?.isDirectory() === true || at === dirname(at)) return at
  }
}

interface Kind {
  readonly name: string
  /** Why it is doubtful. */
  readonly doubt?: string
}

const remote = 'what fsync and link mean there depends on the server'
/** Numbers of statfs(2) on Linux. */
const kinds: ReadonlyMap<number, Kind> = new Map([
  [0xef53, { name: 'ext4' }],
  [0x58465342, { name: 'xfs' }],
  [0x9123683e, { name: 'btrfs' }],
  [0x2fc12fc1, { name: 'zfs' }],
  [0x01021994, { name: 'tmpfs', doubt: 'it is memory: a restart of the machine empties it' }],
  [0x858458f6, { name: 'ramfs', doubt: 'it is memory: a restart of the machine empties it' }],
  [0x794c7630, { name: 'overlayfs', doubt: 'the layer of a container goes with the container' }],
  [0x6969, { name: 'nfs', doubt: remote }],
  [0xff534d42, { name: 'cifs', doubt: remote }],
  [0xfe534d42, { name: 'smb', doubt: remote }],
  [0x01021997, { name: '9p', doubt: remote }],
  [0x65735546, { name: 'fuse', doubt: 'what fsync and link mean there depends on the program behind it' }],
  [0x2011bab0, { name: 'exfat', doubt: 'it has no hard links' }],
  [0x4d44, { name: 'vfat', doubt: 'it has no hard links' }],
])

async function checkKind(check: string, path: string): Promise<Finding> {
  const { type } = await statfs(path)
  const kind = process.platform === 'linux' ? kinds.get(type) : undefined
  const name = `${check} volume`
  if (kind === undefined) return ok(name, `The file system is of kind 0x${type.toString(16)}.`)
  if (kind.doubt === undefined) return ok(name, `The file system is ${kind.name}.`)
  return warn(name, `The file system is ${kind.name}: ${kind.doubt}.`, localDisk)
}

/** Writes a file of its own, makes it durable, gives it a second name, and removes it all. */
async function checkWrites(check: string, place: string): Promise<Finding> {
  const name = `${check} writes`
  let folder: string | undefined
  try {
    folder = await mkdtemp(join(place, '.doctor-'))
    const [one, two] = [join(folder, 'one'), join(folder, 'two')]
    const file = await open(one, 'wx', 0o600)
    let tookMs: number
    try {
      await file.write(new Uint8Array(4096))
      const startMs = systemClock.monotonicMs()
      await file.datasync()
      tookMs = systemClock.monotonicMs() - startMs
    } finally {
      await file.close()
    }
    await link(one, two)
    if (!(await refusesName(one, two))) {
      return fail(name, 'link(2) replaces a name that exists.', localDisk)
    }
    const directory = await open(folder, 'r')
    try {
      await directory.sync()
    } finally {
      await directory.close()
    }
    return ok(name, `link(2) and fdatasync work; one fdatasync took ${tookMs.toFixed(1)} ms.`)
  } catch (error) {
    return fail(
      name,
      `A file could not be written and linked: ${reasonOf(error)}`,
      'Check rights, space and the kind of file system; hard links are needed.',
    )
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
}

async function refusesName(one: string, two: string): Promise<boolean> {
  try {
    await link(one, two)
    return false
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return true
    throw error
  }
}

async function checkSpace(check: string, place: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(place)
  const free = bavail * bsize
  const [name, found] = [`${check} space`, `${Math.floor(free / MiB).toLocaleString('en')} MiB are free.`]
  const reserve = `${spaceReserveBytes / MiB} MiB`
  if (free < spaceReserveBytes)
    return fail(name, `${found} Rows are refused below ${reserve}.`, 'Make room on the volume.')
  if (free < comfortBytes)
    return warn(name, `${found} Rows are refused below ${reserve}.`, 'Make room on the volume soon.')
  return ok(name, found)
}

/** Key and token: there, readable by their owner alone, whole. */
export async function checkPrivateFiles(config: Config): Promise<readonly Finding[]> {
  const places = placesOf(config)
  return [
    await checkPrivateFile('key', places.nodeKey),
    ...(config.roles.includes('gateway') ? [await checkPrivateFile('token', places.token)] : []),
  ]
}

async function checkPrivateFile(check: 'key' | 'token', path: string): Promise<Finding> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return ok(check, `${path} is not there; the node makes it when it starts.`)
  const bytes = await readFile(path)
  if (check === 'key' ? !isKey(bytes) : !isTokenText(bytes.toString('utf8').trim())) {
    const hint =
      check === 'key'
        ? 'Put it back from a backup: another key signs as another node.'
        : 'Remove it, and make a token: proofstream token create.'
    return fail(check, `${path} does not hold a ${check}.`, hint)
  }
  const mode = found.mode & 0o777
  if ((mode & 0o077) !== 0)
    return fail(check, `${path} is open to other users (mode ${octal(mode)}).`, `chmod 600 ${path}`)
  return ok(check, `${path} is private (mode ${octal(mode)}).`)
}

function isKey(bytes: Uint8Array): boolean {
  try {
    nodeKeyFromJson(bytes)
    return true
  } catch (error) {
    if (error instanceof DecodeError) return false
    throw error
  }
}
