// The space reserve: rows are refused while the volume could not take what is already accepted, so that cuts, blocks,
// checkpoints and floors can always be written and a full disk can be emptied.

/** Kept free of rows on the volume of the store, beside room for what is open. */
export const spaceReserveBytes = 256 * 1024 * 1024

/**
 * True while new rows may be accepted. `freeBytes`: what the volume has left, undefined where that has no meaning;
 * `openBytes`: accepted bytes that are in no block yet, each of which may be needed twice (slice and checkpoint).
 */
export function hasRoomForRows(freeBytes: number | undefined, openBytes: number): boolean {
  return freeBytes === undefined || freeBytes >= spaceReserveBytes + 2 * openBytes
}
