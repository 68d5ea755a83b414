// The JSON layouts: how the rows of an answer that can be signed are laid out, one object each. They stand first in the
// list of formats.ts; proofs know no others. Pure.

/** Rows of an answer that follow one another. */
export interface OutputRows {
  readonly count: number
  /** JSON tokens of a column (in the order of the keys), made when they are asked for. */
  cells(column: number): readonly string[]
}

/** Where the text of an answer goes. Both methods throw once it is too large. */
export interface OutputSink {
  write(text: string): void
  /** Counts text that is not written yet, so that the bound holds before memory is full. */
  reserve(characters: number): void
}

/** An answer that is being written. */
export interface OutputWriter {
  rows(rows: OutputRows): void
  end(): void
}

/** A layout of rows inside the JSON of an answer. */
export interface JsonLayout {
  readonly kind: 'json'
  /** As answers say it. */
  readonly name: string
  /** Other spellings in requests and signed inputs. */
  readonly spellings: readonly string[]
  readonly mediaTypes: readonly string[]
  /** Columns are told apart by name: two of one name have no place, and their order means nothing. */
  readonly isKeyed: boolean
  /** Structs inside a value are arrays of their members' values, as rows are; else they are objects. */
  readonly structsAsArrays: boolean
  /** `keys`: the columns' names as JSON text and a colon. */
  begin(sink: OutputSink, keys: readonly string[]): OutputWriter
}

const json = ['application/json; charset=utf-8']

/** An array of rows, each between two brackets, with a text before each value. */
function beginRows(
  sink: OutputSink,
  prefixes: readonly string[],
  [open, close]: readonly [string, string],
): OutputWriter {
  let separator = open
  sink.write('[')
  return {
    rows: ({ count, cells }) => {
      const columns = prefixes.map((_, column) => cells(column))
      let out = ''
      for (let row = 0; row < count; row++) {
        out += separator
        for (let column = 0; column < columns.length; column++) {
          out += (column === 0 ? '' : ',') + (prefixes[column] ?? '') + (columns[column]?.[row] ?? '')
        }
        out += close
        separator = `,${open}`
      }
      sink.write(out)
    },
    end: () => sink.write(']'),
  }
}

/** An array of arrays of values. */
const jsonAoa: JsonLayout = {
  kind: 'json',
  name: 'JsonAoa',
  spellings: ['JsonAoA', 'jsonaoa', 'json-aoa'],
  mediaTypes: json,
  isKeyed: false,
  structsAsArrays: true,
  begin: (sink, keys) => {
    const prefixes = keys.map(() => '')
    return beginRows(sink, prefixes, ['[', ']'])
  },
}

/** An array of objects. */
const jsonAos: JsonLayout = {
  kind: 'json',
  name: 'JsonAos',
  spellings: ['JsonAoS', 'jsonaos', 'json-aos'],
  mediaTypes: json,
  isKeyed: true,
  structsAsArrays: false,
  begin: (sink, keys) => beginRows(sink, keys, ['{', '}']),
}

/** An object of arrays, one for each column; without rows it is empty. */
const jsonSoa: JsonLayout = {
  kind: 'json',
  name: 'JsonSoa',
  spellings: ['JsonSoA', 'jsonsoa', 'json-soa'],
  mediaTypes: json,
  isKeyed: true,
  structsAsArrays: false,
  begin: (sink, keys) => {
    const columns: string[][] = keys.map(() => [])
    return {
      rows: ({ count, cells }) => {
        if (count === 0) return
        for (const [at, column] of columns.entries()) {
          const text = cells(at).join(',')
          sink.reserve(text.length)
          column.push(text)
        }
      },
      end: () => {
        const filled = columns.filter((texts) => texts.length > 0)
        sink.write('{')
        for (const [at, texts] of filled.entries()) {
          sink.write(`${at === 0 ? '' : ','}${keys[at] ?? ''}[${texts.join(',')}]`)
        }
        sink.write('}')
      },
    }
  },
}

/** The first is the default. */
export const jsonLayouts: readonly JsonLayout[] = [jsonAoa, jsonAos, jsonSoa]

/** Names as answers and the documentation list them. */
export const jsonLayoutNames: readonly string[] = jsonLayouts.map(({ name }) => name)

/** The layout of this name, in any accepted spelling, or undefined. */
export function jsonLayoutOf(text: string): JsonLayout | undefined {
  return jsonLayouts.find(({ name, spellings }) => name === text || spellings.includes(text))
}
