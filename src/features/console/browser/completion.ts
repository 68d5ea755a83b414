// What a half-written name in a statement may become: names of datasets inside and outside of quotes, and columns of the
// datasets that the statement names. Pure.

export interface Known {
  /** `account/dataset`. */
  readonly datasets: readonly string[]
  /** By dataset. */
  readonly columns: ReadonlyMap<string, readonly string[]>
}

export interface Completion {
  /** What is replaced: from here to the cursor. */
  readonly from: number
  readonly options: readonly { readonly label: string; readonly text: string; readonly about: string }[]
}

const mostOptions = 8

/** What may stand for the word before `caret`; no options where there is no word. `statement` is the whole text. */
export function completionsAt(statement: string, caret: number, known: Known): Completion {
  const before = statement.slice(0, caret)
  const isQuoted = (before.split('"').length - 1) % 2 === 1
  const written = (isQuoted ? /[^"]*$/ : /[\p{L}_][\p{L}\p{N}_/-]*$/u).exec(before)?.[0] ?? ''
  const closing = isQuoted && statement[caret] !== '"' ? '"' : ''
  const finish = (name: string): string => (isQuoted ? `${name.replaceAll('"', '""')}${closing}` : quoted(name))
  const columns = new Map(
    namedIn(statement, known.datasets).flatMap((dataset) =>
      (known.columns.get(dataset) ?? []).map((name) => [name, dataset] as const),
    ),
  )
  const names = [
    ...[...columns].map(([name, about]) => ({ label: name, text: finish(name), about })),
    ...known.datasets.map((name) => ({ label: name, text: finish(name), about: 'dataset' })),
  ]
  const folded = written.toLowerCase()
  const fits = names.filter(
    ({ label }) => label.toLowerCase() !== folded && partsOf(label).some((part) => part.startsWith(folded)),
  )
  const isAsked = written !== '' || isQuoted
  return { from: caret - written.length, options: isAsked ? fits.slice(0, mostOptions) : [] }
}

/** The datasets that a statement names, as `"a/b"`, `a.b` or `a."b"`. */
export function namedIn(statement: string, datasets: readonly string[]): readonly string[] {
  const folded = statement.toLowerCase()
  return datasets.filter((alias) => {
    const [account = '', dataset = ''] = alias.toLowerCase().split('/')
    return [`"${account}/${dataset}"`, `${account}.${dataset}`, `${account}."${dataset}"`].some((name) =>
      folded.includes(name),
    )
  })
}

/** A name is found by its start, and a dataset by that of its own name, too. */
function partsOf(label: string): readonly string[] {
  const folded = label.toLowerCase()
  const slash = folded.indexOf('/')
  return slash < 0 ? [folded] : [folded, folded.slice(slash + 1)]
}

/** A name outside of quotes: in quotes where it is no plain word, or `offset`, which the engine has for itself. */
function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && name !== 'offset' ? name : `"${name.replaceAll('"', '""')}"`
}
