// What a question brings beside its statement: values for its parameters, and blocks for its names. In a body the values
// keep their number tokens (`1` and `1.0` are two types); in a query string they are `param.<name>=<text>` and
// `pin=<alias>@<block>`.

import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { defined } from '../../libraries/base/collections.ts'
import { hashOf } from '../catalog/objects.ts'
import { datasetIdBytes, datasetIdText } from '../../libraries/base/ids/identifiers.ts'
import { toPlain } from '../../libraries/base/json/json.ts'
import { DecodeError, NodeError } from '../../libraries/base/errors.ts'
import type { JsonValue } from '../../libraries/base/json/value.ts'
import { maxParameters, type Parameters, readParameters, textParameters } from '../../libraries/model/parameters.ts'
import type { DatasetPin, NamePin } from '../../libraries/model/query.ts'

const Value = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])

/** The member `parameters` of a body. Describes it; `takeParameters` reads it. */
export const ParametersMember = Type.Optional(
  Type.Union([Type.Array(Value, { maxItems: maxParameters }), Type.Record(Type.String(), Value)], {
    description:
      'Values for $1, $2 (a list) or $name (an object) of the statement. Integers are BIGINT or HUGEINT, other numbers ' +
      'DOUBLE, text VARCHAR. Each parameter needs a value, each value its parameter.',
  }),
)

/** A member of `datasets` of a body. */
export const Pin = Type.Object(
  {
    id: Type.String({ maxLength: 100 }),
    alias: Type.String({ maxLength: 210 }),
    blockHash: Type.Optional(Type.String({ maxLength: 120 })),
    blockTime: Type.Optional(Type.String({ maxLength: 40 })),
  },
  { additionalProperties: false },
)

/** `pin` of a query string. */
export const PinText = Type.Optional(
  Type.Union([Type.String({ maxLength: 400 }), Type.Array(Type.String({ maxLength: 400 }), { maxItems: 1000 })], {
    description:
      'alias@block, once for each dataset: the block that the name stands for, in place of the head. alias=dataset@block ' +
      'where the name is another than that of the dataset. When given, no other names resolve. param.<name>=<text> gives the value of the parameter $<name>.',
  }),
)

/** `param.<name>` of a query string. */
export const parameterPattern = { '^param\\..': Type.String() }

const taken = new WeakMap<FastifyRequest, JsonValue>()

/** Before validation: puts plain values in the place of a body with number tokens, and keeps its parameters aside. */
export async function takeParameters(request: FastifyRequest): Promise<void> {
  const body = (request.body ?? undefined) as JsonValue | undefined // the content type parser keeps tokens on this route
  if (!(body instanceof Map)) {
    request.body = body === undefined ? body : plain(body)
    return
  }
  const parameters = body.get('parameters')
  if (parameters !== undefined) taken.set(request, parameters)
  body.delete('parameters')
  request.body = plain(body)
}

function plain(body: JsonValue): unknown {
  try {
    return toPlain(body, { largeIntegers: 'bigint' })
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
    throw new NodeError(
      'MalformedJson',
      `The body is not well-formed JSON: it ${cause.message.slice('JSON: '.length)}.`,
      {
        cause,
      },
    )
  }
}

/** The parameters of a body. Throws NodeError `InvalidParameter`. */
export function parametersOfBody(request: FastifyRequest): Parameters | undefined {
  const parameters = taken.get(request)
  return parameters === undefined ? undefined : readParameters(parameters)
}

/** Those of a query string; undefined where it has none. Throws NodeError `InvalidParameter`. */
export function parametersOfQuery(query: Readonly<Record<string, unknown>>): Parameters | undefined {
  const members = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    name.startsWith('param.') && typeof value === 'string' ? [[name.slice('param.'.length), value]] : [],
  )
  return members.length === 0 ? undefined : textParameters(new Map(members))
}

/** The pins of a query string; undefined where it has none. Throws NodeError `InvalidParameter`. */
export function pinsOfQuery(pin: string | string[] | undefined): readonly NamePin[] | undefined {
  if (pin === undefined) return undefined
  return [pin].flat().map((text) => {
    const [, alias, name, block] = /^(?:((?!did:)[^=/]{1,210})=)?([^=]+)@([^@]*)$/i.exec(text) ?? []
    if (name !== undefined && block !== undefined) return { ...defined({ alias }), name, blockHash: hashOf(block) }
    throw new NodeError('InvalidParameter', `pin is '${text.slice(0, 100)}', which is not a name and block.`, {
      hint: 'A pin is account/dataset@f1620…, did:odf:…@f1620…, or name=account/dataset@f1620… for a name of the statement.',
    })
  })
}

/** Throws NodeError `InvalidParameter`. */
export function pinOf(pin: Static<typeof Pin>): DatasetPin {
  return {
    id: idOf(pin.id),
    alias: pin.alias,
    ...(pin.blockHash === undefined ? {} : { blockHash: hashOf(pin.blockHash) }),
    ...defined({ blockTime: pin.blockTime }),
  }
}

/** The normal form of a dataset id in any multibase. */
function idOf(text: string): string {
  try {
    return datasetIdText(datasetIdBytes(text))
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
    throw new NodeError('InvalidParameter', `datasets names '${text}', which is not a did:odf.`, { cause })
  }
}
