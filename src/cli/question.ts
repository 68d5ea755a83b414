// Questions to the person at the terminal: on stderr, answered by a line of stdin.

import { createInterface } from 'node:readline/promises'
import { cleanText } from '../libraries/base/clean-text.ts'
import { note } from './failure.ts'
import { beforeSignalEnds, onSignal } from './interrupt.ts'

/** Whether somebody is there to answer. */
export function isSomebodyThere(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}

/** What is typed, without white space around it; undefined at the end of input. Ctrl-C ends the program as a signal does. */
export async function ask(question: string): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const ended = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)))
  terminal.once('SIGINT', onSignal)
  const isAnswered = beforeSignalEnds(() => note('\ninterrupted'))
  try {
    return (await Promise.race([terminal.question(cleanText(question)), ended]))?.trim()
  } finally {
    isAnswered()
    terminal.close()
  }
}
