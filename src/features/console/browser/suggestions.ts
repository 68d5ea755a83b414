// The list under the editor: names that fit what is being written. Arrow down goes into it, Enter takes, Escape closes it;
// a pointer takes, too. The focus stays in the editor, and a screen reader hears the chosen name.

import { cleanText } from '../../../libraries/base/clean-text.ts'
import { type Completion, completionsAt, type Known, namedIn } from './completion.ts'

type State =
  | { readonly name: 'closed' }
  | { readonly name: 'open'; readonly completion: Completion; readonly chosen: number | undefined }

/** Names of the node, asked for once each. */
export interface Names {
  readonly datasets: () => Promise<readonly string[]>
  readonly columns: (dataset: string) => Promise<readonly string[]>
}

export function addSuggestions(editor: HTMLTextAreaElement, names: Names): void {
  const list = document.createElement('ul')
  list.id = 'suggestions'
  list.className = 'suggestions'
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', 'Matching names')
  list.hidden = true
  editor.after(list)
  editor.setAttribute('aria-autocomplete', 'list')
  editor.setAttribute('aria-controls', list.id)
  let state: State = { name: 'closed' }

  const show = (next: State): void => {
    state = next
    list.hidden = next.name === 'closed'
    editor.removeAttribute('aria-activedescendant')
    if (next.name === 'closed') return list.replaceChildren()
    list.replaceChildren(...next.completion.options.map((option, at) => itemOf(option, at, at === next.chosen)))
    if (next.chosen !== undefined) editor.setAttribute('aria-activedescendant', `suggestion-${next.chosen}`)
  }
  const take = (at: number): void => {
    if (state.name !== 'open') return
    const { from, options } = state.completion
    const text = options[at]?.text
    show({ name: 'closed' })
    if (text === undefined) return
    editor.focus()
    editor.setSelectionRange(from, editor.selectionStart)
    // The only way to insert that can be undone.
    document.execCommand('insertText', false, text)
    show({ name: 'closed' })
  }
  const look = async (): Promise<void> => {
    const text = editor.value
    const known = await knownFor(names, text)
    // More was written meanwhile.
    if (editor.value !== text || document.activeElement !== editor) return
    const completion = completionsAt(text, editor.selectionStart, known)
    show(completion.options.length === 0 ? { name: 'closed' } : { name: 'open', completion, chosen: undefined })
  }

  editor.addEventListener('input', () => void look())
  editor.addEventListener('blur', () => show({ name: 'closed' }))
  editor.addEventListener('keydown', (event) => {
    if (state.name === 'closed') return
    const { completion, chosen } = state
    const count = completion.options.length
    if (event.key === 'Escape') show({ name: 'closed' })
    else if (event.key === 'ArrowDown') show({ ...state, chosen: chosen === undefined ? 0 : (chosen + 1) % count })
    else if (event.key === 'ArrowUp' && chosen !== undefined) show({ ...state, chosen: (chosen + count - 1) % count })
    else if (event.key === 'Enter' && chosen !== undefined && !event.ctrlKey && !event.metaKey) take(chosen)
    else return
    event.preventDefault()
  })
  // Before the editor loses the focus.
  list.addEventListener('pointerdown', (event) => {
    event.preventDefault()
    const item = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-at]') : null
    if (item !== null) take(Number(item.dataset['at']))
  })
}

function itemOf({ label, about }: Completion['options'][number], at: number, isChosen: boolean): HTMLElement {
  const item = document.createElement('li')
  item.id = `suggestion-${at}`
  item.dataset['at'] = String(at)
  item.setAttribute('role', 'option')
  item.setAttribute('aria-selected', String(isChosen))
  const note = document.createElement('small')
  note.textContent = about
  item.append(`${cleanText(label)} `, note)
  return item
}

async function knownFor(names: Names, statement: string): Promise<Known> {
  const datasets = await names.datasets()
  const named = namedIn(statement, datasets)
  const columns = await Promise.all(named.map(async (alias) => [alias, await names.columns(alias)] as const))
  return { datasets, columns: new Map(columns) }
}
