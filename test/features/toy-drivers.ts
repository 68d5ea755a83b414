// A log and a store in memory, as drivers with URLs of their own.

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
  streams: () => Promise.reject(new NodeError('InvalidParameter', 'A toy has no topics.')),
  inspect: async () => [],
}

export const log: LogDriver = {
  options: {
    name: 'toy',
    text: 'or a toy, toy://PARTS',
    read: (url) => ({ partitions: Number(url.slice('toy://'.length)) }),
  },
  load: async () => code,
}

export const store: StoreDriver = {
  options: { name: 'box', text: 'or a box, box://NAME', read: (url): StorePlace => ({ url }) },
  load: async () => ({ open: async () => openMemoryStore(() => Date.now()) }),
}
