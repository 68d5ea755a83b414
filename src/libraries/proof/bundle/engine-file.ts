// `engine.json` of a bundle: which engine it takes to run the query again, and where that is found. It is a hint for the reader of
// the bundle without a node: nothing of it is trusted, no library runs because of it, and no check ends well by it.

import { BundleFault, enginePath } from './manifest.ts'
import { list, object, optional, recordCodec, refuse, type Shape, text } from '../../base/json/shape.ts'
import { DecodeError } from '../../base/errors.ts'

/** What of an engine runs: a library for each platform, in a package of npm. */
export interface EngineForm {
  /** `native`: a library for each platform. */
  readonly form: string
  /** Name and version. */
  readonly package: string
  /** SHA-256 in hex, by platform. */
  readonly libraries: Readonly<Record<string, string>>
}

export interface EngineFile {
  /** That of the proof. */
  readonly dialect: string
  /** Absent where the dialect names none. */
  readonly engine?: { readonly name: string; readonly version: string }
  /** Empty where the program that made the bundle knows none. */
  readonly forms: readonly EngineForm[]
  /** A sentence for a person: what it takes. */
  readonly needs: string
}

export const engineBytesMost = 64 * 1024

/** The dialect of an answer that names none. */
export const plainDialect = 'SqlDuckDb'

const word = text(/^[!-~]{1,100}$/)
const [platform, digest] = [text(/^[a-z\d.-]{1,50}$/), text(/^[\da-f]{64}$/)]

const digests: Shape<Readonly<Record<string, string>>> = (value) => {
  if (!(value instanceof Map) || value.size === 0) return refuse('has no digests')
  return Object.fromEntries([...value].map(([name, hex]) => [platform(name), digest(hex)]))
}

const codec = recordCodec<EngineFile>(
  enginePath,
  object({
    dialect: text(),
    engine: optional(object({ name: word, version: word })),
    forms: list(object({ form: word, package: word, libraries: digests })),
    needs: text(/^[ -~]{1,300}$/),
  }),
)

/** In canonical JSON. Throws BundleFault for a dialect that has no room in it. */
export function encodeEngineFile(file: EngineFile): Uint8Array {
  const bytes = codec.encode(file)
  if (bytes.length <= engineBytesMost) return bytes
  throw new BundleFault('impossible', `The name of the dialect is longer than ${enginePath} may be.`)
}

/** Throws BundleFault for another shape or spelling, and for another dialect than that of the proof. */
export function decodeEngineFile(bytes: Uint8Array, dialect: string): EngineFile {
  try {
    const file = codec.decode(bytes)
    if (file.dialect === dialect) return file
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new BundleFault('failed', `The engine is not said as a bundle says it: ${error.message}.`)
  }
  throw new BundleFault('failed', `${enginePath} is about another dialect than the proof.`)
}
