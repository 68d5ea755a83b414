// The page of a saved query: saves its rows with the token of the tab, and deletes it after a second click.

import { saveWithToken } from '../browser/save-link.ts'
import { askWrite, heldToken, problemText } from '../browser/session.ts'

export function start(main: HTMLElement): void {
  const refused = main.querySelector<HTMLElement>('[role=alert]')
  const tell = (text: string): void => {
    if (refused !== null) refused.textContent = text
  }
  saveWithToken(main, tell)
  const button = main.querySelector<HTMLButtonElement>('[data-delete]')
  if (button === null) return
  button.hidden = heldToken() === undefined
  button.addEventListener('click', () => {
    if (button.textContent === 'Delete') {
      button.textContent = 'Delete it for everybody?'
      button.addEventListener('blur', () => (button.textContent = 'Delete'), { once: true })
      return
    }
    void askWrite('DELETE', `/q/${button.dataset['delete'] ?? ''}`).then((answer) => {
      if (answer.ok) location.assign('/q')
      else tell(problemText(answer))
    })
  })
}
