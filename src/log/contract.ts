// The contracts of `streams/` at run time: the only reader of those files, and what checks values against them.
// A schema is compiled at its first use.

import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { must } from '../lib/assert.ts'
import type { CommitAnnouncement, MessageHeader } from './messages.gen.ts'

/** A schema's verdict on a value: undefined when it fits, else why not and where. */
export type Check = (value: unknown) => string | undefined

/** Kinds of message that stream version 1 has. */
export const messageKinds: ReadonlySet<string> = new Set<MessageHeader['kind']>(['create', 'rows', 'abort', 'cut'])

/** Why `value` is not a `MessageHeader` of records version 1, or undefined. */
export const checkMessageHeader: Check = lazyCheck<MessageHeader>('records/v1.schema.json', 'header')

/** Why `value` is not a `CommitAnnouncement` of commits version 1, or undefined. */
export const checkCommitAnnouncement: Check = lazyCheck<CommitAnnouncement>('commits/v1.schema.json', 'announcement')

/** Compiles the schemas now (some 80 ms), so that the first message does not wait for it. */
export function prepareContract(): void {
  checkMessageHeader(undefined)
  checkCommitAnnouncement(undefined)
}

function lazyCheck<T>(path: string, what: string): Check {
  let validate: ValidateFunction<T> | undefined
  return (value) => {
    validate ??= compileSchema<T>(path)
    if (validate(value)) return undefined
    const fault = must(validate.errors?.[0], 'a failed validation names its fault')
    return `${what}${fault.instancePath} ${fault.message ?? fault.keyword}`
  }
}

function compileSchema<T>(path: string): ValidateFunction<T> {
  const text = readFileSync(new URL(`../../streams/${path}`, import.meta.url), 'utf8')
  const ajv = new Ajv({ discriminator: true, strict: true, strictTypes: false, strictRequired: false })
  return ajv.compile<T>(JSON.parse(text))
}

/** Settings of a topic of Kafka by name, values as the broker writes them. */
export type TopicSettings = Readonly<Record<string, string>>

/** Address and settings of a channel of `streams/asyncapi.json` as a topic of Kafka. */
export function topicContract(channel: 'records' | 'commits'): {
  readonly address: string
  readonly settings: TopicSettings
} {
  const text = readFileSync(new URL('../../streams/asyncapi.json', import.meta.url), 'utf8')
  // `as`: the shape of the document is held by a test.
  const { channels } = JSON.parse(text) as AsyncApiDocument
  const { address, bindings } = channels[channel]
  const settings = Object.entries(bindings.kafka.topicConfiguration).map(([name, value]) => [name, String(value)])
  return { address, settings: Object.fromEntries(settings) }
}

interface AsyncApiChannel {
  readonly address: string
  readonly bindings: { readonly kafka: { readonly topicConfiguration: Readonly<Record<string, unknown>> } }
}

interface AsyncApiDocument {
  readonly channels: Readonly<Record<'records' | 'commits', AsyncApiChannel>>
}
