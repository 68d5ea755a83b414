// How many commits a pack covers, and for how long what is packed lies loose too. Apart from the rest of the form, so that
// tests pack chains that are short.

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

/** Loose copies of what a pack holds stay so long. Longer than any statement that still reads them, or copying of a store. */
export const sweepAfterMs = 24 * 60 * 60 * 1000
/**
 * That no pack covers a commit is believed for so long: a small part of the time above, so that clocks which go wrong, and
 * processes that stand still, do no harm.
 */
export const packsTrustedMs = 10 * 60 * 1000
