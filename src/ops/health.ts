// Whether the node can honour a durable accept and answer queries, with reasons where it cannot.

/** Asks one part of the node; a text says why it is not ready. */
export type HealthCheck = () => Promise<string | undefined> | string | undefined

export class Health {
  readonly #checks = new Map<string, HealthCheck>()

  add(name: string, check: HealthCheck): void {
    this.#checks.set(name, check)
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
