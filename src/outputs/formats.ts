// The output formats: how the rows of an answer are laid out, one object each. The engine's child, the HTTP routes, their
// documentation and the configuration read them from `outputFormats`; a new format is one more object there. Pure.

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

export interface OutputFormat {
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
const jsonAoa: OutputFormat = {
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
const jsonAos: OutputFormat = {
  name: 'JsonAos',
  spellings: ['JsonAoS', 'jsonaos', 'json-aos'],
  mediaTypes: json,
  isKeyed: true,
  structsAsArrays: false,
  begin: (sink, keys) => beginRows(sink, keys, ['{', '}']),
}

/** An object of arrays, one for each column; without rows it is empty. */
const jsonSoa: OutputFormat = {
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

const outputFormats: readonly OutputFormat[] = [jsonAoa, jsonAos, jsonSoa]

/** Names as answers, `/info` and the documentation list them; the first is the default. */
export const outputFormatNames: readonly string[] = outputFormats.map(({ name }) => name)

/** The format of this name, in any accepted spelling, or undefined. */
export function outputFormatOf(text: string): OutputFormat | undefined {
  return outputFormats.find(({ name, spellings }) => name === text || spellings.includes(text))
}
