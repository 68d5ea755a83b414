// Elements as values: what a chart is made of, before a server writes it as HTML or a script makes elements of it. So both draw
// the same, and a script needs no markup, which the policy of pages forbids.

export interface Mark {
  readonly name: string
  /** Those that are undefined are left out. */
  readonly attributes: Readonly<Record<string, string | number | undefined>>
  readonly children: readonly (Mark | string)[]
}

export function mark(name: string, attributes: Mark['attributes'], ...children: Mark['children']): Mark {
  return { name, attributes, children }
}
