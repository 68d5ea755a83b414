// A log and a store in memory, as drivers with options of their own.

import { NodeError } from '../../src/libraries/base/errors.ts'
import type { LogDriver, LogDriverCode, StoreDriver, StorePlace } from '../../src/node/driver.ts'
import { openLocalAnnouncements } from '../../src/node/log/announcements.ts'
import { openMemoryLog } from '../adapters/memory-log.ts'
import { openMemoryStore } from '../adapters/memory-store.ts'

interface ToyLog {
  readonly partitions: number
}

const code: LogDriverCode<ToyLog> = {
  async open({ partitions }, isReader, { opened, logger }) {
    const log = isReader ? undefined : openMemoryLog({ partitions })
    opened.push(async () => await log?.close())
    const announcements = openLocalAnnouncements(logger)
    const facts = { caution: 'toys break' }
    return { log, announcements, facts, aging: undefined, assignment: undefined, fault: async () => undefined }
  },
  openLog: async ({ partitions }) => openMemoryLog({ partitions }),
  named: (options) => options,
  streams: () => Promise.reject(new NodeError('InvalidParameter', 'A toy has no topics.')),
  inspect: async () => [],
}

export const log: LogDriver = {
  options: {
    name: 'toy',
    rows: [{ name: 'toy-parts', type: 'integer', default: 2, text: 'partitions of a toy' }],
    needs: 'the toy log: --log toy',
    read: (values) => (values.get('log') === 'toy' ? { partitions: values.get('toy-parts') } : undefined),
  },
  load: async () => code,
}

export const store: StoreDriver = {
  options: {
    name: 'box',
    rows: [],
    schemes: ['box'],
    needs: 'a store in a box',
    read: (values): StorePlace | undefined => {
      const url = String(values.get('store'))
      return url.startsWith('box://') ? { url } : undefined
    },
  },
  load: async () => ({ open: async () => openMemoryStore(() => Date.now()) }),
}
