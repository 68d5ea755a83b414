// Whether the node can honour a durable accept and answer queries, with reasons where it cannot.

/** Asks one part of the node; a text says why it is not ready. */
export type HealthCheck = () => Promise<string | undefined> | string | undefined

export class Health {
  readonly #checks = new Map<string, HealthCheck>()
  readonly #facts = new Map<string, () => unknown>()

  add(name: string, check: HealthCheck): void {
    this.#checks.set(name, check)
  }

  /** Told beside the readiness, as JSON. */
  tell(name: string, fact: () => unknown): void {
    this.#facts.set(name, fact)
  }

  /** What is told, by name. */
  facts(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([...this.#facts].map(([name, fact]) => [name, fact()]))
  }

  /** Reasons by part; empty when ready. A check that throws is a reason. */
  async reasons(): Promise<Readonly<Record<string, string>>> {
    const reasons: Record<string, string> = {}
    for (const [name, check] of this.#checks) {
      try {
        const reason = await check()
        if (reason !== undefined) reasons[name] = reason
      } catch {
        reasons[name] = 'the check failed'
      }
    }
    return reasons
  }
}
