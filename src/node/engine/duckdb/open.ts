// Opens an instance of DuckDB for a child process: settings by which it gives the same answers everywhere, and the lock
// behind which a statement changes none of them.

import { assert } from '../../../libraries/base/assert.ts'
import { accessors, binding } from './binding.ts'
import { DuckDbSession } from './session.ts'
import { registerSpatialFunctions } from './spatial.ts'
import { sessionNames } from '../../../libraries/sql/functions.ts'
import { timeMacros } from '../../../libraries/sql/time-patterns.ts'
import type { ChildSettings } from '../messages.ts'

/** Opens an instance, sets it up and locks it. Throws the engine's errors. */
export async function openSession(settings: ChildSettings): Promise<DuckDbSession> {
  const { engineVersion } = settings
  assert(binding.version().replace(/^v/, '') === engineVersion, `this process runs for DuckDB ${engineVersion}`)
  const instance = await binding.DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: `${Math.floor(settings.memoryBytes / 1024)}KiB`,
    // Spilling would make results depend on the memory limit, and grants a directory to the statements.
    temp_directory: '',
  })
  const connection = await instance.connect()
  registerSpatialFunctions(connection)
  const roots = settings.dataRoots.map((root) => `'${root.replaceAll("'", "''")}'`).join(', ')
  const directories = `SET allowed_directories = [${roots}]`
  for (const sql of [...sessionMacros, ...timeMacros, ...fixedSettings, directories, ...closingSettings])
    await connection.run(sql)
  keepByteOrderMarks()
  return new DuckDbSession(connection, settings)
}

const fixedSettings = [
  "SET TimeZone = 'UTC'",
  "SET Calendar = 'gregorian'",
  'SET parquet_metadata_cache = true',
  // Slices never change.
  "SET validate_external_file_cache = 'NO_VALIDATION'",
  'SET errors_as_json = true',
  'SET autoinstall_known_extensions = false',
  'SET autoload_known_extensions = false',
  'SET allow_community_extensions = false',
  'SET allow_persistent_secrets = false',
  'SET enable_geoparquet_conversion = false',
]

/**
 * A bare column of such a name becomes a call where nothing else has the name, and an alias elsewhere in the statement
 * hides that from the gate. Ours are found before the engine's own, and tell nothing.
 */
const sessionMacros = [...sessionNames].map(
  (name) => `CREATE MACRO ${name}() AS CAST('${name} is not for queries' AS INTEGER)`,
)

// A job says how many threads it has (many-threads.ts), how it is planned (optimizers.ts), and whether its files are kept.
const closingSettings = [
  'SET enable_external_access = false',
  "SET allowed_configs = ['threads', 'disabled_optimizers', 'enable_external_file_cache']",
  'SET lock_configuration = true',
]

const probe = Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)

/** Makes the binding keep U+FEFF. To be called before the first answer is read. */
export function keepByteOrderMarks(): void {
  Object.assign(accessors, { textDecoder: new TextDecoder('utf-8', { ignoreBOM: true }) })
  assert(accessors.textDecoder.decode(probe) === '\ufeffa', 'the binding decodes text with the decoder that was set')
}
