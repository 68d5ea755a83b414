// What the options of a node came to. app/config.ts reads them.

import type { Limits } from '../libraries/base/limits.ts'
import type { Role } from '../libraries/model/names.ts'
import type { Settings } from './options.ts'

export interface Config {
  readonly dataDir: string
  /** Absent for the one in the data directory, and where the store is named by a URL. */
  readonly storeDir: string | undefined
  /** Of a bucket, or of the node whose datasets are copied into the store. */
  readonly storeUrl: string | undefined
  /** In the order of `roles`, at least one. */
  readonly roles: readonly Role[]
  readonly without: readonly string[]
  /** `file`, or the name of a driver. */
  readonly log: string
  /** What the options of drivers and features came to. */
  readonly settings: Settings
  readonly listenHost: string
  readonly listenPort: number
  readonly nodeKeyFile: string | undefined
  readonly anonymousRead: boolean
  readonly newDatasets: 'public' | 'private'
  readonly deleteGraceMs: number
  readonly keepLoose: boolean
  readonly loopbackOnly: boolean
  readonly allowedHosts: readonly string[]
  readonly publicUrl: string | undefined
  readonly corsOrigins: readonly string[] | undefined
  readonly trustedSigners: readonly string[]
  /** When blocks end; what is absent is as the builder has it. */
  readonly cut: {
    readonly intervalMs: number
    readonly openAgeMs?: number
    readonly waitAgeMs?: number
    readonly burstBlocks?: number
  }
  readonly stream: { readonly ageMs: number; readonly rows: number }
  readonly logLevel: string
  readonly limits: Limits
}
