// Text of others in sentences of ours: its beginning is enough to know it by.

/** The first `mostChars` UTF-16 units of a longer text, no character cut in half, with an ellipsis. */
export function shortened(text: string, mostChars: number): string {
  return text.length <= mostChars ? text : `${text.slice(0, mostChars).replace(/[\ud800-\udbff]$/, '')}…`
}
