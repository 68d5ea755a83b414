// Errors that fastify and its validator raise, in the words and kinds of the contract.

import type { FastifyError, FastifyRequest } from 'fastify'
import type { ErrorKind } from '../model/error-table.ts'
import { NodeError } from '../model/errors.ts'
import { unsupportedType } from './media-types.ts'

const frameworkKinds: Readonly<Record<string, ErrorKind>> = {
  FST_ERR_BAD_URL: 'InvalidName',
  FST_ERR_MAX_PARAM_LENGTH: 'InvalidName',
  FST_ERR_CTP_BODY_TOO_LARGE: 'BodyTooLarge',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'MalformedJson',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'MalformedBody',
  FST_ERR_VALIDATION: 'InvalidRequest',
}

/** The NodeError for an error that fastify itself raised, or undefined when it is none. */
export function frameworkError(error: unknown, request: FastifyRequest): NodeError | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code, statusCode = 500 } = error as FastifyError // has a code
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupportedType(request)
  const kind = frameworkKinds[code] ?? (statusCode < 500 ? pluginKind(statusCode) : undefined)
  return kind === undefined ? undefined : new NodeError(kind, sentence(error.message), { cause: error })
}

/** What a plugin refuses is a path that is none, or a request that it does not understand. */
function pluginKind(statusCode: number): ErrorKind {
  return statusCode === 403 || statusCode === 404 ? 'RouteNotFound' : 'InvalidParameter'
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text.slice(0, 300)}.`
}

interface SchemaFault {
  readonly instancePath: string
  readonly keyword?: string
  readonly message?: string
  readonly params?: Readonly<Record<string, unknown>>
}

const places = {
  body: { kind: 'InvalidRequest', whole: 'The body', one: 'The member' },
  params: { kind: 'InvalidName', whole: 'The path', one: 'The part' },
  querystring: { kind: 'InvalidParameter', whole: 'The query string', one: 'The parameter' },
} as const satisfies Record<string, { kind: ErrorKind; whole: string; one: string }>

/** The first fault that the validator found in `where` (`body`, `params`, `querystring`) as a NodeError. */
export function schemaError(fault: SchemaFault | undefined, where: string): NodeError {
  const place = where === 'body' || where === 'params' ? places[where] : places.querystring
  const path = fault?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  const subject = path === '' ? place.whole : `${place.one} '${path}'`
  return new NodeError(place.kind, reason(fault, { place, subject, inParameters: place === places.querystring }), {
    hint: 'GET /openapi.json describes every parameter.',
  })
}

function reason(
  fault: SchemaFault | undefined,
  { place, subject, inParameters }: { place: { readonly one: string }; subject: string; inParameters: boolean },
): string {
  const { keyword, params = {} } = fault ?? {}
  switch (keyword) {
    case 'additionalProperties':
      return `${place.one} '${String(params['additionalProperty']).slice(0, 100)}' is not known here.`
    case 'required':
      return `${place.one} '${String(params['missingProperty'])}' is missing.`
    case 'type':
      return inParameters
        ? `${subject} is given more than once.`
        : `${subject} is not of type ${String(params['type'])}.`
    case 'pattern':
      return `${subject} is not a whole number of at most 15 digits.`
    case 'maxLength':
      return `${subject} is longer than ${String(params['limit'])} characters.`
    case 'minimum':
      return `${subject} is below ${String(params['limit'])}.`
    default:
      return `${subject} ${fault?.message ?? 'is not valid'}.`
  }
}
