// Runs many seeds of the simulation and tells of those that failed how to run them again.

import { expect } from 'vitest'
import { type RunOptions, type RunReport, runSeed } from './run.ts'

const defaultSeeds = 40
/** A run ends after this many bad seeds. */
const mostBad = Number(process.env['SIM_MOST_BAD'] ?? 10)

/** The seeds of part `part` of `of`: SIM_SEED alone, or SIM_SEEDS (default 40) of them from SIM_FIRST (default 1) on. */
export function seedsOf(part: number, of: number): number[] {
  const one = process.env['SIM_SEED']
  if (one !== undefined) return part === 0 ? [Number(one)] : []
  const count = Number(process.env['SIM_SEEDS'] ?? defaultSeeds)
  const first = Number(process.env['SIM_FIRST'] ?? 1)
  return Array.from({ length: count }, (_, i) => first + i).filter((seed) => seed % of === part)
}

/** Runs the seeds one after the other; fails with what each bad one found. Resolves with how often what happened. */
export async function runSeeds(seeds: readonly number[], options: RunOptions = {}): Promise<Record<string, number>> {
  const total = { batches: 0, acknowledged: 0, blocks: 0, events: 0, virtualMs: 0 }
  const faults: Record<string, number> = {}
  const bad: object[] = []
  const cpuBefore = process.cpuUsage()
  for (const seed of seeds) {
    const report = await attempt(seed, options)
    if (report.verdicts.length > 0 || report.problems.length > 0) {
      const found = { again: `SIM_SEED=${seed} npm run test:sim`, verdicts: report.verdicts, problems: report.problems }
      bad.push(found)
      // Told at once: the rest may take long.
      console.log(JSON.stringify(found))
    }
    total.batches += report.batches
    total.acknowledged += report.acknowledged
    total.blocks += report.blocks
    total.events += report.events
    total.virtualMs += report.virtualMs
    for (const [kind, count] of Object.entries(report.faults)) faults[kind] = (faults[kind] ?? 0) + count
    if (bad.length >= mostBad) break
  }
  const { user, system } = process.cpuUsage(cpuBefore)
  const cpuMs = Math.round((user + system) / 1000)
  console.log(`simulation: ${seeds.length} seeds, ${bad.length} bad`, JSON.stringify({ ...total, cpuMs, faults }))
  expect(bad).toEqual([])
  return faults
}

async function attempt(seed: number, options: RunOptions): Promise<RunReport> {
  try {
    return await runSeed(seed, options)
  } catch (error) {
    const empty = { verdicts: [], batches: 0, acknowledged: 0, blocks: 0, faults: {}, events: 0, virtualMs: 0 }
    return { ...empty, seed, problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)] }
  }
}
