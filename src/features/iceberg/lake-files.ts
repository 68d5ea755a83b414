// Data files as lake engines get them: the pages of a slice or of a merged file, byte for byte, and behind them a footer that
// Iceberg's readers take rightly (libraries/columnar/parquet/edit-footer.ts). Nothing of it is stored.

import { open } from 'node:fs/promises'
import { concatBytes } from '../../libraries/base/bytes.ts'
import { editedEnd } from '../../libraries/columnar/parquet/edit-footer.ts'
import { endOfFile } from '../../node/files/slice-times.ts'

/** Bytes [from, to). */
export type ReadPart = (from: number, to: number) => Promise<Uint8Array>

export interface DataFileBytes {
  readonly sizeBytes: number
  readonly read: ReadPart
}

/** The file for engines of one that was checked. Throws DecodeError, and what reading throws. */
export async function dataFileOf(storedBytes: number, readStored: ReadPart): Promise<DataFileBytes> {
  const { replacedBytes, end } = editedEnd(await endOfFile(storedBytes, readStored))
  const pageBytes = storedBytes - replacedBytes
  const read: ReadPart = async (from, to) => {
    const behind = end.subarray(Math.max(0, from - pageBytes), Math.max(0, to - pageBytes))
    if (from >= pageBytes) return behind
    const pages = await readStored(from, Math.min(to, pageBytes))
    return behind.length === 0 ? pages : concatBytes([pages, behind])
  }
  return { sizeBytes: pageBytes + end.length, read }
}

/** The size of the file for engines of one that ends so, with its whole footer. */
export function sizeWith(storedBytes: number, ofStored: Uint8Array): number {
  const { replacedBytes, end } = editedEnd(ofStored)
  return storedBytes - replacedBytes + end.length
}

/** Reads parts of a file of this machine, which may be gone from one to the next. */
export function readerOf(path: string): ReadPart {
  return async (from, to) => {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(new Uint8Array(to - from), 0, to - from, from)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  }
}
