// Reads docker-compose.yml: the part of YAML that it uses, and nothing else, so that a slip is an error. Maps by
// indentation, flow lists of quoted texts, plain and quoted scalars, anchors, aliases and merged maps.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './sources.ts'

export type Yaml = string | null | readonly string[] | YamlMap
export interface YamlMap {
  readonly [name: string]: Yaml
}

interface Line {
  readonly indent: number
  readonly name: string
  readonly rest: string
}

export interface Service {
  readonly image?: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly profiles?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck: { readonly test: readonly string[] }
  readonly [name: string]: unknown
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, null>>
}

/** The file of this repository. */
export function readCompose(): Compose {
  return parseYaml(readFileSync(join(repository, 'docker-compose.yml'), 'utf8')) as unknown as Compose
}

/** Throws an error that names the line which is none of the forms known here. */
export function parseYaml(text: string): YamlMap {
  const lines = text.split('\n').flatMap((line, at) => (/^\s*(?:#.*)?$/.test(line) ? [] : [lineOf(line, at + 1)]))
  const anchors = new Map<string, Yaml>()
  let at = 0
  const mapAt = (indent: number): YamlMap => {
    const map: Record<string, Yaml> = {}
    for (let line = lines[at]; line !== undefined && line.indent === indent; line = lines[at]) {
      at++
      const value = valueOf(line)
      if (line.name === '<<') Object.assign(map, value)
      else if (Object.hasOwn(map, line.name) && lines[at - 2]?.name !== '<<') throw new Error(`${line.name} twice`)
      else map[line.name] = value
    }
    const next = lines[at]
    if (next !== undefined && next.indent > indent) throw new Error(`${next.name} is indented too far`)
    return map
  }
  const valueOf = ({ indent, rest }: Line): Yaml => {
    const [, anchor, written = ''] = /^(?:&([\w-]+)\s*)?(.*)$/.exec(rest) ?? []
    const next = lines[at]
    let value: Yaml
    if (written.startsWith('*')) {
      const held = anchors.get(written.slice(1))
      if (held === undefined) throw new Error(`${written} stands for nothing`)
      value = held
    } else if (written === '') value = next !== undefined && next.indent > indent ? mapAt(next.indent) : null
    else if (written.startsWith('[')) value = JSON.parse(written) as readonly string[]
    else value = written.startsWith('"') ? (JSON.parse(written) as string) : written
    if (anchor !== undefined) anchors.set(anchor, value)
    return value
  }
  const map = mapAt(0)
  if (at < lines.length) throw new Error(`${lines[at]?.name} stands in no map`)
  return map
}

function lineOf(text: string, number: number): Line {
  const match = /^( *)([\w.-]+|<<):(?: +(\S.*?))? *$/.exec(text)
  if (match === null) throw new Error(`line ${number} is no entry of a map: ${text}`)
  const [, spaces = '', name = '', rest = ''] = match
  return { indent: spaces.length, name, rest }
}
