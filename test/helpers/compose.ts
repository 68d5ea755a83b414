// Reads docker-compose.yml and deploy/compose.yaml.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './sources.ts'

type Yaml = string | null | readonly string[] | { readonly [name: string]: Yaml }

export interface Service {
  readonly image?: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly profiles?: readonly string[]
  readonly networks?: readonly string[]
  readonly depends_on?: Readonly<Record<string, unknown>>
  readonly healthcheck: { readonly test: readonly string[] }
  readonly [name: string]: unknown
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, null>>
  readonly networks?: Readonly<Record<string, { readonly internal?: string } | null>>
}

/** A file of this repository. */
export function readCompose(path = 'docker-compose.yml'): Compose {
  return parseYaml(readFileSync(join(repository, path), 'utf8')) as Compose
}

/** The part of YAML that the file uses: maps by indentation, flow lists, scalars, anchors, aliases, merged maps. */
function parseYaml(text: string): unknown {
  const lines = text.split('\n').filter((line) => !/^\s*(?:#.*)?$/.test(line))
  const anchors = new Map<string, Yaml>()
  const mapAt = (indent: string): Yaml => {
    const map: Record<string, Yaml> = {}
    const entry = new RegExp(`^${indent}([\\w.-]+|<<):(?: +&([\\w-]+))?(?: +(\\S.*?))? *$`)
    for (let match = entry.exec(lines[0] ?? ''); match !== null; match = entry.exec(lines[0] ?? '')) {
      const [, name = '', anchor = '', written = ''] = match
      lines.shift()
      const inner = /^ */.exec(lines[0] ?? '')?.[0] ?? ''
      let value: Yaml = written
      if (written === '') value = inner.length > indent.length ? mapAt(inner) : null
      else if (written.startsWith('*')) value = anchors.get(written.slice(1)) ?? null
      else if (/^[["]/.test(written)) value = JSON.parse(written) as Yaml
      anchors.set(anchor, value)
      if (name === '<<') Object.assign(map, value)
      else map[name] = value
    }
    return map
  }
  const map = mapAt('')
  if (lines.length > 0) throw new Error(`no entry of a map: ${lines[0]}`)
  return map
}
