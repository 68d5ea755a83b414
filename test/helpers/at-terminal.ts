// Runs the program with a terminal as its stdin and stderr, at which somebody answers; stdout is a pipe. The terminal is Python's.

import { programPath, runFile } from './run-node.ts'

/** What somebody types once the terminal shows a text that was not there before. */
export type Answer = readonly [shown: string, typed: string]

export interface AtTerminal {
  readonly code: number
  /** Everything that the terminal showed, without its styles. */
  readonly shown: string
  readonly stdout: string
  /** Answers to what was never shown. */
  readonly left: readonly Answer[]
}

export const enter = '\r'
export const interrupt = '\u0003'
export const endOfInput = '\u0004'

const driver = `
import fcntl, json, os, pty, struct, subprocess, sys, termios
told = json.load(sys.stdin)
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 200, 0, 0))
child = subprocess.Popen(told['argv'], stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, start_new_session=True)
os.close(theirs)
shown, answers, seen = b'', told['answers'], 0
while True:
    try:
        part = os.read(ours, 65536)
    except OSError:
        break
    shown += part
    while answers and answers[0][0].encode() in shown[seen:]:
        seen = shown.index(answers[0][0].encode(), seen) + len(answers[0][0].encode())
        os.write(ours, answers.pop(0)[1].encode())
stdout = child.stdout.read().decode()
print(json.dumps({'code': child.wait(), 'shown': shown.decode(), 'stdout': stdout, 'left': answers}))
`

interface Surroundings {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs `proofstream <args>` to its end. */
export function runAtTerminal(
  args: readonly string[],
  answers: readonly Answer[],
  options: Surroundings,
): Promise<AtTerminal> {
  return runFileAtTerminal([process.execPath, programPath, ...args], answers, options)
}

/** Runs any program to its end. */
export async function runFileAtTerminal(
  argv: readonly string[],
  answers: readonly Answer[],
  options: Surroundings,
): Promise<AtTerminal> {
  const input = JSON.stringify({ argv, answers })
  const { stdout, stderr } = await runFile('python3', ['-c', driver], { ...options, input })
  if (stdout === '') throw new Error(stderr)
  const told = JSON.parse(stdout) as AtTerminal
  // oxlint-disable-next-line no-control-regex -- these are what is taken out
  return { ...told, shown: told.shown.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, '').replaceAll('\r\n', '\n') }
}
