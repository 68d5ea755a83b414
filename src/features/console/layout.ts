// The frame around every page: head, navigation, the form for a token, main. A page is its title and what stands in main;
// scripts are islands, which `islands/page.ts` starts once main is there.

import { type Html, html } from '../../libraries/base/html.ts'

/** A page of the console. */
export interface Page {
  readonly title: string
  /** What stands in `<main>`; the first heading is an `h1`. */
  readonly main: Html
  /** The entry of the navigation that it belongs to. */
  readonly place?: (typeof places)[number]['name']
  /** Names of files of `islands/`; each exports `start(main)`. */
  readonly islands?: readonly string[]
}

/** Address of a built file by its name (`page.js`); undefined where the console's files were not built. */
export type AddressOf = (name: string) => string | undefined

const places = [
  { name: 'datasets', path: '/', text: 'Datasets' },
  { name: 'query', path: '/query', text: 'SQL' },
  { name: 'ingest', path: '/ingest', text: 'Send' },
  { name: 'verify', path: '/verify', text: 'Verify' },
  { name: 'node', path: '/info', text: 'Node' },
  { name: 'tokens', path: '/tokens', text: 'Tokens' },
  { name: 'errors', path: '/errors', text: 'Errors' },
  { name: 'api', path: '/swagger', text: 'API' },
] as const

/** Shown by the island `live` while a page follows its datasets. */
export const liveMark = html`<span class="tag live" hidden>live</span>`

/** The whole text of a page. */
export function layout({ title, main, place, islands = [] }: Page, addressOf: AddressOf): string {
  const [style, script, icon] = ['console.css', 'page.js', 'icon.svg'].map(addressOf)
  const addresses = islands.map((name) => addressOf(`${name}.js`)).filter((address) => address !== undefined)
  const entries = places.map((entry) => {
    const current = entry.name === place ? html` aria-current="page"` : undefined
    return html`<a href="${entry.path}"${current}>${entry.text}</a>`
  })
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Proofstream</title>
<link rel="icon" type="image/svg+xml" href="${icon}">
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
${addresses.map((address) => html`<link rel="modulepreload" href="${address}">`)}
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header>
<a class="brand" href="/">${mark}<span>Proofstream</span></a>
<nav aria-label="Pages">${entries}</nav>
<details class="session" hidden>
<summary>Token</summary>
${tokenForm('token-top')}
</details>
</header>
<main id="main" tabindex="-1" data-islands="${addresses.join(' ')}">
${style === undefined ? unbuilt : undefined}
${main}
</main>
</body>
</html>
`.text
}

const mark = html`<svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true"><rect width="16" height="16" rx="4"/><path d="M4 8.4l2.9 2.9L12 5.6"/></svg>`

const unbuilt = html`<p class="note">The styles and scripts of these pages have not been built here. In a checkout, run <code>node scripts/build-pages.ts</code> and start the node again.</p>`

/** Where a token is given, by script alone: the field has no name, so that no address ever holds what is in it. */
function tokenForm(id: string): Html {
  return html`<form class="token" data-token autocomplete="off">
<label for="${id}">Access token</label>
<input id="${id}" type="password" autocomplete="off" spellcheck="false" required placeholder="pst_…">
<button type="submit">Sign in</button>
<button type="button" class="quiet">Sign out</button>
<p class="hint">Kept in this tab until you close it, and sent only to this node.</p>
<p class="bad" role="alert"></p>
</form>`
}

/** What stands where nothing may be read without a token: the same for every address. */
export const shell: Page = {
  title: 'Token needed',
  main: html`<div class="shell">
<h1>You need a token to read here</h1>
<p>Paste a token with the scope <code>read</code>. On the machine of the node, the file <code>token</code> in its data folder has the token of the admin, who can make others.</p>
${tokenForm('token-main')}
<noscript><p class="note">Without scripts a page cannot hold a token. A program can:
<code>curl -H "Authorization: Bearer $TOKEN" …</code></p></noscript>
</div>`,
}
