// The console's scripts, styles, pictures and outlines of land, as scripts/build-pages.ts makes them: read once at start, each under an
// address with the hash of its bytes, so that a browser may keep it.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { Ring } from '../../libraries/geo/drawing.ts'

interface ConsoleFile {
  readonly address: string
  readonly mediaType: string
  readonly bytes: Uint8Array
}

const folder = new URL('../../../dist/pages/', import.meta.url)

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** By name. Empty in a checkout where they were not built; pages then say so. */
const files = readFiles()

const byAddress = new Map([...files.values()].map((file) => [file.address, file]))

/** Outlines of land, as rings of positions; none where they were not built. */
export const land = readLand()

/** The address of a file by its name, `page.js`; undefined where it was not built. */
export function addressOf(name: string): string | undefined {
  return files.get(name)?.address
}

export function consoleFile(address: string): ConsoleFile | undefined {
  return byAddress.get(address)
}

function readLand(): readonly Ring[] {
  return unlessMissing(() => JSON.parse(readFileSync(new URL('land.json', folder), 'utf8')) as Ring[], []) // as it was built
}

function readFiles(): ReadonlyMap<string, ConsoleFile> {
  const read = (name: string): [string, ConsoleFile][] => {
    const extension = extname(name)
    const mediaType = mediaTypes[extension]
    if (mediaType === undefined) return []
    const bytes = readFileSync(new URL(name, folder))
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
    return [[name, { address: `/assets/${name.slice(0, -extension.length)}.${hash}${extension}`, mediaType, bytes }]]
  }
  return unlessMissing(() => new Map(readdirSync(folder).flatMap(read)), new Map())
}

function unlessMissing<T>(find: () => T, otherwise: T): T {
  try {
    return find()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return otherwise // what reading a file throws
    throw cause
  }
}
