// The values of a column as few classes, which have colours on a map: numbers and times by their order, about as many rows in each
// class; texts and truth values by those that are met most. Pure.

import { type AnswerColumn, edgeText, isName, numberOf } from './cells.ts'

const mostSteps = 6
const mostNames = 8

/** `name`: of its colour, as the style has it; `text`: for readers. */
export interface ValueClass {
  readonly name: string
  readonly text: string
}

/** For each cell its class; undefined for nulls, other texts, and numbers that are none. */
export function classesOf(
  cells: readonly (string | undefined)[],
  column: AnswerColumn,
): readonly (ValueClass | undefined)[] {
  return isName(column) ? byName(cells) : byOrder(cells, column)
}

function byName(cells: readonly (string | undefined)[]): ReturnType<typeof classesOf> {
  const counts = new Map<string | undefined, number>()
  for (const cell of cells) counts.set(cell, (counts.get(cell) ?? 0) + 1)
  const texts = [...counts].sort(([, a], [, b]) => b - a).flatMap(([text]) => (text === undefined ? [] : [text]))
  const classes = new Map<string | undefined, ValueClass>(
    texts.slice(0, mostNames).map((text, at) => [text, { name: `name-${at}`, text }]),
  )
  return cells.map((cell) => classes.get(cell))
}

function byOrder(cells: readonly (string | undefined)[], column: AnswerColumn): ReturnType<typeof classesOf> {
  const numbers = cells.map((cell) => numberOf(cell, column))
  const sorted = numbers.filter((number) => Number.isFinite(number)).sort((a, b) => a - b)
  const parts = Array.from({ length: mostSteps }, (_, at) => sorted[Math.floor((at * sorted.length) / mostSteps)])
  const starts = [...new Set(parts)].filter((start) => start !== undefined)
  const classes = starts.map((start, at) => {
    const next = starts[at + 1] ?? Number.POSITIVE_INFINITY
    const [from, to] = [start, sorted.findLast((number) => number < next) ?? start].map((edge) =>
      edgeText(edge, column),
    )
    // Of fewer classes the colours are further apart.
    const step = Math.round((at * (mostSteps - 1)) / Math.max(1, starts.length - 1))
    return { name: `step-${step}`, text: from === to ? `${from}` : `${from} to ${to}` }
  })
  return numbers.map((number) => classes[starts.findLastIndex((start) => number >= start)])
}
