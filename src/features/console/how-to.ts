// Commands that a reader can copy: how a dataset is written and read from the programs that people have, with the address
// of this node in them.

import { type Html, html } from '../../libraries/base/html.ts'

interface Way {
  readonly name: string
  readonly text: string
}

/** What the commands are about. */
export interface Addressed {
  /** `http://host:port` as the browser knows it. */
  readonly origin: string
  readonly alias: string
  /** A record as the dataset takes them, as JSON. */
  readonly example: string
  /** Its rows have places. */
  readonly hasGeometry: boolean
  /** Its features have addresses: there are some, and maps are served. */
  readonly hasItems: boolean
  /** Readers need no token. */
  readonly isOpen: boolean
}

/** A text to copy. */
export function commands(text: string): Html {
  return html`<pre class="command" data-copy="${text}" tabindex="0"><code>${text}</code></pre>`
}

export function howToWrite(addressed: Addressed): Html {
  return ways('write', writing(addressed))
}

export function howToRead(addressed: Addressed): Html {
  return ways('read', reading(addressed))
}

/** One open at a time; the browser's own element, so that it works without a script. */
function ways(group: string, list: readonly Way[]): Html {
  const items = list.map(({ name, text }, at) => {
    const open = at === 0 ? html` open` : undefined
    return html`<details name="${group}"${open}><summary>${name}</summary>${commands(text)}</details>`
  })
  return html`<div class="ways">${items}</div>`
}

function writing({ origin, alias, example }: Addressed): readonly Way[] {
  const url = `${origin}/${alias}/ingest`
  return [
    {
      name: 'curl',
      text: `curl -X POST '${url}' \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/x-ndjson' \\
  -d ${shellText(example)}`,
    },
    {
      name: 'A file',
      text: `curl -X POST '${url}' \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: text/csv' \\
  --data-binary @rows.csv`,
    },
    {
      name: 'Python',
      text: `import proofstream

node = proofstream.Node(${JSON.stringify(origin)}, token=TOKEN)
node.ingest(${JSON.stringify(alias)}, "rows.csv")  # or data frames, or dictionaries`,
    },
  ]
}

function reading({ origin, alias, hasGeometry, hasItems, isOpen }: Addressed): readonly Way[] {
  const token = isOpen ? '' : ' \\\n  -H "Authorization: Bearer $TOKEN"'
  const header = isOpen ? '' : ',\n  headers = c(Authorization = paste("Bearer", Sys.getenv("TOKEN")))'
  const bearer = isOpen ? '' : ', token=TOKEN'
  const name = alias.split('/')[1] ?? 'rows'
  const saved = (file: string, format: string): string =>
    `curl -o ${file} '${origin}/${alias}/export?format=${format}'${token}`
  const file = `${name}.parquet`
  const maps = {
    name: 'QGIS',
    text: `Layer → Add Layer → Add WFS / OGC API - Features Layer → New
URL: ${origin}/ogc
Collection: ${alias.replace('/', ':')}`,
  }
  return [
    {
      name: 'curl',
      text: `curl -G '${origin}/query'${token} \\
  --data-urlencode ${shellText(`query=select count(*) from "${alias}"`)}`,
    },
    { name: 'A file', text: saved(file, 'parquet') },
    ...(hasGeometry ? [{ name: 'GeoJSON', text: saved(`${name}.geojson`, 'geojson') }] : []),
    {
      name: 'Python',
      text: `import proofstream

node = proofstream.Node(${JSON.stringify(origin)}${bearer})
answer = node.query('select * from "${alias}" limit 1000', limit=1000, proof=True)
frame = answer.to_pandas()  # its signature was checked`,
    },
    {
      name: 'R',
      text: `download.file("${origin}/${alias}/export?format=parquet", "${file}", mode = "wb"${header})
rows <- arrow::read_parquet("${file}")`,
    },
    ...(hasItems ? [maps] : []),
  ]
}

/** One word for a shell. */
function shellText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
