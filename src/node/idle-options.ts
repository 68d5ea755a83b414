// Options that say something of what a process does not have: a bucket, Kafka, a node that is followed. Most are slips, such as
// `--store S3//name` beside the address of a bucket, which would make a directory of that name.

import type { ReadOption } from './config.ts'
import { addressOf } from '../features/follow/options.ts'
import { invalidOption } from '../drivers/kafka/options.ts'
import { isBucketUrl } from '../drivers/s3/options.ts'

type TextOf = (name: string) => string

const groups: readonly {
  readonly names: RegExp
  readonly isThere: (text: TextOf) => boolean
  readonly needs: string
}[] = [
  {
    names: /^s3-/,
    isThere: (text) => isBucketUrl(text('store')),
    needs: 'a store in a bucket: --store s3://bucket/prefix',
  },
  {
    names: /^(?:kafka-.*|topic-prefix|partitions)$/,
    isThere: (text) => text('log') === 'kafka',
    needs: 'the log in Kafka: --log kafka',
  },
  {
    names: /^follow-/,
    isThere: (text) => addressOf(text('store')) !== undefined,
    needs: 'a node to follow: --store https://node.example --roles replica',
  },
]

/** Throws NodeError `InvalidParameter` for the first option that is set, differs from its default and has no effect. */
export function refuseIdleOptions(options: readonly ReadOption[]): void {
  const text: TextOf = (name) => String(options.find(({ row }) => row.name === name)?.value ?? '')
  for (const { row, value, source } of options) {
    if (source === 'default' || value === row.default) continue
    const group = groups.find(({ names }) => names.test(row.name))
    if (group === undefined || group.isThere(text)) continue
    const store = text('store')
    const beside = store !== '' && row.name !== 'store' ? ` (option 'store' is '${store}')` : ''
    throw invalidOption(`Option '${row.name}' has no effect here${beside}; it needs ${group.needs}.`)
  }
}
