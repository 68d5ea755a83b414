// The page of tokens: makes one and shows its text this once, revokes one after a second click, and draws the list anew.

import { askForPage } from '../browser/ask-for-page.ts'
import { addCopyButton } from '../browser/copy.ts'
import { askWrite, heldToken, problemText } from '../browser/session.ts'

export function start(main: HTMLElement): void {
  const list = main.querySelector<HTMLElement>('#tokens')
  const form = main.querySelector<HTMLFormElement>('#make-token')
  const made = main.querySelector<HTMLElement>('#made')
  const refused = main.querySelector<HTMLElement>('#refused')
  if (list === null || form === null || made === null || refused === null) return

  // Until now it could have been sent as a browser sends forms.
  form.hidden = false
  const drawAnew = async (): Promise<void> => {
    const { answer } = askForPage({ path: '/tokens', token: heldToken() })
    const found = (await answer)?.page.querySelector('#tokens')
    if (found !== null && found !== undefined) list.replaceChildren(...found.childNodes)
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void askWrite('POST', '/tokens', { body: wanted(new FormData(form)) }).then(async (answer) => {
      made.replaceChildren()
      refused.textContent = answer.ok ? '' : problemText(answer)
      if (!answer.ok) return
      const code = document.createElement('code')
      code.textContent = code.dataset['copy'] = String(answer.body['token'])
      made.append('The text of the token, shown only now: ', code)
      addCopyButton(code)
      form.reset()
      await drawAnew()
    })
  })
  list.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-revoke]') : null
    if (button === null) return
    if (button.textContent === 'Revoke') {
      button.textContent = 'Revoke it permanently?'
      button.addEventListener('blur', () => (button.textContent = 'Revoke'), { once: true })
      return
    }
    void askWrite('DELETE', `/tokens/${button.dataset['revoke'] ?? ''}`).then(async (answer) => {
      refused.textContent = answer.ok ? '' : problemText(answer)
      await drawAnew()
    })
  })
}

/** The body of POST /tokens for what the form says. */
function wanted(data: FormData): object {
  const text = (name: string): string => data.getAll(name).map(String).join('').trim()
  const datasets = text('datasets')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  const day = text('expires')
  return {
    name: text('holder'),
    scopes: data.getAll('scope').map(String),
    ...(datasets.length === 0 ? {} : { datasets }),
    ...(day === '' ? {} : { expiresAt: `${day}T23:59:59Z` }),
  }
}
