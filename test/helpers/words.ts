// The rules of plain English for texts that a user reads, and what breaks them in a text: the sentences of a Markdown page
// or of a JSON file of texts, each with the rule that it breaks.

/** A sentence that breaks a rule. */
export interface Breach {
  readonly rule: string
  readonly sentence: string
}

export const mostWords = 30

/** Phrases that are not native English, or that hide who does what. */
const phrases: Readonly<Record<string, RegExp>> = {
  'who without a noun': /\b(?:for|to|by|of|with|from|than|as|is|and|or|but|that) who\b|\bwhoever\b|^Who \w.*[^?]$/i,
  'is none of': /\b(?:is|are|was|were) none of\b/i,
  'for ever': /\bfor ever\b/i,
  'that there are': /\bthat there (?:is|are|was|were)\b/i,
  'what is … is':
    /\bwhat (?:is|are|was|were)(?: (?!and\b|or\b|where\b|how\b|why\b|who\b)[\w'-]+){1,5}? (?:is|are|was|were)\b(?! not\?)/i,
  'of its own': /\bof (?:its|their) own\b/i,
  'is told': /\b(?:is|are|was|were|be|been) told\b/i,
  'stands or lies': /\b(?:stand|stands|lie|lies)\b(?! for\b)/i,
}

/** The breaches of one sentence. A default in parentheses has a colon to itself. */
export function breachesOf(sentence: string): Breach[] {
  const rules = Object.entries(phrases).flatMap(([rule, pattern]) => (pattern.test(sentence) ? [rule] : []))
  if (sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word)).length > mostWords)
    rules.push(`more than ${mostWords} words`)
  if ((sentence.replace(/\(default: [^)]*\)/g, '').match(/[:;](?=\s)/g) ?? []).length > 1)
    rules.push('more than one colon or semicolon')
  return rules.map((rule) => ({ rule, sentence }))
}

/** The sentences of a text: code is one word, as is a list of links, and a link is its words. */
export function sentencesOf(text: string): string[] {
  return text
    .replace(/`[^`]*`/g, '`code`')
    .replace(/(?:\[[^\]]*\]\([^)]*\)\s*){5,}/g, '`list`')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .split(/(?<=[.?!]["”')*]*)\s+(?=[^a-z]|[\w-]+[./]\w)/)
    .map((sentence) => sentence.replace(/\*\*/g, '').trim())
    .filter((sentence) => sentence !== '')
}

/** The breaches of a Markdown page: of its paragraphs, items and cells, not of its blocks of code. */
export function breachesOfPage(page: string): Breach[] {
  return page
    .replace(/^ *```[\s\S]*?^ *```$/gm, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=#)|(?<=^#.*)\n/m)
    .flatMap((part) => (part.trimStart().startsWith('|') ? part.split(/(?<!\\)\||\n/) : [part]))
    .map((part) => part.replace(/^\s*(?:[-*]|\d+\.|#+) /, ''))
    .flatMap(sentencesOf)
    .flatMap(breachesOf)
}

/** The breaches of all texts in a JSON value. */
export function breachesOfJson(value: unknown): Breach[] {
  if (typeof value === 'string') return sentencesOf(value).flatMap(breachesOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(breachesOfJson)
}
