// What the options say of a node that is followed: read, and held against each other.

import type { NodeError } from '../../libraries/base/errors.ts'
import { invalidOption, type OptionGroup, type OptionRow, type OptionValues, schemeOf } from '../../node/options.ts'

const rows: readonly OptionRow[] = [
  {
    name: 'follow',
    type: 'list',
    text: "datasets to follow of the node in --store: account/dataset, 'account/*', '*', or an id",
  },
  {
    name: 'follow-token',
    type: 'text',
    isSecret: true,
    text: 'token for that node, for its private datasets; better in the environment than in a flag',
  },
]

/** Which datasets of which node a replica follows. */
export interface FollowOptions {
  /** Its address, without a slash at the end. */
  readonly url: string
  readonly token: string | undefined
  /** `*`, `account/*`, `account/dataset` or the id of a dataset; `*` stands for any letters of a name. */
  readonly patterns: readonly string[]
}

const patternForm = /^(?:\*|did:odf:fed01[0-9a-f]{64}|[A-Za-z0-9.*-]+\/[A-Za-z0-9.*-]+)$/

const schemes: readonly string[] = ['http', 'https']

export const followOptions: OptionGroup<FollowOptions> = {
  name: 'follow',
  rows,
  schemes,
  needs: 'a node to follow: --store https://node.example --roles replica',
  read: (values) => readFollow(addressOf(values.get('store') as string | undefined), values), // text by its row
}

/** The address that is given in place of a store's directory; undefined where it is none. Throws NodeError `InvalidParameter`. */
function addressOf(store: string | undefined): string | undefined {
  if (store === undefined || !schemes.includes(schemeOf(store) ?? '')) return undefined
  const url = URL.canParse(store) ? new URL(store) : undefined
  if (url !== undefined && url.search === '' && url.hash === '' && url.username === '')
    return url.href.replace(/\/$/, '')
  throw invalidOption(`Option 'store' is '${store}'; expected a directory or the https:// address of a node.`)
}

/** Undefined without an address. Throws NodeError `InvalidParameter` where the options do not go together. */
function readFollow(url: string | undefined, values: OptionValues): FollowOptions | undefined {
  // parseValue has given each option the type that its row names.
  const list = (name: string): readonly string[] | undefined => values.get(name) as readonly string[] | undefined
  const patterns = list('follow')
  if (url === undefined) {
    if (patterns === undefined) return undefined
    throw invalidOption("Option 'follow' needs a node to follow: --store https://node.example --roles replica.")
  }
  if (list('roles')?.join(',') !== 'replica' || values.get('log') !== 'file') {
    throw invalidOption(`Option 'store' is '${url}', the address of a node: that needs --roles replica, and no Kafka.`)
  }
  if (patterns === undefined || patterns.length === 0) {
    throw invalidOption(`Option 'store' is '${url}', a node to follow. Name its datasets with --follow: '*' for all.`)
  }
  for (const pattern of patterns) if (!patternForm.test(pattern)) throw noPattern(pattern)
  const token = values.get('follow-token') as string | undefined // text by its row
  return { url, token, patterns }
}

function noPattern(pattern: string): NodeError {
  return invalidOption(
    `Option 'follow' is '${pattern}'; expected account/dataset, 'account/*', '*' or an id, with commas between.`,
  )
}
