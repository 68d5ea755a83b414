// The space reserve: rows are refused while a volume could not take what is already accepted, so that cuts, blocks,
// checkpoints and floors can always be written and a full disk can be emptied. Log and store keep the same one.

/** Kept free of rows on a volume, beside room for what is open. */
export const spaceReserveBytes = 256 * 1024 * 1024
/** Files that must still fit: a block takes about six, a new dataset as many directories. */
export const spaceReserveInodes = 10_000

/** What a volume has left for this user. */
export interface FreeSpace {
  readonly bytes: number
  /** Files that may still be made; undefined where the file system has no such bound. */
  readonly inodes: number | undefined
}

/**
 * Why no rows may be accepted, or undefined. `free`: undefined where that has no meaning; `openBytes`: accepted bytes
 * that are in no block yet, each of which may be needed twice (slice and checkpoint).
 */
export function whyNoRoom(free: FreeSpace | undefined, openBytes: number): 'bytes' | 'inodes' | undefined {
  if (free === undefined) return undefined
  if (free.bytes < spaceReserveBytes + 2 * openBytes) return 'bytes'
  return free.inodes !== undefined && free.inodes < spaceReserveInodes ? 'inodes' : undefined
}

/** What `statfs` says in these words. A file system without a bound on files says that it has none at all. */
export function freeSpaceOf(volume: {
  readonly bavail: number
  readonly bsize: number
  readonly files: number
  readonly ffree: number
}): FreeSpace {
  const { bavail, bsize, files, ffree } = volume
  return { bytes: bavail * bsize, inodes: files > 0 ? ffree : undefined }
}
