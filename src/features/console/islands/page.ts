// The script of every page: the token of this tab, with which the same address is asked for again and its main swapped;
// buttons that copy; and the start of the islands that a page names. Without it pages show what anyone may read.

import { askForPage } from '../browser/ask-for-page.ts'
import { addCopyButton } from '../browser/copy.ts'
import { forgetToken, heldToken, holdToken, showSession } from '../browser/session.ts'

interface Island {
  start(main: HTMLElement): void
}

const main = document.querySelector('main') ?? document.body

addEventListener('pageshow', (event) => {
  // A page that the browser kept while its tab got another token.
  if (event.persisted && heldToken() !== undefined) void showWith(heldToken())
})

showSession()
/** How often this page was asked for with a token: an answer that another question overtook is not shown. */
let asked = 0
const token = heldToken()
if (token === undefined) void startIslands()
else void showWith(token)

/** Asks for this address with the token and shows what comes: the page, or why there is none. */
async function showWith(text: string | undefined): Promise<void> {
  const { answer } = askForPage({ path: addressToShow(), token: text })
  const question = ++asked
  const heldBefore = heldToken()
  const shown = await answer
  // Another token was given meanwhile, here or in a script: this answer is of the one before.
  if (question !== asked || heldToken() !== heldBefore) return
  if (shown === undefined) return say('The node does not answer.')
  const { status, page } = shown
  const found = page.querySelector('main')
  if (found === null) return say(`The node answers ${status} without a page.`)
  // A statement that is wrong says nothing of the token.
  if (status === 401 || (status === 400 && found.querySelector('#answer') === null)) {
    forgetToken()
    showSession()
    return say(page.querySelector('.lead')?.textContent ?? 'This token is not valid here.')
  }
  if (text !== undefined) holdToken(text)
  showSession()
  document.title = page.title
  main.dataset['islands'] = found.dataset['islands'] ?? ''
  main.replaceChildren(...found.childNodes)
  bindForms(main)
  await startIslands()
}

/** This address; what a link from elsewhere says of running is left out. */
function addressToShow(): string {
  const isOwn = URL.canParse(document.referrer) && new URL(document.referrer).origin === location.origin
  const query = new URLSearchParams(location.search)
  if (isOwn || !query.has('run')) return location.pathname + location.search
  query.delete('run')
  return `${location.pathname}?${query}`
}

async function startIslands(): Promise<void> {
  for (const copied of main.querySelectorAll<HTMLElement>('[data-copy]')) addCopyButton(copied)
  const addresses = (main.dataset['islands'] ?? '').split(' ').filter((address) => address.startsWith('/assets/'))
  const islands = await Promise.all(addresses.map(async (address) => (await import(address)) as Island)) // what they export
  for (const island of islands) island.start(main)
}

bindForms(document)

function bindForms(within: ParentNode): void {
  for (const form of within.querySelectorAll<HTMLFormElement>('form[data-token]')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      const text = form.querySelector('input')?.value.trim() ?? ''
      if (!/^[!-~]+$/.test(text)) return say('This is not a token: it has characters that no token has.')
      say('')
      void showWith(text).then(() => {
        if (heldToken() !== text) return
        form.reset()
        form.closest('details')?.removeAttribute('open')
      })
    })
    form.querySelector('button.quiet')?.addEventListener('click', () => {
      forgetToken()
      location.reload()
    })
  }
}

function say(text: string): void {
  for (const place of document.querySelectorAll('form[data-token] [role=alert]')) place.textContent = text
}
