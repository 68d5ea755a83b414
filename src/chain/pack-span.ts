// How many commits a pack covers. Apart from the rest of the form, so that tests pack chains that are short.

/** A larger slice stays a file of its own: engines read it where it lies, and it costs no more files than its rows are worth. */
export const packedSliceBytesMost = 4 * 1024 * 1024
const packsJoined = 16
/** First sequences that a pack of level 0 covers; a pack of the next level covers sixteen times as many. */
export const packSpan = 256
/** The largest pack holds the commits of 65,536 first sequences, so that making one has bounded memory. */
export const packLevelMost = 2

/** How many first sequences a pack of `level` covers. */
export function spanOf(level: number): number {
  return packSpan * packsJoined ** level
}
