// What is written in place of a command or an option that is none: one that there once was, or the word of another program.

import type { CommanderError } from 'commander'
import { note } from './failure.ts'

type Row = readonly [typed: RegExp, instead: string]

const otherCommands: readonly Row[] = [
  [/^(?:start|run|up|server|init)$/, 'serve'],
  [/^(?:import|load|insert|upload|write|push|send|add)$/, 'ingest <dataset> <file>'],
  [/^(?:sql|select)$/, 'query <sql>'],
  [/^(?:head|cat)$/, 'tail <dataset>'],
  [/^(?:(?:dataset )?ls|list|datasets)$/, 'dataset list'],
  [/^create$/, 'dataset create <name>'],
  [/^(?:dataset )?(?:rm|remove|drop)$|^delete$/, 'dataset delete <name>'],
  [/^(?:dataset )?(?:get|info|describe|metadata)$|^show$/, 'dataset show <name>'],
  [/^dataset (?:rename|alter|update|edit)$/, 'dataset set <name>'],
  [/^(?:status|check|health)$/, 'doctor'],
  [/^(?:prove|audit)$/, 'ledger --help'],
  [/^(?:tokens|token ls)$/, 'token list'],
  [/^token (?:rm|remove|delete)$/, 'token revoke <id>'],
  [/^(?:keys|key (?:ls|list))$/, 'key show'],
  [/^version$/, '--version'],
  [/^key leaked$/, 'key rotate --leaked <did>'],
  [/^streams check$/, 'streams apply --dry-run'],
  [/^ledger witness$/, 'serve --roles witness'],
  [/^pack$/, 'fsck --pack'],
  [/^export iceberg$/, 'export <dataset> --format iceberg -o <dir>'],
]

const dataDir: Row = [/^--(?:db|database|data-?dir|dir)$/, '--data <dir>']
const optionsOfServe: readonly Row[] = [
  [/^(?:--port|-p)$/, '--listen 127.0.0.1:9000'],
  [/^--(?:host|bind|addr|address)$/, '--listen 0.0.0.0:8080'],
  [/^--url$/, '--public-url https://data.example'],
  dataDir,
]
const otherOptions: readonly Row[] = [
  [/^(?:--(?:url|host|port|node|endpoint|address)|-u)$/, '--server http://127.0.0.1:8080'],
  [/^--(?:token|api-?key|password)$/, '--token-file <file>, or PROOFSTREAM_TOKEN in the environment'],
  [/^--(?:format|json|csv)$/, '-o json, ndjson, csv or table'],
  [/^--(?:out|file|out-?file|output-?file)$/, '-o <file>'],
  [/^-[vV]$/, '--version'],
  dataDir,
]

/** Tells it on stderr, after what commander has told. */
export async function hintAt({ code, message }: CommanderError, args: readonly string[]): Promise<void> {
  const [, word = ''] = /'([^']+)'/.exec(message) ?? []
  const insteadIn = (rows: readonly Row[], typed: readonly string[]): string | undefined =>
    rows.find(([pattern]) => typed.some((one) => pattern.test(one)))?.[1]
  if (code === 'commander.unknownOption') {
    const { goneOptions } = await import('../app/gone-options.ts')
    const isOfServe = args.some((one) => one === 'serve' || one === 'doctor')
    const instead = insteadIn(isOfServe ? optionsOfServe : otherOptions, [word])
    const text = goneOptions.get(word.slice(2)) ?? (instead && `hint: Say ${instead}`)
    if (text !== undefined) note(text)
  }
  const pairs = args.map((one, at) => `${args[at - 1] ?? ''} ${one}`)
  const alone = code === 'commander.unknownCommand' ? [word] : []
  const instead = insteadIn(otherCommands, pairs) ?? insteadIn(otherCommands, alone)
  if (instead !== undefined) note(`hint: Say proofstream ${instead}`)
}
