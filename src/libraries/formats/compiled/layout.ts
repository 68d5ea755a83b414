// Where things lie in the memory that the compiled reader shares with TypeScript. Both read this file, AssemblyScript and
// TypeScript, so it holds nothing but integers.

/** Bytes of a column's record; offsets in it follow. */
export const columnBytes = 88
/** One of `codeOf…`. */
export const columnCode = 0
/** 1 where a record without a value is not taken. */
export const columnRequired = 4
/** Values, bits or text. */
export const columnValues = 8
/** Ends of texts; the first is that of the row before. */
export const columnOffsets = 12
/** Written from the first null on. */
export const columnValidity = 16
/** Rows that have a value or a null; 0: the column has not come. */
export const columnRows = 20
/** Nulls written; 0: all rows are present. */
export const columnNulls = 24
/** End of the texts so far, as an address. */
export const columnText = 28
/** What makes of an address the offset in the column's texts. */
export const columnBase = 32
/** Of times: units in a second. */
export const columnUnits = 36
/** Bytes of a value. */
export const columnWidth = 40
/** Of times: units in one of the epochs that are sent; 0 where none are. */
export const columnEpoch = 44
/** Least and greatest integer, or epoch. */
export const columnLeast = 48
export const columnMost = 56
/** Times that were cut off; the row of the first; how many columns had one before this. At 76: times.as.ts. */
export const columnCuts = 64
export const columnFirstCut = 68
export const columnCutOrder = 72
/** Of days and times: address of their pattern; 0: as RFC 3339 has them. */
export const columnPattern = 80

/** Bytes of a pattern: an instant, and steps that write over it, of two bytes: what (0: the end), and which byte or place. */
export const patternBytes = 240
export const patternHead = 32
export const stepOfByte = 1
export const stepOfDigit = 2
/** One digit or two, of a number that has two. */
export const stepOfDigits = 3

/** Bytes of a span of local times, [from, until), and how far it is ahead of UTC, in seconds. */
export const spanBytes = 24

export const codeOfNone = 0
export const codeOfBool = 1
export const codeOfInteger = 3
export const codeOfFloat = 5
export const codeOfString = 7
export const codeOfDate = 8
export const codeOfTimestamp = 9

/** What records are. */
export const recordsOfObjects = 0
export const recordsOfCells = 1
export const recordsOfPoints = 2

/** Bytes of a key's record before its text; offsets in it follow. */
export const keyHead = 32
/** Address of its column's record. The text has its quotes, or the equals sign after it. */
export const keyColumn = 0
export const keyLength = 4
/** Address of the next key in the ring of all. */
export const keyNext = 8
/** Address of the key that came after it last. */
export const keyLikely = 12
/** 16 bytes: ones where its text has bytes. */
export const keyMask = 16

/** Bytes that follow the input: line feeds, at which every loop stops. */
export const inputSlack = 64
/** Bytes beyond its end that a text may be written to. */
export const textSlack = 32
/** Most rows of a run. */
export const runRows = 4096

/** The powers of ten that numbers may be times. */
export const leastPower = -64
export const mostPower = 40
