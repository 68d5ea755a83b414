// Ways to read a body that a node names in its answers, as a person chooses among them.

import { jsonText, type JsonValue } from '../index.ts'
import { cleanText } from '../libraries/base/clean-text.ts'
import { flagsText, withFlags } from '../libraries/formats/flags.ts'
import type { Choice, Parameters } from './failure.ts'
import { itemsAt, memberAt, textAt } from '../libraries/base/json/members.ts'

const choicesMost = 50
const firstChars = 200

/** Those of an answer or a problem: offers of a dialect, candidates of what is in doubt. */
export function choicesOf(body: JsonValue | undefined): readonly Choice[] {
  const told = [...itemsAt(body, 'candidates'), ...itemsAt(body, 'offers')].slice(0, choicesMost)
  return told.flatMap((one) => {
    const parameters = memberAt(one, 'parameters')
    if (!(parameters instanceof Map)) return []
    const texts = [...parameters].map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(textOf) : textOf(value),
    ])
    return [{ what: withFlags(whatOf(one)), parameters: Object.fromEntries(texts) as Parameters }] // as they were made
  })
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : jsonText(value)
}

function whatOf(told: JsonValue): string {
  const field = textAt(told, 'field')
  if (field !== undefined) return `${field}: ${textAt(told, 'why') ?? ''}`
  const first = memberAt(told, 'first')
  const cells = first instanceof Map ? [...first].map(([name, value]) => `${name} ${jsonText(value)}`).join(', ') : ''
  const shown = cells.length > firstChars ? `${cells.slice(0, firstChars)}…` : cells
  const changed = textAt(told, 'changed')
  return `first record: ${shown}${changed === undefined ? '' : `; reads '${changed}'`}`
}

/** Each as two lines: what it is, and the flags that say so. */
export function choiceLines(choices: readonly Choice[]): string[] {
  return choices.flatMap(({ what, parameters }, at) => [`${at + 1}) ${cleanText(what)}`, `   ${flagsText(parameters)}`])
}
