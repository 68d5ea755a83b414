// What a node and the process of a portable engine tell one another: one job, the slices that it asks for, its verdict.

import type { DataSchema } from '../../libraries/model/schema.ts'
import type { ReadProof } from '../../libraries/proof/read-proof.ts'
import type { KnownFile } from './portable-module.ts'
import type { PortableVerdict } from '../../libraries/proof/rerun/verdict.ts'

/** A proof to be run again. */
export interface PortableJob {
  readonly version: string
  readonly module: KnownFile
  readonly driver: KnownFile
  readonly memoryBytes: number
  readonly proof: ReadProof
  /** The datasets that it names, each with the number of its slices. */
  readonly tables: readonly {
    readonly alias: string
    readonly schema: DataSchema | undefined
    readonly slices: number
  }[]
}

export type ToPortable =
  | { readonly kind: 'job'; readonly job: PortableJob }
  /** The next bytes of the slice that was asked for. */
  | { readonly kind: 'piece'; readonly bytes: Uint8Array; readonly isLast: boolean }

export type FromPortable =
  /** The engine is asked for something more. */
  | { readonly kind: 'step' }
  /** It stands. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'wanted'; readonly table: number; readonly slice: number }
  | { readonly kind: 'verdict'; readonly verdict: PortableVerdict }
