// A node's problem body as a failure of the command: exit code, sentence, place in the SQL, faulty records, hint.

import type { IncomingHttpHeaders } from 'node:http'
import { type JsonValue, parseJson } from '../index.ts'
import { cleanText } from '../libraries/base/clean-text.ts'
import { defined, ownValue } from '../libraries/base/collections.ts'
import { withFlags } from '../libraries/formats/flags.ts'
import { choiceLines, choicesOf } from './choices.ts'
import { CommandFailure, type ExitCode, exitCodes } from './failure.ts'
import { itemsAt, memberAt, numberAt, textAt, textsAt } from '../libraries/base/json/members.ts'
import { displayWidth, plainTable } from './output.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Uint8Array
}

const maxErrorsShown = 10
const problemValues = 100_000
/** A node may ask for any pause; more than this is no longer waiting. */
const longestPauseMs = 30_000

/** Where a body begins that was cut from a pipe: what stands before it there. */
export interface BodyPlace {
  readonly records: number
  readonly lines: number
}

/** What the failure is told of the request. */
interface Asked {
  readonly sql?: string | undefined
  readonly place?: BodyPlace | undefined
  /** The address that answered, `http://127.0.0.1:8080`. */
  readonly server?: string | undefined
}

/** The failure that an answer with a status from 300 is. */
export function problemFailure(answer: HttpAnswer, { sql, place, server = 'The node' }: Asked = {}): CommandFailure {
  const { status, headers } = answer
  const body = bodyOf(answer)
  const kind = textAt(body, 'error', 'kind')
  const message = textAt(body, 'message') ?? `${server} answered ${status}, and not as a Proofstream node does.`
  const requestId = headers['request-id']
  const hint = ownValue(commandHints, kind ?? '') ?? textAt(body, 'hint')
  const pause = retryAfterMs(headers['retry-after'])
  const choices = choicesOf(body)
  return new CommandFailure(exitCodeOf(status, kind), cleanText(withFlags(placed(message, place))), {
    kind: kind === undefined ? String(status) : `${status} ${cleanText(kind)}`,
    facts: [
      ...caretLines(body, sql, place),
      ...candidateLines(body),
      ...recordLines(body, place),
      ...choiceLines(choices),
      ...(status >= 500 && typeof requestId === 'string' ? [`request id: ${cleanText(requestId)}`] : []),
    ],
    ...(hint === undefined ? {} : { hint: cleanText(withFlags(hint)) }),
    choices,
    retryable: memberAt(body, 'retryable') === true || retryableStatus.has(status),
    ...defined({ retryAfterMs: pause }),
  })
}

/** Where a node's hint speaks of HTTP, and the command line has its own way. */
const commandHints: Readonly<Record<string, string>> = {
  Unauthenticated:
    'Name a token with --token-file or PROOFSTREAM_TOKEN; PROOFSTREAM_DATA is where a local node keeps one.',
  DatasetNotFound: 'See what is there with: proofstream dataset list. A dataset is made by: proofstream ingest.',
}

const retryableStatus: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

function bodyOf({ bytes }: HttpAnswer): JsonValue | undefined {
  try {
    return parseJson(bytes, { maxValues: problemValues })
  } catch {
    return undefined
  }
}

function retryAfterMs(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,9}$/.test(header) ? Math.min(Number(header) * 1000, longestPauseMs) : undefined
}

const impossible =
  /^(?:VerificationInconclusive::|VerificationFailed::(?:Dataset|NotReproducible)|InvalidRequest::(?:UnpinnedDataset|RewrittenOutput)$)/
const failedProof = /^(?:VerificationFailed::|InvalidRequest::)/

/** Exit code of a status, and of the kinds that say more than their status. */
export function exitCodeOf(status: number, kind: string | undefined): ExitCode {
  if (kind === 'OutcomeUnknown') return exitCodes.unreachable
  if (kind !== undefined && impossible.test(kind)) return exitCodes.verificationImpossible
  if (kind !== undefined && failedProof.test(kind)) return exitCodes.verificationFailed
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return exitCodes.refused
    case 401:
    case 403:
      return exitCodes.notAllowed
    case 404:
      return exitCodes.notFound
    case 409:
    case 412:
      return exitCodes.conflict
    default:
      return retryableStatus.has(status) ? exitCodes.unreachable : exitCodes.failed
  }
}

/** The line of the SQL that the position names, and a caret under it. */
function caretLines(body: JsonValue | undefined, sql: string | undefined, place: BodyPlace | undefined): string[] {
  const [line, column] = [numberAt(body, 'position', 'line'), numberAt(body, 'position', 'column')]
  if (line === undefined || column === undefined) return []
  const text = sql?.split(/\r\n|\n|\r/)[line - 1]
  if (text === undefined) return [`at line ${line + (place?.lines ?? 0)}, column ${column}`]
  const before = Array.from(text).slice(0, column - 1)
  const indent = before.map((character) => (character === '\t' ? '\t' : ' '.repeat(displayWidth(character))))
  return [cleanText(text, '\t'), `${indent.join('')}^`]
}

function candidateLines(body: JsonValue | undefined): string[] {
  const candidates = textsAt(body, 'candidates')
  return candidates.length === 0 ? [] : [`candidates: ${cleanText(candidates.join(', '))}`]
}

function movedBy(number: number | undefined, by: number): string {
  return number === undefined ? '' : String(number + by)
}

/** A message about a body, as one about the pipe that it was cut from. */
function placed(message: string, place: BodyPlace | undefined): string {
  if (place === undefined || place.records === 0) return message
  const { records } = place
  const before = `${records} record${records === 1 ? '' : 's'} before ${records === 1 ? 'was' : 'were'}`
  return message
    .replace(/^Record (\d+)(?=\b)/, (_, number: string) => `Record ${Number(number) + records}`)
    .replace('Nothing was stored.', `Nothing of this batch was stored; the ${before} sent.`)
}

/** The first of the records that do not fit, as a table. */
function recordLines(body: JsonValue | undefined, { records, lines }: BodyPlace = { records: 0, lines: 0 }): string[] {
  const errors = itemsAt(body, 'errors')
  if (errors.length === 0) return []
  const total = numberAt(body, 'errorsTotal') ?? errors.length
  const rows = errors
    .slice(0, maxErrorsShown)
    .map((error) => [
      movedBy(numberAt(error, 'record'), records),
      movedBy(numberAt(error, 'line'), lines),
      textAt(error, 'column') ?? textAt(error, 'pointer') ?? '',
      textAt(error, 'kind') ?? '',
      withFlags(textAt(error, 'message') ?? ''),
      textAt(error, 'excerpt') ?? '',
    ])
  const table = plainTable(['record', 'line', 'column', 'kind', 'message', 'excerpt'], rows)
  return [...table, ...(total > rows.length ? [`… and ${total - rows.length} more`] : [])]
}
