// Names of datasets and columns for the editor, as the node tells them to the holder of this tab's token. What it does not
// tell is no fault: the editor then suggests less.

import type { Names } from './suggestions.ts'

const mostDatasets = 1000

export function nodeNames(token: string | undefined): Names {
  const ask = async (path: string): Promise<unknown> => {
    const headers = { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
    const answer = await fetch(path, { headers }).catch(() => undefined)
    return answer?.ok === true ? await answer.json().catch(() => undefined) : undefined
  }
  const list = once(async () => namesOf(await ask(`/datasets?limit=${mostDatasets}`), 'datasets', 'alias'))
  const columns = new Map<string, () => Promise<readonly string[]>>()
  return {
    datasets: list,
    async columns(alias) {
      const known = columns.get(alias) ?? once(async () => namesOf(await ask(`/${alias}`), 'columns', 'name'))
      columns.set(alias, known)
      return await known()
    },
  }
}

/** `body[list][…][name]`, where they are texts. */
function namesOf(body: unknown, list: string, name: string): readonly string[] {
  const items: unknown = Object(body)[list]
  const names = Array.isArray(items) ? items.map((item): unknown => Object(item)[name]) : []
  return names.filter((text) => typeof text === 'string')
}

export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
