// Text from outside made harmless for its reader, in a terminal or on a page: what controls and what reorders is shown,
// not obeyed.

/** `text` without control characters (escaped, `keep` excepted) and without what reorders text for its reader. */
export function cleanText(text: string, keep = ''): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    keep.includes(character) ? character : (shortEscapes[character] ?? hexEscape(character)),
  )
}

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function hexEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
