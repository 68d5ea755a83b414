// What a node warns of in its answers to batches, on stderr: each kind once in a run, yellow on a terminal.

import { styleText } from 'node:util'
import { kindOfWarning } from '../libraries/base/warnings.ts'
import type { JsonValue } from '../index.ts'
import { cleanText } from '../libraries/base/clean-text.ts'
import { note } from './failure.ts'
import { itemsAt } from './json-values.ts'

export class WarningTeller {
  readonly #told = new Set<string>()

  /** Tells the warnings of the answer to the batch `label` whose kinds were not told before. */
  tell(label: string, answer: JsonValue): void {
    for (const warning of itemsAt(answer, 'warnings')) {
      if (typeof warning !== 'string' || this.#told.has(kindOfWarning(warning))) continue
      this.#told.add(kindOfWarning(warning))
      note(styleText('yellow', `warning: ${label}: ${cleanText(warning)}`, { stream: process.stderr }))
    }
  }
}
