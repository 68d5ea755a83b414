// What the values of options look like, and the items of those that are lists: one of another form would be taken and never
// count.

import { durationMs } from '../libraries/base/clock.ts'
import type { NodeError } from '../libraries/base/errors.ts'
import { invalidOption, type OptionRow, type OptionValue } from '../node/options.ts'

interface Form {
  readonly item: RegExp
  readonly expected: string
}

const forms: Readonly<Record<string, Form>> = {
  'allowed-hosts': {
    item: /^(?:[A-Za-z0-9._-]+|(?:[0-9A-Fa-f.]*:){2,}[0-9A-Fa-f.]*)$/,
    expected: 'names of hosts, without scheme, port and brackets',
  },
  'cors-origins': {
    item: /^(?:\*|null|[a-z][a-z0-9+.-]*:\/\/[a-z0-9._:[\]-]+)$/,
    expected: "origins as browsers send them, such as https://app.example, or '*'",
  },
  'trusted-signers': { item: /^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}$/, expected: 'did:key:z6Mk… of Ed25519 keys' },
}

/** What the items of option `name` must be, where one of them is not; undefined where all are. */
function expectedItems(name: string, items: readonly string[]): string | undefined {
  const form = forms[name]
  return form === undefined || items.every((item) => form.item.test(item)) ? undefined : form.expected
}

/** The value of an option from what was given. Throws NodeError `InvalidParameter` where it is not of the option's type. */
export function parseValue(row: OptionRow, raw: unknown): OptionValue {
  const value = typeof raw === 'string' ? raw.trim() : raw
  const bad = (expected: string): NodeError =>
    invalidOption(`Option '${row.name}' is '${String(raw)}'; expected ${expected}.`)
  switch (row.type) {
    case 'boolean':
      if (value === true || value === 'true') return true
      if (value === false || value === 'false') return false
      throw bad('true or false')
    case 'integer': {
      const number = typeof value === 'number' ? value : /^\d+$/.test(String(value)) ? Number(value) : Number.NaN
      if (!Number.isSafeInteger(number) || number < 0) throw bad('a whole number')
      return number
    }
    case 'duration-ms':
      return parseDuration(value, bad)
    case 'list': {
      const parts = Array.isArray(value) ? value.map(String) : String(value).split(',')
      const items = Array.isArray(value) ? parts : parts.map((part) => part.trim()).filter((part) => part !== '')
      const expected = expectedItems(row.name, items)
      const isKnown = items.every((item) => row.values?.includes(item) !== false)
      if (!isKnown || expected !== undefined) throw bad(expected ?? `some of ${row.values?.join(', ')}`)
      return items
    }
    case 'text':
      if (typeof value !== 'string' || value === '') throw bad('text')
      if (row.values !== undefined && !row.values.includes(value)) throw bad(`one of ${row.values.join(', ')}`)
      return value
  }
}

function parseDuration(value: unknown, bad: (expected: string) => NodeError): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  const text = String(value)
  const ms = durationMs(/^\d+$/.test(text) ? `${text}ms` : text)
  if (ms === undefined) throw bad('a duration such as 500ms, 5s, 10m or 2h')
  return ms
}
