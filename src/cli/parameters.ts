// `--param city=Oslo --param n:=3`: values for the parameters of a statement, text behind `=`, JSON behind `:=`.

import { type JsonObject, type JsonValue, parseJson } from '../index.ts'
import { CommandFailure, exitCodes } from './failure.ts'

/** The member `parameters` of a request; undefined where none is given. Throws CommandFailure (usage). */
export function parametersOf(texts: readonly string[] | undefined): JsonValue | undefined {
  if (texts === undefined || texts.length === 0) return undefined
  const members: JsonObject = new Map()
  for (const text of texts) {
    const [, name = '', sign = '', value = ''] = /^\$?([^=:]+)(:?=)([\s\S]*)$/.exec(text) ?? []
    if (name === '') throw usage(`'${text}' is not a parameter.`)
    if (members.has(name)) throw usage(`The parameter ${name} is given twice.`)
    members.set(name, sign === '=' ? value : jsonOf(name, value))
  }
  const isList = [...members.keys()].every((name) => /^[1-9]\d*$/.test(name) && Number(name) <= members.size)
  if (!isList) return members
  return [...members].sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value)
}

function jsonOf(name: string, text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (cause) {
    throw usage(`The value of ${name} is not JSON: ${text.slice(0, 100)}`, cause)
  }
}

function usage(message: string, cause?: unknown): CommandFailure {
  return new CommandFailure(exitCodes.usage, message, {
    hint: 'Write --param city=Oslo for a text, --param n:=3 for a number, true, false or null.',
    ...(cause === undefined ? {} : { cause }),
  })
}
