// What the node says of its errors and of its routes: the files of `texts/`, read once at start. They hold words,
// examples and lists; what they name (kinds, routes, headers) is held against the code by test/docs/texts.test.ts.

import { readFileSync } from 'node:fs'
import { type ErrorKind, errorTable, isRetryable, kindSlug } from '../../libraries/base/error-table.ts'
import { type ErrorDetails, NodeError } from '../../libraries/base/errors.ts'
import { problemOf } from './problem.ts'

interface ErrorText {
  /** When it is given, and what is true then. */
  readonly meaning: string
  /** What the caller should do. */
  readonly fix: string
  readonly example: Omit<ErrorDetails, 'cause'> & { readonly message: string }
}

/** One answer that a route may give. */
export interface AnswerText {
  readonly about: string
  /** Of the JSON that it holds: a name of `schemas`, or several of which one fits; absent for any JSON. */
  readonly schema?: string | readonly string[]
  /** Names of `responseHeaders`, beside those of every answer. */
  readonly headers?: readonly string[]
  /** Media types; `application/json` by default, none for an answer without a body. */
  readonly media?: readonly string[]
  /** It may be a file in any format of libraries/columnar/outputs/formats.ts, too. */
  readonly files?: boolean
  readonly example?: unknown
}

export interface OperationText {
  readonly id: string
  readonly tag: string
  readonly summary: string
  /** The role that a process must have to answer; `catalog` stands for a gateway or a replica, none for any. */
  readonly role?: 'gateway' | 'replica' | 'catalog'
  /** The feature that answers it, where a node may do without. */
  readonly feature?: string
  /** More than the summary says. */
  readonly about?: string
  /** Names of `requestHeaders`. */
  readonly asks?: readonly string[]
  /** A name of `schemas`, where the handler reads the body by itself: described, not validated by it. */
  readonly body?: string
  /** Of the JSON body. */
  readonly bodyExample?: unknown
  /** By status. */
  readonly answers: Readonly<Record<string, AnswerText>>
  /** Kinds and names of `errorGroups`, beside `errorsOfAll`. */
  readonly errors: readonly string[]
  /** A name of `schemas`, where errors have another body than a problem. */
  readonly errorSchema?: string
}

interface RouteTexts {
  readonly about: string
  readonly tags: { readonly name: string; readonly description: string }[]
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly responseHeaders: Readonly<Record<string, string>>
  /** Of every route with a dataset in its path that has to exist. */
  readonly answerOfRenamed: AnswerText
  /** Any route may give these. */
  readonly errorsOfAll: readonly ErrorKind[]
  readonly errorGroups: Readonly<Record<string, readonly string[]>>
  /** JSON Schemas of what is sent as JSON. They describe; they validate nothing. */
  readonly schemas: Readonly<Record<string, object>>
  /** By method and path as the OpenAPI document writes them. */
  readonly operations: Readonly<Record<string, OperationText>>
}

// The shape of both files is a matter of the repository, which its tests prove.
export const errorTexts = read('errors.json') as Readonly<Record<ErrorKind, ErrorText>>
export const routeTexts = read('operations.json') as RouteTexts

/** The kinds that an operation may give beside those of every route. */
export function errorsOf({ errors }: Pick<OperationText, 'errors'>): readonly ErrorKind[] {
  return errors.flatMap((name) => {
    const group = routeTexts.errorGroups[name]
    return group === undefined ? [name as ErrorKind] : errorsOf({ errors: group }) // no name of a group is one of a kind
  })
}

/** True where programs get JSON and browsers a page, of errors too. */
export function answersInBoth({ answers }: Pick<OperationText, 'answers'>): boolean {
  const media = answers['200']?.media ?? []
  return media.length > 1 && media.includes('text/html')
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../texts/${name}`, import.meta.url), 'utf8'))
}

/** What `GET /errors/{kind}` says of one kind. */
export interface ErrorEntry {
  readonly kind: ErrorKind
  readonly status: number
  readonly title: string
  readonly meaning: string
  readonly fix: string
  readonly retryable: boolean
  /** Path of the page. */
  readonly page: string
  readonly example: { readonly mediaType: string; readonly body: Readonly<Record<string, unknown>> }
}

const exampleRequestId = '7d3f7f0e-5a0c-4c3e-9a51-0d9f4c1c2b3a'

/** Every kind, by status as the table has them. */
// the keys of the table are its kinds
export const errorCatalogue: readonly ErrorEntry[] = (Object.keys(errorTable) as ErrorKind[]).map((kind) => {
  const { meaning, fix, example } = errorTexts[kind]
  const { message, ...details } = example
  const problem = problemOf(new NodeError(kind, message, details), exampleRequestId)
  return {
    kind,
    status: errorTable[kind].status,
    title: errorTable[kind].title,
    meaning,
    fix,
    retryable: isRetryable(kind),
    page: `/errors/${kindSlug(kind)}`,
    example: { mediaType: problem.mediaType, body: problem.body },
  }
})
