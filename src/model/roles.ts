// The roles that a process may have: the gateway writes the log, the builder turns it into chains, the replica reads
// chains.

export const roles = ['gateway', 'builder', 'replica'] as const

export type Role = (typeof roles)[number]
