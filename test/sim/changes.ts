// Changes of datasets under faults: callers who change what a dataset says of itself and how it is kept, and the verdict
// in the end. Each change is a number that stands in both places, so that they must agree.

import { type DatasetChain, viewOf } from '../../src/node/catalog/dataset-chain.ts'
import type { Clients } from './clients.ts'

export interface ChangeSent {
  readonly dataset: string
  readonly value: number
  readonly sentAt: number
  /** When its caller was told that it holds; undefined where he was not. */
  readonly answeredAt: number | undefined
}

const leastFreshnessMs = 100

/** Changes datasets until the run is over, one after the other. */
export async function change(
  { world, gateway, aliases }: Clients,
  sent: ChangeSent[],
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    await world.after(world.random.next() * world.pick([50, 2_000]))
    const node = gateway()
    if (node?.gateway === undefined) continue
    const { gateway: at, catalog } = node
    const dataset = world.pick(aliases)
    const value = sent.length
    const sentAt = world.tick()
    const answer = node.process.call(async () => {
      const chain = await catalog.byAlias(dataset)
      if (chain === undefined) return undefined
      await at.change(chain, { info: { description: String(value) }, freshnessMs: leastFreshnessMs + value })
      return world.tick()
    })
    // Others go on meanwhile.
    const place = sent.push({ dataset, value, sentAt, answeredAt: undefined }) - 1
    const answeredAt = await Promise.race([answer.catch(() => undefined), world.after(3_000)])
    if (typeof answeredAt === 'number') sent[place] = { dataset, value, sentAt, answeredAt }
  }
}

/** What is wrong with the changes that the store holds in the end: one was told of and undone, or came half. */
export function checkChanges(sent: readonly ChangeSent[], chains: readonly DatasetChain[]): string[] {
  const problems: string[] = []
  for (const chain of chains) {
    const { alias, freshnessMs } = chain.name
    const own = sent.filter(({ dataset }) => dataset === alias.toLowerCase())
    const said = viewOf(chain).info?.description
    const last = own.find(({ value }) => String(value) === said)
    const isBefore = (sentAt: number): boolean => last === undefined || (last.answeredAt ?? Infinity) < sentAt
    if (own.some(({ answeredAt, sentAt }) => answeredAt !== undefined && isBefore(sentAt))) {
      problems.push(`${alias} says ${said ?? 'nothing'}, and later changes were told of`)
    }
    if (last !== undefined && freshnessMs !== leastFreshnessMs + last.value) {
      problems.push(`${alias} says ${said}, and its record ${freshnessMs}`)
    }
  }
  return problems
}
