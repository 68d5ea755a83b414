// Forms in which a node streams rows, and the names of files that call for them: `-o trips.parquet`.

/** A form of rows in a file. */
export interface FileForm {
  /** `dataFormat` of requests. */
  readonly dataFormat: string
  /** Of file names, in lower case; the first is also how the form is named on the command line. */
  readonly extensions: readonly [string, ...string[]]
  /** A terminal cannot show it. */
  readonly isBinary: boolean
  /** Each line is a value; in the file they stand in one array. */
  readonly isArray?: true
}

export const fileForms: readonly FileForm[] = [
  { dataFormat: 'Csv', extensions: ['csv'], isBinary: false },
  { dataFormat: 'NdJson', extensions: ['ndjson', 'jsonl'], isBinary: false },
  { dataFormat: 'NdJson', extensions: ['json'], isBinary: false, isArray: true },
  { dataFormat: 'Parquet', extensions: ['parquet'], isBinary: true },
  { dataFormat: 'Xlsx', extensions: ['xlsx'], isBinary: true },
  { dataFormat: 'Arrow', extensions: ['arrows'], isBinary: true },
  { dataFormat: 'GeoJson', extensions: ['geojson'], isBinary: false },
  { dataFormat: 'NdGeoJson', extensions: ['geojsonl', 'ndgeojson', 'geojsons'], isBinary: false },
]

/** Names on the command line, as its help lists them. */
export const fileFormNames: readonly string[] = fileForms.map(({ extensions }) => extensions[0])

/** The form of that name or extension, or undefined. */
export function fileFormOf(name: string): FileForm | undefined {
  const folded = name.toLowerCase()
  return fileForms.find(({ extensions }) => extensions.includes(folded))
}

/** The form that the name of a file calls for, or undefined. */
export function fileFormOfPath(path: string): FileForm | undefined {
  const extension = /\.([A-Za-z]+)$/.exec(path)?.[1]
  return extension === undefined ? undefined : fileFormOf(extension)
}
