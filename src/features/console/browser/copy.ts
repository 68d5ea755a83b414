// A button that copies: the text that an element has in `data-copy`.

export function addCopyButton(copied: HTMLElement): void {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', copied.matches('pre') ? 'Copy these lines' : `Copy ${copied.textContent}`)
  button.addEventListener('click', () => {
    void copy(copied.dataset['copy'] ?? '').then((isDone) => {
      button.textContent = isDone ? 'Copied' : 'Select it manually'
    })
  })
  button.addEventListener('blur', () => (button.textContent = 'Copy'))
  copied.after(button)
}

/** Pages that came over plain HTTP from another machine have no clipboard; an older way works there. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    document.body.append(field)
    field.select()
    const isDone = document.execCommand('copy')
    field.remove()
    return isDone
  }
}
