// JSON values as block YAML, in the layout of ODF manifests and of deployed nodes (serde_yaml): members in their order,
// two spaces a level, dashes of a list below its name, plain scalars where YAML reads them back as text.

import { JsonNumber, type JsonValue } from '../model/json.ts'

/** The value as a YAML document that ends with a newline. */
export function yamlText(value: JsonValue): string {
  return `${blockLines(value).join('\n')}\n`
}

/** Lines of a value that starts in the first column of its block. */
function blockLines(value: JsonValue): string[] {
  if (Array.isArray(value) && value.length > 0) {
    return value.flatMap((item) => blockLines(item).map((line, index) => (index === 0 ? `- ${line}` : `  ${line}`)))
  }
  if (value instanceof Map && value.size > 0) {
    return [...value].flatMap(([name, member]) => memberLines(scalarText(name), member))
  }
  return [flowText(value)]
}

function memberLines(name: string, member: JsonValue): string[] {
  if (Array.isArray(member) && member.length > 0) return [`${name}:`, ...blockLines(member)]
  if (member instanceof Map && member.size > 0) return [`${name}:`, ...blockLines(member).map((line) => `  ${line}`)]
  return [`${name}: ${flowText(member)}`]
}

/** A value on one line: scalars and empty collections. */
function flowText(value: JsonValue): string {
  if (Array.isArray(value)) return '[]'
  if (value instanceof Map) return '{}'
  if (value instanceof JsonNumber) return value.token
  return typeof value === 'string' ? scalarText(value) : String(value)
}

/** Text that a YAML reader (1.1 or 1.2) would take for null, a boolean, a number or a merge key. */
const otherType =
  /^(|~|[-+]?[._]+|null|y|yes|n|no|true|false|on|off|[-+]?\.?\d[\d_.,:xobe+a-f-]*|[-+]?\.(inf|nan)|<<|=)$/i
/** Starts that mean something to YAML, dashes and colons before a space included. */
const indicatorFirst = /^([#,[\]{}&*!|>'"%@`]|[-?:](\s|$)|---|\.\.\.)/
const indicatorInside = /:(\s|$)|\s#/
/** Control characters, byte order marks, line and paragraph separators, halves of surrogate pairs. */
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\ufeff\ufffe\uffff]/u

/** Plain, else in single quotes, else in double quotes with escapes. */
function scalarText(text: string): string {
  if (unprintable.test(text)) {
    return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, (unit) => {
      return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
    })
  }
  const plain =
    !otherType.test(text) && !indicatorFirst.test(text) && !indicatorInside.test(text) && text.trim() === text
  return plain ? text : `'${text.replaceAll("'", "''")}'`
}
