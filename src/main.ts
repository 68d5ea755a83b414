// The program. Checks the Node.js it runs on before anything else is loaded, so that an old one is told in a sentence
// (this file imports nothing statically and parses on Node.js 18).

const oldest = [22, 18] as const

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1])
}

if (isTooOld(process.versions.node)) {
  process.stderr.write(
    `error: Proofstream needs Node.js ${oldest.join('.')} or newer; this is ${process.versions.node} (${process.execPath}).\n`,
  )
  process.exitCode = 9
} else {
  const { clientEnvironment, loadConfig, optionTable } = await import('./config.ts')
  const { runCommandLine } = await import('./cli/program.ts')
  const exitCode = await runCommandLine(process.argv.slice(2), { clientEnvironment, loadConfig, optionTable })
  // A process that has decided to end ends, whatever is still open: a supervisor waits for it.
  const isTold = (stream: NodeJS.WriteStream): Promise<unknown> => new Promise((resolve) => stream.write('', resolve))
  await Promise.all([process.stdout, process.stderr].map(isTold))
  process.exit(exitCode)
}

export {}
