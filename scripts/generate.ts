// Writes what is derived from other files of the repository: message types from the stream schemas,
// reference pages from the options and the commands, completion of shells.
// `node scripts/generate.ts` writes; with `--check` it compares instead, names what is stale and exits with 1.

import { readFile, writeFile } from 'node:fs/promises'
import { commandLinePage, configurationPage } from './docs-pages.ts'
import { compiledReader } from './compiled-reader.ts'
import { completionScript } from './completion-scripts.ts'
import { errorsPage, httpApiPage } from './http-pages.ts'
import { messageTypes } from './message-types.ts'

interface Generator {
  /** Path of the generated file from the repository's root. */
  readonly target: string
  generate(): Promise<string>
}

const root = new URL('../', import.meta.url)

const schemas = ['streams/records/v1.schema.json', 'streams/commits/v1.schema.json']

const generators: readonly Generator[] = [
  { target: 'src/node/log/messages.gen.ts', generate: () => messageTypes(schemas.map((path) => new URL(path, root))) },
  { target: 'src/libraries/formats/compiled/lines.gen.ts', generate: compiledReader },
  { target: 'docs/configuration.md', generate: async () => configurationPage() },
  { target: 'docs/cli.md', generate: async () => commandLinePage() },
  { target: 'texts/completion.bash', generate: () => completionScript('bash') },
  { target: 'texts/completion.fish', generate: () => completionScript('fish') },
  { target: 'docs/errors.md', generate: async () => errorsPage() },
  { target: 'docs/http-api.md', generate: httpApiPage },
]

async function main(check: boolean): Promise<void> {
  for (const { target, generate } of generators) {
    const url = new URL(target, root)
    const fresh = await generate()
    const present = await readFile(url, 'utf8').catch(() => undefined)
    if (present === fresh) continue
    if (check) {
      process.stderr.write(`${target} is stale: run npm run generate\n`)
      process.exitCode = 1
    } else {
      await writeFile(url, fresh)
      process.stdout.write(`${target} written\n`)
    }
  }
}

await main(process.argv.includes('--check'))
