// How a command fails: an exit code of the closed list, a sentence, and what helps. Everything that is thrown ends up
// here and goes to stderr.

import { styleText } from 'node:util'
import { cleanText } from '../libraries/base/clean-text.ts'
import { tell } from './terminal.ts'

/** Exit codes; scripts rely on them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  refused: 5,
  unreachable: 6,
  conflict: 8,
  environment: 9,
  verificationFailed: 10,
  verificationImpossible: 11,
  promiseBroken: 12,
  quorumNotMet: 13,
  notJudged: 14,
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Parameters of ingest by name. */
export type Parameters = Readonly<Record<string, string | readonly string[]>>

/** One way to read a body; what is empty among its parameters, a person has to fill in. */
export interface Choice {
  readonly what: string
  readonly parameters: Parameters
}

export interface FailureDetails {
  /** Kind of the node's error table, with the status where a node answered. */
  readonly kind?: string
  /** Lines below the sentence, ready to print: where in the SQL, which records. */
  readonly facts?: readonly string[]
  readonly hint?: string
  /** What would settle it, by the node. */
  readonly choices?: readonly Choice[]
  /** True when the same request may succeed later. */
  readonly retryable?: boolean
  /** True when no connection came about, so that nothing was asked of the node. */
  readonly neverConnected?: boolean
  /** What a node asks for before the next try. */
  readonly retryAfterMs?: number
  readonly cause?: unknown
}

/** A command cannot do what was asked; `message` is a sentence for the person who asked. */
export class CommandFailure extends Error {
  override readonly name: string = 'CommandFailure'
  readonly exitCode: ExitCode
  readonly details: FailureDetails

  constructor(exitCode: ExitCode, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.exitCode = exitCode
    this.details = details
  }
}

/** Any thrown value as a failure; one that nobody foresaw keeps its stack, so that it can be reported. */
export function failureOf(error: unknown): CommandFailure {
  if (error instanceof CommandFailure) return error
  if (!(error instanceof Error)) return new CommandFailure(exitCodes.failed, String(error))
  const known = nodeFailure(error) ?? systemFailure(error)
  if (known !== undefined) return known
  return new CommandFailure(exitCodes.failed, `This should not happen: ${error.message}`, {
    facts: (error.stack ?? '').split('\n').slice(1),
    hint: 'Please report it with the lines above.',
    cause: error,
  })
}

/** A NodeError, DecodeError or HaltError that a command met in this very process. */
function nodeFailure(error: Error): CommandFailure | undefined {
  if (/^(?:HaltError|DecodeError|JsonError)$/.test(error.name))
    return new CommandFailure(exitCodes.failed, error.message, { cause: error })
  if (error.name !== 'NodeError' || !('kind' in error) || !('details' in error)) return undefined
  // The class is told by its name, so that this file loads nothing of the node.
  const { kind, details } = error as Error & { kind: string; details: { hint?: string; cause?: unknown } }
  const hint = details.hint === undefined ? {} : { hint: details.hint }
  return new CommandFailure(localExitCode(kind, details.cause), error.message, { ...hint, cause: error })
}

function localExitCode(kind: string, cause: unknown): ExitCode {
  if (kind === 'InvalidParameter') return isMissingFile(cause) ? exitCodes.notFound : exitCodes.usage
  if (kind === 'ObjectNotFound' || kind === 'DatasetNotFound') return exitCodes.notFound
  if (kind === 'StoreUnavailable') return exitCodes.unreachable
  return kind === 'LogUnavailable' || kind === 'StorageFull' ? exitCodes.environment : exitCodes.failed
}

function isMissingFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** What the operating system refused: a file, a port. */
function systemFailure(error: Error): CommandFailure | undefined {
  if (!('code' in error) || typeof error.code !== 'string' || !('syscall' in error)) return undefined
  const path = 'path' in error && typeof error.path === 'string' ? error.path : undefined
  switch (error.code) {
    case 'ENOENT':
      return new CommandFailure(exitCodes.notFound, `There is no file ${path ?? ''}.`, { cause: error })
    case 'EADDRINUSE':
      return new CommandFailure(exitCodes.environment, `The address is in use (${error.message}).`, {
        hint: 'Stop what listens there, or choose another with --listen (port 0 takes a free one).',
        cause: error,
      })
    default:
      return new CommandFailure(exitCodes.environment, `The system refused: ${error.message}`, { cause: error })
  }
}

/** Tells a failure on stderr: sentence and kind, facts, hint. */
export function printFailure(failure: CommandFailure): void {
  const { kind, facts = [], hint } = failure.details
  // What files and servers say is in all of them.
  const about = kind === undefined ? '' : paint('dim', `  (${cleanText(kind)})`)
  const lines = [`${paint('red', 'error:')} ${cleanText(failure.message)}${about}`]
  lines.push(...facts.map((fact) => (fact === '' ? '' : `  ${cleanText(fact, '\t')}`)))
  if (hint !== undefined) lines.push(`${paint('cyan', 'hint:')} ${cleanText(asTyped(hint))}`)
  tell(`${lines.join('\n')}\n`)
}

/** A remark beside the data: on stderr, whatever stdout is. */
export function note(text: string): void {
  tell(`${asTyped(text)}\n`)
}

function paint(style: 'red' | 'cyan' | 'dim', text: string): string {
  return styleText(style, text, { stream: process.stderr })
}

/** Commands in a text as the person who started this program can type them. */
export function asTyped(text: string, program = ownProgram()): string {
  return text.replace(/(?<![\w/.@-]|npx )proofstream(?= (?:--)?[a-z])/g, program)
}

/** How a person who started this program calls it: a checkout has no `proofstream` on the path, nor a package in a folder. */
function ownProgram(): string {
  const isInFolder = /[\\/]node_modules[\\/]\.bin[\\/]/.test(process.argv[1] ?? '')
  return isInFolder || import.meta.url.endsWith('.ts') ? 'npx proofstream' : 'proofstream'
}
