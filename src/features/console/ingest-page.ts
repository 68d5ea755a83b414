// The page on which a file is sent to a dataset: first looked at, then stored.

import { sizeText } from './format.ts'
import { html, type Html } from '../../libraries/base/html.ts'
import { type ParameterName, type ParameterRow, parameterRows, wordsOf } from '../../libraries/formats/parameters.ts'
import { otherEndings } from '../../libraries/formats/look-alike.ts'
import type { Page } from './layout.ts'

export interface ShownIngest {
  /** `account/dataset`, or empty. */
  readonly dataset: string
  /** Of the name that is proposed. */
  readonly account: string
  readonly mostBytes: number
  readonly formats: readonly {
    readonly title: string
    readonly mediaType: string
    /** Of file names, without the dot. */
    readonly endings: readonly string[]
    /** Names of the parameters that count for it and not for all. */
    readonly parameters: readonly string[]
  }[]
}

/** Parameters that the form asks for elsewhere, or that say nothing of a file. */
const elsewhere: readonly ParameterName[] = ['create', 'visibility', 'dryRun', 'rows', 'preset']

export function ingestPage({ dataset, account, mostBytes, formats }: ShownIngest): Page {
  const options = formats.map(
    ({ title, mediaType, endings, parameters }) =>
      html`<option value="${mediaType}" data-endings="${endings.join(' ')}" data-parameters="${parameters.join(' ')}">${title}</option>`,
  )
  const others = Object.entries(otherEndings).map(
    ([ending, mediaType]) => html`<option value="${mediaType}" data-endings="${ending}" hidden></option>`,
  )
  const fields = parameterRows.filter(([name]) => !elsewhere.includes(name)).map(fieldOf)
  return {
    title: 'Send a file',
    place: 'ingest',
    islands: ['ingest'],
    main: html`<h1>Send a file</h1>
<p class="lead">The node first looks at the beginning of the file and stores nothing. You see its lines beside its rows as they are read, or its faults with their places. Then it is stored whole, or not at all.</p>
<form class="check" novalidate data-most-bytes="${mostBytes}" data-account="${account}">
<label for="dataset">Dataset</label>
<input type="text" id="dataset" name="dataset" value="${dataset}" placeholder="account/dataset" spellcheck="false" autocomplete="off" autocapitalize="off">
<p class="choices"><label><input type="checkbox" name="create" value="true" checked> Create it if it is missing,</label>
<label for="visibility">readable by</label>
<select id="visibility" name="visibility"><option value="public">everyone who may read here</option><option value="private">tokens that cover it</option></select></p>
<div id="drop">
<label for="file">File</label>
<input type="file" id="file" aria-describedby="file-hint">
<p id="file-hint" class="hint">Choose a file or drop it anywhere on this page; up to ${sizeText(mostBytes)}.</p>
</div>
<label for="format">Format</label>
<select id="format" name="format"><option value="">by extension</option>${options}${others}</select>
<div id="time" hidden>
<label for="event-time">Event time</label>
<select id="event-time" aria-describedby="time-hint"></select>
<p id="time-hint" class="hint">The time that each record is about. The first block settles it for the dataset.</p>
</div>
<details><summary>How it is to be read</summary><div class="parameters">${fields}
<div class="parameter" data-of-format="dateFormat"><label for="of-column">One column <span class="hint">gets fields of its own for texts that are no value, and for days and times</span></label><select id="of-column"></select></div></div></details>
<datalist id="zones"></datalist>
<button type="submit" disabled>Preview</button>
</form>
<noscript><p class="note">This page needs scripts. Without scripts: <code>curl -X POST --data-binary @rows.csv -H 'Content-Type: text/csv' -H "Authorization: Bearer $TOKEN" …/account/dataset/ingest</code></p></noscript>
<section class="check" aria-label="Outcome">
<div id="result" role="status" tabindex="-1"></div>
<div id="details"></div>
</section>`,
  }
}

/** A parameter of ingest; those of some formats are shown for these alone. */
function fieldOf([name, row]: readonly [ParameterName, ParameterRow]): Html {
  const words = wordsOf(row)
  const title = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  const label = html`<label for="p-${name}">${title.charAt(0).toUpperCase()}${title.slice(1)} <span class="hint">${row.about.replace(/; \w+\.<column>.*/, '')}</span></label>`
  const field =
    words === undefined
      ? html`<input type="text" id="p-${name}" name="p-${name}" ${name === 'timeZone' ? html`list="zones"` : ''} spellcheck="false" autocomplete="off" autocapitalize="off">`
      : html`<select id="p-${name}" name="p-${name}"><option value=""></option>${words.map((word) => html`<option>${word}</option>`)}</select>`
  return html`<div class="parameter" ${row.isOfFormat === true ? html`data-of-format="${name}"` : ''}>${label}${field}</div>`
}
