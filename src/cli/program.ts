// The command line: the tree of commands, and what happens around each of them. A command's code is loaded when it is
// run, so that help and short commands start at once.

import { Command, CommanderError } from 'commander'
import type { FormatFacts } from '../libraries/formats/format.ts'
import { type CommandContext, contextOf, type Entry, outputOption, type Runner } from './context.ts'
import { exitCodes, failureOf, printFailure } from './failure.ts'
import { onSignal } from './interrupt.ts'
import { addCommands } from './tree.ts'

type CommandCode = (context: CommandContext) => Promise<number>

/** Runs the command that `args` name. Resolves to the exit code; everything is told on stderr by then. */
export async function runCommandLine(args: readonly string[], entry: Entry): Promise<number> {
  endQuietlyWithoutReader()
  let exitCode: number = exitCodes.done
  // Readers of formats are many modules: they are loaded for the commands that name them.
  const formats = args.some((one) => /^(?:ingest|completion)$/.test(one))
    ? (await import('../app/formats.ts')).formatsBut([]).all
    : []
  const program = createProgram(entry, formats, async (command, run) => {
    if (command.name() !== 'serve') process.on('SIGINT', onSignal)
    exitCode = await run(contextOf(command, entry))
  })
  try {
    if (args[0] === '--version') return (await import('./commands/node-facts.ts')).showVersion()
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    // Commander has told what is wrong (or printed the help that was asked for).
    if (error instanceof CommanderError) {
      await (await import('./hints.ts')).hintAt(error, args)
      return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
    }
    const failure = failureOf(error)
    printFailure(failure)
    return failure.exitCode
  }
  return exitCode
}

/** `proofstream … | head`: a reader that stops ends the program, with the code that it has found (main.ts). */
function endQuietlyWithoutReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? exitCodes.done)
    throw error
  })
}

/** The tree of commands, `ingest` with these formats; `run` is called with the command's code. */
export function createProgram(
  entry: Entry,
  formats: readonly FormatFacts[],
  run: (command: Command, code: CommandCode) => Promise<void>,
): Command {
  const program = new Command('proofstream')
    .description('Streams of records in, provable datasets out.')
    .configureHelp({
      // What a command takes but for options, and what it does, without the details.
      subcommandTerm: (one) => `${one.name()} ${one.usage().replace(/\[options\] ?|\[command\]/g, '')}`,
      subcommandDescription: (one) => one.description().replace(/ \([^()]*\)(?=$|[.;] )|[.;] .*$/g, ''),
    })
    .commandsGroup('Every day:')
    .exitOverride()
    .showSuggestionAfterError()
    .helpCommand('help [command]', 'help for a command')
    .option('--server <url>', 'node to talk to (or PROOFSTREAM_SERVER; default http://127.0.0.1:8080)')
    .option('--token-file <file>', 'file with the token (or PROOFSTREAM_TOKEN, or the token of a node on this machine)')
    .addOption(outputOption())
    .option('--version', 'version of this program and of the Node.js that runs it')
    .addHelpText('after', '\nData goes to stdout, everything else to stderr. Exit codes: docs/cli.md.')
  const runner: Runner =
    (code) =>
    async (...args) => {
      // Commander calls an action with the arguments, the options and the command. It has checked arguments and options
      // against what the tree declares: the casts name that declaration.
      const command = args.at(-1) as Command
      const texts = args.slice(0, -2).flat() as string[]
      await run(command, (context) => code(context, texts, command.opts() as Parameters<typeof code>[2]))
    }
  addCommands(program, runner, entry.optionTable, formats)
  // That of a group of commands is in no group of the help.
  for (const one of program.commands)
    if (one.commands.length > 0) one.helpCommand('help [command]', 'help for a command')
  return program
}
