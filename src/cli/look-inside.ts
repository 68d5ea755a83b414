// What a `.json` file holds, told from its beginning: GeoJSON often has that name, and sent as plain JSON it would be
// one record. Used by ingest-source.ts where nobody said which format the file has.

import { open } from 'node:fs/promises'

/** Bytes that are looked at: `type` stands first or close to it in files that programs write. */
const lookBytes = 64 * 1024

export type JsonContent = 'json' | 'geojson' | 'topojson'

const contentOfType: Readonly<Record<string, JsonContent>> = {
  Feature: 'geojson',
  FeatureCollection: 'geojson',
  Topology: 'topojson',
}

/** What the file at `path` begins as. */
export async function jsonContent(path: string): Promise<JsonContent> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(lookBytes), 0, lookBytes, 0)
    return contentOf(buffer.toString('utf8', 0, bytesRead))
  } finally {
    await file.close()
  }
}

/** By the member `type` of an object at the top; by `features` where a long list hides `type`. */
export function contentOf(start: string): JsonContent {
  const text = start.replace(/^\uFEFF?[ \t\r\n]*/, '')
  if (!text.startsWith('{')) return 'json'
  let depth = 0
  let key: string | undefined
  for (const { 0: token } of text.matchAll(/"(?:[^"\\]|\\.)*"(?:[ \t\r\n]*:)?|[{}[\]]/g)) {
    if (token === '{' || token === '[') {
      if (depth === 1 && key === 'features' && token === '[') return 'geojson'
      depth++
    } else if (token === '}' || token === ']') depth--
    else if (depth === 1 && token.endsWith(':')) key = token.slice(1, token.lastIndexOf('"'))
    else if (depth === 1 && key === 'type') return contentOfType[token.slice(1, -1)] ?? 'json'
  }
  return 'json'
}
