// The program. Checks the Node.js it runs on before anything else is loaded, so that an old one is told in a sentence
// (this file imports nothing statically and parses on Node.js 18). A node begins anew with what its memory needs.

const oldest = [22, 18] as const

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1])
}

/**
 * A node takes memory of 64 KiB and more from the system piece by piece, and gives it back so: among small pieces it would
 * stay. glibc reads this where a process begins (docs/decisions/operations.md).
 */
function beginAnew(): void {
  const setting = 'MALLOC_MMAP_THRESHOLD_'
  // oxlint-disable-next-line node/no-process-env -- handed on to what takes the place of this process
  const { env, execArgv, execPath, argv } = process
  if (process.platform !== 'linux' || argv[2] !== 'serve' || env[setting] !== undefined) return
  // A channel to the one who started it would not be handed on.
  if (process.send !== undefined) return
  process.execve?.(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, [setting]: '65536' })
}

if (isTooOld(process.versions.node)) {
  process.stderr.write(
    `error: Proofstream needs Node.js ${oldest.join('.')} or newer; this is ${process.versions.node} (${process.execPath}).\n`,
  )
  process.exitCode = 9
} else {
  beginAnew()
  const { clientEnvironment, loadConfig, optionTable } = await import('./node/config.ts')
  const { runCommandLine } = await import('./cli/program.ts')
  const exitCode = await runCommandLine(process.argv.slice(2), { clientEnvironment, loadConfig, optionTable })
  // A process that has decided to end ends, whatever is still open: a supervisor waits for it.
  const isTold = (stream: NodeJS.WriteStream): Promise<unknown> => new Promise((resolve) => stream.write('', resolve))
  await Promise.all([process.stdout, process.stderr].map(isTold))
  process.exit(exitCode)
}

export {}
