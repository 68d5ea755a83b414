// Where records have a value that a control names (`eventTime`, `dedupe`): under a name of their own, or deeper inside. The
// text of a control is a name, or a JSON pointer (RFC 6901, https://www.rfc-editor.org/rfc/rfc6901). Pure.

import { NodeError } from '../base/errors.ts'

/** Readers look for a name among the columns of the input, and follow a path from the record's root. */
export type FieldPlace =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'path'; readonly path: readonly string[] }

/** What of a format decides where a value may stand: without `nesting`, its records have columns and nothing inside of them. */
export interface Placing {
  readonly title: string
  readonly nesting?: 'objects' | 'features'
  /** Objects in objects are columns, their names joined by underscores. */
  readonly flatten: boolean
}

/** The place that the control `parameter` names by `text`. Throws NodeError `InvalidParameter`. */
export function fieldPlaceOf(parameter: string, text: string, { title, nesting, flatten }: Placing): FieldPlace {
  if (!text.startsWith('/')) return { kind: 'name', name: text }
  const path = pointerPath(parameter, text)
  const inside = nesting === 'features' ? path.slice(1) : path
  if (nesting === 'features' && (path[0] !== 'properties' || inside.length === 0)) {
    throw badPlace(parameter, text, 'leads to no property', `Write a property's name, or /properties/…`)
  }
  if (nesting === undefined && inside.length > 1) {
    throw badPlace(parameter, text, `leads into an object, and ${title} has none`, 'Name a column.')
  }
  return inside.length === 1 || flatten ? { kind: 'name', name: inside.join('_') } : { kind: 'path', path }
}

/** The reference tokens of a JSON pointer that the control `parameter` names. Throws NodeError `InvalidParameter`. */
export function pointerPath(parameter: string, text: string): readonly string[] {
  const path = text.split('/').slice(1)
  if (text.startsWith('/') && !path.includes('') && !/~(?![01])/.test(text)) {
    return path.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  }
  throw badPlace(parameter, text, 'is not a JSON pointer', 'Write it as /member/member; ~1 stands for /, ~0 for ~.')
}

function badPlace(parameter: string, text: string, why: string, hint: string): NodeError {
  return new NodeError('InvalidParameter', `The parameter ${parameter} is '${text.slice(0, 80)}', which ${why}.`, {
    hint,
  })
}
