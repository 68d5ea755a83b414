// What tests set to a small value that no option of a node sets: limits, the times of cuts, the batches of streams.

import type { Config } from '../../src/node/config.ts'
import { type Limits, limitOptions, limitsOf } from '../../src/libraries/base/limits.ts'

export interface Tuning {
  readonly limits?: Partial<Limits>
  readonly cut?: Partial<Config['cut']>
  readonly stream?: Partial<Config['stream']>
}

/** A configuration as it was read, but for what `tuning` says. */
export function tuned(config: Config, { limits, cut, stream }: Tuning): Config {
  const read = Object.fromEntries(limitOptions.map(([name]) => [name, Reflect.get(config.limits, name)]))
  const { concurrentQueries } = config.limits
  return {
    ...config,
    limits: limitsOf({ concurrentQueries, ...read, ...limits }),
    cut: { ...config.cut, ...cut },
    stream: { ...config.stream, ...stream },
  }
}
