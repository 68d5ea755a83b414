// Statements of a session, told apart from those that are for the engine: transactions, settings, prepared statements, cursors, COPY.
// What would write is known too, so that it is refused as PostgreSQL refuses it. Pure.

import { lexSql } from '../sql/lexer.ts'
import { PostgresFault } from './report.ts'
import { oidOfType } from './types.ts'
import { Words } from './words.ts'

export type Isolation = 'read committed' | 'repeatable read'

export type Statement =
  | { readonly kind: 'select' | 'empty'; readonly sql: string }
  | { readonly kind: 'begin'; readonly isolation: Isolation | undefined }
  | { readonly kind: 'commit' | 'rollback' }
  | { readonly kind: 'savepoint' | 'release' | 'rollback to'; readonly name: string }
  | { readonly kind: 'isolate'; readonly isolation: Isolation | undefined; readonly isForSession: boolean }
  /** Undefined: the first value. */
  | { readonly kind: 'set'; readonly name: string; readonly value: string | undefined; readonly isLocal: boolean }
  /** SET that is written as a SELECT, whose value may be that of a parameter. */
  | {
      readonly kind: 'config'
      readonly name: string
      readonly value: string | { readonly place: number } | undefined
      readonly isLocal: boolean
      /** A setting whose value before is told first. */
      readonly before: string | undefined
      readonly columns: readonly string[]
    }
  /** Undefined: all of them. */
  | { readonly kind: 'show' | 'reset'; readonly name: string | undefined }
  | { readonly kind: 'discard'; readonly what: string }
  | { readonly kind: 'prepare'; readonly name: string; readonly sql: string; readonly types: readonly number[] }
  | { readonly kind: 'execute'; readonly name: string; readonly values: readonly (string | null)[] }
  /** Undefined: all of them. */
  | { readonly kind: 'deallocate' | 'close'; readonly name: string | undefined }
  | {
      readonly kind: 'declare'
      readonly name: string
      readonly sql: string
      readonly isHeld: boolean
      readonly isBinary: boolean
    }
  | { readonly kind: 'fetch' | 'move'; readonly name: string; readonly rows: number | 'all' }
  | { readonly kind: 'copy'; readonly sql: string; readonly format: CopyFormat }
  /** Of the statement before where none is given. */
  | { readonly kind: 'proof'; readonly sql: string | undefined; readonly column: string }
  | { readonly kind: 'nothing'; readonly tag: string }

export interface CopyFormat {
  readonly format: 'text' | 'csv' | 'binary'
  readonly hasHeader: boolean
}

/** The statements of a text that may hold several, without the semicolons between them. */
export function statementsIn(sql: string): string[] {
  const ends = lexSql(sql).filter(({ kind, text }) => kind === 'symbol' && text === ';')
  const starts = [0, ...ends.map(({ end }) => end)]
  const texts = starts.map((start, at) => sql.slice(start, ends[at]?.start ?? sql.length))
  const some = texts.filter((text) => lexSql(text).length > 0)
  return some.length === 0 ? [''] : some
}

const writes = new Set(
  'alter analyze call checkpoint cluster comment create delete do drop grant import insert lock merge reassign refresh reindex revoke security truncate update vacuum'.split(
    ' ',
  ),
)

/** What one statement is. Throws PostgresFault: 42601 for a form that is none, 25006 for one that writes, 0A000. */
export function statementOf(sql: string): Statement {
  const words = new Words(sql)
  const first = words.peek()
  if (first === undefined) return { kind: 'empty', sql }
  if (writes.has(first))
    throw new PostgresFault('25006', `cannot execute ${first.toUpperCase()} in a read-only transaction`)
  const read = forms.get(first)
  if (read === undefined) return { kind: 'select', sql }
  words.next()
  return read(words) ?? { kind: 'select', sql }
}

type Form = (words: Words) => Statement | undefined

const transactionEnd =
  (kind: 'commit' | 'rollback'): Form =>
  (words) => {
    words.may('work', 'transaction')
    if (kind === 'rollback' && words.may('to')) {
      words.may('savepoint')
      return words.last({ kind: 'rollback to', name: words.name() })
    }
    if (words.may('prepared')) throw unsupported('Two-phase commit')
    if (words.may('and')) {
      if (!words.may('no')) throw unsupported('AND CHAIN')
      words.must('chain')
    }
    return words.last({ kind })
  }

const begin: Form = (words) => {
  words.may('work', 'transaction')
  return words.last({ kind: 'begin', isolation: isolationOf(words) })
}

const forms: ReadonlyMap<string, Form> = new Map<string, Form>([
  ['select', (words) => proof(words) ?? config(words)],
  ['begin', begin],
  ['start', (words) => (words.must('transaction'), words.last({ kind: 'begin', isolation: isolationOf(words) }))],
  ['commit', transactionEnd('commit')],
  ['end', transactionEnd('commit')],
  ['rollback', transactionEnd('rollback')],
  ['abort', transactionEnd('rollback')],
  ['savepoint', (words) => words.last({ kind: 'savepoint', name: words.name() })],
  ['release', (words) => (words.may('savepoint'), words.last({ kind: 'release', name: words.name() }))],
  ['set', set],
  ['show', show],
  ['reset', (words) => words.last({ kind: 'reset', name: words.may('all') ? undefined : words.setting() })],
  [
    'discard',
    (words) => words.last({ kind: 'discard', what: words.oneOf('all', 'plans', 'sequences', 'temp', 'temporary') }),
  ],
  ['prepare', prepare],
  ['execute', execute],
  ['deallocate', (words) => (words.may('prepare'), words.last({ kind: 'deallocate', name: words.nameOrAll() }))],
  ['declare', declare],
  ['fetch', (words) => fetchOf(words, 'fetch')],
  ['move', (words) => fetchOf(words, 'move')],
  ['close', (words) => words.last({ kind: 'close', name: words.nameOrAll() })],
  ['copy', copy],
  ['unlisten', (words) => (words.may('*') || words.name(), words.last({ kind: 'nothing', tag: 'UNLISTEN' }))],
  ['listen', () => refuse('LISTEN')],
  ['notify', () => refuse('NOTIFY')],
])

/** `ISOLATION LEVEL …`, `READ ONLY`, `READ WRITE`, `DEFERRABLE`, with commas or without. */
function isolationOf(words: Words): Isolation | undefined {
  let isolation: Isolation | undefined
  for (;;) {
    words.may(',')
    if (words.may('isolation')) {
      words.must('level')
      isolation = levelOf(words)
      // What writes is refused by itself.
    } else if (words.may('read')) words.oneOf('only', 'write')
    else if (words.may('not')) words.must('deferrable')
    else if (!words.may('deferrable')) return isolation
  }
}

function levelOf(words: Words): Isolation {
  if (words.may('serializable')) return 'repeatable read'
  if (words.may('repeatable')) {
    words.must('read')
    return 'repeatable read'
  }
  words.must('read')
  if (!words.may('uncommitted')) words.must('committed')
  return 'read committed'
}

function set(words: Words): Statement {
  const isForSession = words.may('session')
  if (isForSession && words.may('characteristics')) {
    for (const word of ['as', 'transaction']) words.must(word)
    return words.last({ kind: 'isolate', isolation: isolationOf(words), isForSession: true })
  }
  const isLocal = !isForSession && words.may('local')
  if (words.may('transaction'))
    return words.last({ kind: 'isolate', isolation: isolationOf(words), isForSession: false })
  if (words.may('time')) {
    words.must('zone')
    const isInterval = words.may('interval')
    const value = words.may('local') ? undefined : words.values()
    if (isInterval && words.may('hour')) for (const word of ['to', 'minute']) words.must(word)
    return words.last({ kind: 'set', name: 'timezone', value, isLocal })
  }
  if (words.may('names')) return words.last({ kind: 'set', name: 'client_encoding', value: words.values(), isLocal })
  if (words.peek() === 'role' || words.peek() === 'authorization') return refuse('SET ROLE')
  const name = words.setting()
  if (!words.may('=')) words.must('to')
  return words.last({ kind: 'set', name, value: words.values(), isLocal })
}

/** `SELECT proofstream_proof()`, and with the text of a statement. */
function proof(words: Words): Statement | undefined {
  if (words.peek() !== 'proofstream_proof') return undefined
  words.must('proofstream_proof')
  words.must('(')
  const sql = words.peek() === ')' ? undefined : (words.value() ?? undefined)
  words.must(')')
  const column = words.may('as') ? words.name() : 'proofstream_proof'
  return words.last({ kind: 'proof', sql, column })
}

/** `SELECT set_config('name', 'value', false)`, of a setting that there is, or behind `current_setting('name') AS cur,`. */
function config(words: Words): Statement | undefined {
  const passes = (...texts: readonly string[]): boolean => texts.every((text) => words.may(text))
  const columnOf = (name: string): string => (words.may('as') ? words.name() : name)
  const isTold = words.peek() === 'current_setting' && passes('current_setting', '(')
  const before = isTold ? (words.value() ?? '') : undefined
  const first = isTold && passes(')') ? [columnOf('current_setting')] : []
  if (isTold && !passes(',')) return undefined
  if (words.peek() === 'pg_catalog') passes('pg_catalog', '.')
  if (!passes('set_config', '(')) return undefined
  const name = words.value() ?? ''
  if (!passes(',')) return undefined
  const place = words.place()
  const value = place === undefined ? (words.value() ?? undefined) : { place }
  if (!passes(',')) return undefined
  const local = words.value() ?? ''
  if (!/^(?:t|true|f|false)$/i.test(local) || !passes(')')) return undefined
  const columns = [...first, columnOf('set_config')]
  if (words.may('from')) {
    if (!passes('pg_show_all_settings', '(', ')', 'where', 'name', '=') || words.value() !== name) return undefined
  }
  if (words.peek() !== undefined) return undefined
  return { kind: 'config', name, value, isLocal: /^t/i.test(local), before, columns }
}

/** SHOW TABLES is the engine's. */
function show(words: Words): Statement | undefined {
  if (words.peek() === 'tables') return undefined
  if (words.may('all')) return words.last({ kind: 'show', name: undefined })
  if (words.may('time')) {
    words.must('zone')
    return words.last({ kind: 'show', name: 'timezone' })
  }
  if (words.may('transaction')) {
    for (const word of ['isolation', 'level']) words.must(word)
    return words.last({ kind: 'show', name: 'transaction_isolation' })
  }
  return words.last({ kind: 'show', name: words.setting() })
}

function prepare(words: Words): Statement {
  if (words.may('transaction')) throw unsupported('Two-phase commit')
  const name = words.name()
  const types =
    words.peek() === '('
      ? words
          .inBrackets()
          .replaceAll(/\([^()]*\)/g, '')
          .split(',')
          .map(oidOfType)
      : []
  words.must('as')
  return { kind: 'prepare', name, sql: words.rest(), types }
}

function execute(words: Words): Statement {
  const name = words.name()
  const values: (string | null)[] = []
  if (words.may('(') && !words.may(')')) {
    do values.push(words.value())
    while (words.may(','))
    words.must(')')
  }
  return words.last({ kind: 'execute', name, values })
}

function declare(words: Words): Statement {
  const name = words.name()
  const isBinary = words.may('binary')
  words.may('insensitive', 'asensitive')
  if (words.may('scroll')) throw unsupported('A cursor that scrolls back')
  if (words.may('no')) words.must('scroll')
  words.must('cursor')
  const isHeld = words.may('with')
  if (isHeld) words.must('hold')
  else if (words.may('without')) words.must('hold')
  words.must('for')
  return { kind: 'declare', name, sql: words.rest(), isHeld, isBinary }
}

function fetchOf(words: Words, kind: 'fetch' | 'move'): Statement {
  let rows: number | 'all' = 1
  if (words.may('next')) rows = 1
  else if (words.may('all')) rows = 'all'
  else if (words.may('forward')) rows = words.may('all') ? 'all' : (words.count() ?? 1)
  else if (['prior', 'first', 'last', 'absolute', 'relative', 'backward'].includes(words.peek() ?? '')) {
    throw new PostgresFault('55000', 'The cursor only goes forward.')
  } else rows = words.count() ?? 1
  words.may('from', 'in')
  return words.last({ kind, rows, name: words.name() })
}

function copy(words: Words): Statement {
  let sql: string
  if (words.peek() === '(') sql = words.inBrackets()
  else {
    const table = words.path()
    sql = `SELECT ${words.peek() === '(' ? words.inBrackets() : '*'} FROM ${table}`
  }
  if (words.may('from')) throw new PostgresFault('25006', 'cannot execute COPY FROM in a read-only transaction')
  words.must('to')
  // PostgreSQL takes either word.
  words.oneOf('stdout', 'stdin')
  return words.last({ kind: 'copy', sql, format: copyFormatOf(words) })
}

/** `WITH (FORMAT csv, HEADER)`, and the older `CSV HEADER`, `BINARY`. Marks may be said, and are the usual ones. */
function copyFormatOf(words: Words): CopyFormat {
  let [format, hasHeader]: [CopyFormat['format'], boolean] = ['text', false]
  words.may('with')
  const isList = words.may('(')
  const marks: [name: string, mark: string][] = []
  for (;;) {
    words.may(',')
    if (words.may('format')) format = formatNamed(words.word())
    else if (words.peek() === 'csv' || words.peek() === 'binary') format = formatNamed(words.word())
    else if (words.may('header')) hasHeader = !words.may('false', 'off') && (words.may('true', 'on'), true)
    else if (words.may('encoding')) words.value()
    else if (/^(?:delimiter|null|quote|escape)$/.test(words.peek() ?? '')) marks.push([words.word(), markOf(words)])
    else break
  }
  if (isList) words.must(')')
  if (marks.some(([name, mark]) => usualMarks[format][name] !== mark)) throw unsupported('COPY with marks of its own')
  if (hasHeader && format === 'binary') throw unsupported('A header in binary form')
  return { format, hasHeader }
}

const usualMarks: Readonly<Record<CopyFormat['format'], Readonly<Record<string, string>>>> = {
  text: { delimiter: '\t', null: '\\N' },
  csv: { delimiter: ',', null: '', quote: '"', escape: '"' },
  binary: {},
}

function markOf(words: Words): string {
  words.may('as')
  return words.word()
}

function formatNamed(name: string): CopyFormat['format'] {
  if (name === 'text' || name === 'csv' || name === 'binary') return name
  throw new PostgresFault('22023', `COPY format "${name}" is not known.`)
}

function unsupported(what: string): PostgresFault {
  return new PostgresFault('0A000', `${what} is not supported.`)
}

function refuse(what: string): never {
  throw unsupported(what)
}
