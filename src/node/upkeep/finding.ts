// What a check of `doctor` comes to, and how a check that fails unforeseen becomes one.

export interface Finding {
  /** Short name of what was looked at. */
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  /** What was found, in one sentence. */
  readonly found: string
  /** What to do, in one line; for everything that is not ok. */
  readonly hint?: string
  /** True when what failed is not of this machine: brokers, a node elsewhere. */
  readonly isRemote?: boolean
}

export function ok(check: string, found: string): Finding {
  return { check, status: 'ok', found }
}

export function warn(check: string, found: string, hint: string): Finding {
  return { check, status: 'warn', found, hint }
}

export function fail(check: string, found: string, hint: string): Finding {
  return { check, status: 'fail', found, hint }
}

/** The text of what was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
