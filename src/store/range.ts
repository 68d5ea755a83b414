// The one rule about byte ranges that every object store adapter shares.

/** Throws `RangeError` unless [start, end) lies inside an object of `size` bytes. */
export function checkRange(start: number, end: number, size: number): void {
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end < start || end > size) {
    throw new RangeError(`bytes [${start}, ${end}) lie outside an object of ${size} bytes`)
  }
}
