// What a measurement is, and the arithmetic that all of them share.

/** One number of a run. `bar` is what it must not cross; a ratio or a time, never a rate, which the machine decides. */
export interface Measure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly bar?: { readonly most: number } | { readonly least: number }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

/** The value that a `share` of `values` is below. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

/** Milliseconds that `work` takes. */
export async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

/** Medians in milliseconds of two kinds of work, done in turns so that the machine's load falls on both alike. */
export async function compareMs(
  rounds: number,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<{ readonly first: number; readonly second: number }> {
  const times = { first: [] as number[], second: [] as number[] }
  for (let i = 0; i < rounds + 2; i++) {
    const firstMs = await timeMs(first)
    const secondMs = await timeMs(second)
    if (i < 2) continue
    times.first.push(firstMs)
    times.second.push(secondMs)
  }
  return { first: median(times.first), second: median(times.second) }
}

/** True when a value keeps to its bar. */
export function keepsBar({ value, bar }: Measure): boolean {
  if (bar === undefined) return true
  return 'most' in bar ? value <= bar.most : value >= bar.least
}
