// Publisher and contact of a dataset: the first lines of its attachment README.md, since Open Data Fabric has no other place
// for them. Pure; it runs in browsers, too.

export const readmePath = 'README.md'

export interface Readme {
  readonly publisher: string
  readonly contact: string
  /** What follows. */
  readonly text: string
}

const names = { publisher: 'Publisher', contact: 'Contact' } as const

export function readReadme(content: string): Readme {
  const found: Record<string, string> = {}
  let rest = content.replaceAll('\r\n', '\n')
  for (;;) {
    const [line, name = '', value = ''] = /^(Publisher|Contact): (.*)(?:\n|$)/.exec(rest) ?? []
    if (line === undefined || name in found) break
    found[name] = value.trim()
    rest = rest.slice(line.length)
  }
  return { publisher: found[names.publisher] ?? '', contact: found[names.contact] ?? '', text: rest.trim() }
}

/** Empty where nothing is said. */
export function readmeText({ text, ...said }: Readme): string {
  const oneLine = (value: string): string => value.replace(/\s+/g, ' ').trim()
  const lines = (['publisher', 'contact'] as const).flatMap((name) =>
    oneLine(said[name]) === '' ? [] : [`${names[name]}: ${oneLine(said[name])}`],
  )
  return [lines.join('\n'), text.trim()].filter((part) => part !== '').join('\n\n')
}
