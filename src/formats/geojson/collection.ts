// What a FeatureCollection says outside of its features: its type and, in old files, its coordinate system. Members
// come in any order, so this is known in two parts: before and after the features. Source: RFC 7946 §3.3, GeoJSON 2008 §3.

import { parseJson } from '../../json/json.ts'
import { JsonError } from '../../json/parser.ts'
import { concatBytes, copyBytes, utf8 } from '../../lib/bytes.ts'
import { NodeError } from '../../model/errors.ts'
import type { JsonValue } from '../../model/json.ts'
import { closeBrace, comma, openBrace } from '../json/text.ts'
import { requireWgs84 } from './crs.ts'

/** How to send what is no FeatureCollection. */
const hint =
  'Send a FeatureCollection or one Feature; one Feature a line as application/x-ndgeojson; plain records as application/json.'

export function notGeoJson(message: string): NodeError {
  return new NodeError('MalformedBody', message, { hint })
}

export class CollectionMembers {
  private readonly names = new Set<string>()
  private typed = false
  private readonly maxDepth: number

  constructor(maxDepth: number) {
    this.maxDepth = maxDepth
  }

  /** The collection from its brace to the bracket that opens its features. Throws NodeError `MalformedBody`, `UnsupportedCrs`. */
  head(bytes: Uint8Array): void {
    const fault = this.read(concatBytes([bytes, utf8(']}')]))
    if (fault !== undefined) throw notGeoJson(`The body does not begin as a FeatureCollection: ${fault}`)
  }

  /** The collection after the bracket that closes its features: what is wrong with it. Throws NodeError `UnsupportedCrs`. */
  tail(bytes: Uint8Array): string | undefined {
    if (bytes[0] === comma) {
      // With a brace in place of the comma, what follows is an object of its own.
      const object = copyBytes(bytes)
      object[0] = openBrace
      const before = this.names.size
      const fault = this.read(object)
      if (fault !== undefined) return `After the features, ${fault}`
      if (this.names.size === before) return 'After the features, a comma is followed by no member.'
    } else if (bytes[0] !== closeBrace) return 'After the features, a comma or the end of the collection is missing.'
    return this.typed ? undefined : "The collection has no member 'type', which is 'FeatureCollection'."
  }

  /** Notes the members of an object: what is wrong with them. */
  private read(bytes: Uint8Array): string | undefined {
    let members: JsonValue
    try {
      members = parseJson(bytes, { maxDepth: this.maxDepth })
    } catch (cause) {
      if (cause instanceof JsonError) return `the text ${cause.reason}.`
      throw cause
    }
    if (!(members instanceof Map)) return 'there is no object.'
    for (const name of members.keys()) {
      if (this.names.has(name)) return `the name '${name.slice(0, 60)}' stands a second time.`
      this.names.add(name)
    }
    const crs = members.get('crs')
    if (crs !== undefined) requireWgs84(crs, 'The FeatureCollection')
    const type = members.get('type')
    if (type !== undefined && type !== 'FeatureCollection') return "the type is not 'FeatureCollection'."
    this.typed ||= type !== undefined
    return undefined
  }
}
