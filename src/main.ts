// The program: reads the arguments, runs the command, ends with its exit code. Started by bin/proofstream.js.

const { clientEnvironment, loadConfig, optionTable } = await import('./app/config.ts')
const { runCommandLine } = await import('./cli/program.ts')
process.exitCode = await runCommandLine(process.argv.slice(2), { clientEnvironment, loadConfig, optionTable })
// A process that has decided to end ends, whatever is still open: a supervisor waits for it.
const isTold = (stream: NodeJS.WriteStream): Promise<unknown> => new Promise((resolve) => stream.write('', resolve))
await Promise.all([process.stdout, process.stderr].map(isTold))
process.exit()

export {}
