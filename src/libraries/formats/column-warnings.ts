// What is warned of the values of a column, as `Warnings.add` takes it. Each sentence is made once for its column: values by the
// million may call for it.

import type { ColumnPlan } from './column-plan.ts'
import { unitNames } from './time-rules.ts'

type Sentence = (column: ColumnPlan) => string

function once(say: Sentence): Sentence {
  const made = new WeakMap<ColumnPlan, string>()
  return (column) => {
    let sentence = made.get(column)
    if (sentence === undefined) made.set(column, (sentence = say(column)))
    return sentence
  }
}

export const cutTimes = once(
  ({ name, perSecond }) => `Times of '${name}' are kept in ${unitNames.get(perSecond)}; finer digits were cut off`,
)
export const roundedIntegers = once(({ name, typeText }) => `Integers of '${name}' were rounded to ${typeText}`)
export const lostSign = once(({ name, typeText }) => `Column '${name}' holds ${typeText}, and -0 became 0`)
export const lostSpelling = once(
  ({ name }) => `Column '${name}' holds numbers: leading zeros, plus signs and bare exponents are not kept`,
)
export const valuesAsText = once(
  ({ name }) => `Column '${name}' holds texts; what is none is stored as its JSON text, and goes out as a text`,
)
