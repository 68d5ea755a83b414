// A field for the token where it is needed: the page stays as it is, and what needed the token goes on.

import { element } from './element.ts'
import { holdToken, showSession } from './session.ts'

export function tokenHere(goOn: () => void): { readonly nodes: readonly HTMLElement[]; readonly field: HTMLElement } {
  const field = document.createElement('input')
  Object.assign(field, {
    type: 'password',
    id: 'token-here',
    autocomplete: 'off',
    required: true,
    placeholder: 'pst_…',
  })
  const label = element('label', '', 'Access token')
  label.setAttribute('for', field.id)
  const form = element('form', 'token', label, field, element('button', '', 'Sign in'))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    holdToken(field.value.trim())
    showSession()
    goOn()
  })
  const hint = 'On the machine of the node, the file “token” in its data folder has the token of the admin.'
  return { nodes: [form, element('p', 'hint', hint)], field }
}
