// Shells complete the command by the scripts that it prints: real ones, with what is written at their prompts.

import { spawnSync } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Command } from 'commander'
import { clientEnvironment, loadConfig, optionTable } from '../../src/app/config.ts'
import { formatsBut } from '../../src/app/formats.ts'
import { createProgram } from '../../src/cli/program.ts'
import { runFileAtTerminal } from '../helpers/at-terminal.ts'
import { runCommand, runFile } from '../helpers/run-node.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

const isHere = (shell: Shell): boolean => spawnSync(shell, ['--version']).status === 0
const missing = shells.filter((shell) => !isHere(shell))
if (missing.length > 0) {
  const message = `completion is not tested in ${missing.join(', ')}: apt-get install ${missing.join(' ')}`
  if (process.env['CI'] === 'true') throw new Error(message)
  console.warn(`NOT RUN: ${message}`)
}

const folder = await mkdtemp(join(tmpdir(), 'proofstream-completion-'))
const scriptOf = (shell: Shell): string => join(folder, `script.${shell}`)
beforeAll(async () => {
  await writeFile(join(folder, 'answer-of-may.json'), '{}')
  for (const shell of shells) {
    const { code, stdout, stderr } = await runCommand(['completion', shell])
    if (code !== 0) throw new Error(stderr)
    await writeFile(scriptOf(shell), stdout)
  }
})

/** What a shell offers for the last word of each line. Bash is told the words as it takes them apart. */
const ask: Partial<Record<Shell, (lines: readonly string[]) => Promise<string[][]>>> = {
  bash: async (lines) => {
    const asked = lines.map(
      (line) => `ask ${line.replaceAll('=', ' = ').replaceAll(':', ' : ')} ${/(?:^|[ =])$/.test(line) ? "''" : ''}`,
    )
    const script = `. ${scriptOf('bash')}
ask() { COMP_WORDS=(proofstream "$@"); COMP_CWORD=$#; _proofstream; echo "\${COMPREPLY[@]}"; }
${asked.join('\n')}`
    return offers(await runFile('bash', ['--norc', '-euc', script], { cwd: folder }))
  },
  fish: async (lines) => {
    const asked = lines.map((line) => `echo (complete -C 'proofstream ${line}' | cut -f 1 | sed 's/^--.*=//')`)
    const script = `source ${scriptOf('fish')}\n${asked.join('\n')}`
    return offers(await runFile('fish', ['--no-config', '-c', script], { cwd: folder, env: { HOME: folder } }))
  },
}

function offers({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string[][] {
  expect(stderr).toBe('')
  const lines = stdout.split('\n').slice(0, -1)
  return lines.map((line) =>
    line
      .split(/ +/)
      .filter((word) => word !== '')
      .toSorted(),
  )
}

describe.each(['bash', 'fish'] as const)('%s', (shell) => {
  test.skipIf(missing.includes(shell))('is offered what the tree of commands has', async () => {
    const cases: [string, string[]][] = [
      ['data', ['dataset']],
      ['dataset s', ['set', 'show']],
      ['--server http://127.0.0.1:1 token re', ['revoke']],
      ['dataset create --pro', ['--proofs']],
      ['dataset create me/lab --proofs ', ['batches', 'rows']],
      ['ingest me/lab --format otlp-', ['otlp-json', 'otlp-protobuf']],
      ['ingest --header=', ['absent', 'present']],
      ['serve --log-level=de', ['debug']],
      ['serve --anonymous-read t', ['true']],
      ['doctor --log-level sil', ['silent']],
      ['tail me/lab -o nd', ['ndjson']],
      ['backup --node', ['--node-key']],
      ['bundle --led', ['--ledger']],
      ['completion z', ['zsh']],
    ]
    const offered = await ask[shell]?.(cases.map(([line]) => line))
    expect(cases.map(([line], at) => [line, offered?.[at]])).toEqual(cases)
  })

  test.skipIf(missing.includes(shell))('is offered every command and every option', async () => {
    const program = createProgram({ clientEnvironment, loadConfig, optionTable }, formatsBut([]).all, async () => {})
    const placesOf = (command: Command, path: string): { command: Command; path: string }[] => [
      { command, path },
      ...command.commands.flatMap((one) => placesOf(one, `${path}${one.name()} `)),
    ]
    const places = placesOf(program, '').filter(({ command }) => command.commands.length > 0)
    const leaves = placesOf(program, '').filter(({ command }) => command.commands.length === 0)
    const commands = await ask[shell]?.(places.map(({ path }) => path))
    expect(commands?.map((words) => words.filter((word) => word !== 'help'))).toEqual(
      places.map(({ command }) => command.commands.map((one) => one.name()).toSorted()),
    )
    const flags = await ask[shell]?.(leaves.map(({ path }) => `${path}--`))
    const lacking = leaves.map(({ path, command }, at) => [
      path,
      command.options.map(({ long }) => long).filter((long) => flags?.[at]?.includes(long ?? '') !== true),
    ])
    expect(lacking.filter(([, names]) => names?.length !== 0)).toEqual([])
  })
})

test.skipIf(missing.includes('fish'))('fish is told what each command does', async () => {
  const script = `source ${scriptOf('fish')}; complete -C 'proofstream backu'`
  const { stdout } = await runFile('fish', ['--no-config', '-c', script], { cwd: folder, env: { HOME: folder } })
  expect(stdout).toBe('backup\tcopy everything committed, and the key, to a directory\n')
})

describe.each([
  ['bash', ['--norc', '-i']],
  ['zsh', ['-f', '-i']],
] as const)('at the prompt of %s', (shell, flags) => {
  test.skipIf(missing.includes(shell))('a tab completes commands, options, choices, files', async () => {
    const typed = [
      ['proofstream dataset cr\t', 'dataset create '],
      ['proofstream --server http://127.0.0.1:1 tok\t', '127.0.0.1:1 token '],
      ['proofstream dataset create me/lab --pro\t', 'me/lab --proofs '],
      ['proofstream ingest me/lab --format par\t', '--format parquet '],
      ['proofstream verify --offline answ\t', '--offline answer-of-may.json '],
    ] as const
    // Each line is wiped out once it is complete.
    const shown = ['ready', ...typed.map(([, complete]) => complete)]
    const keys = [...typed.map(([line]) => line), 'exit 0\n']
    const answers = shown.map((text, at) => [text, `${at === 0 ? '' : '\u0015'}${keys[at]}`] as const)
    const { left, code } = await runFileAtTerminal(
      [shell, ...flags],
      [['> ', `. ${scriptOf(shell)}; echo rea''dy >&2\n`], ...answers],
      { cwd: folder, env: { TERM: 'dumb', PS1: '> ', HOME: folder } },
    )
    expect({ left, code }).toEqual({ left: [], code: 0 })
  })
})
