// Bugs to plant: each is a change of text in one source file that takes away one of the things that promises rest on.

export interface Mutant {
  readonly name: string
  readonly file: string
  /** Must be there exactly once. */
  readonly from: string
  readonly to: string
  /** Test file of the simulation that must fail; the seeds by default. */
  readonly test?: string
  /** Path of the unit test that must fail, in place of the simulation. */
  readonly unit?: string
}

export const mutants: readonly Mutant[] = [
  {
    name: 'no fsync of the log',
    file: 'src/log/file/segment-writer.ts',
    from: `    try {
      await this.#file.datasync()
    } catch (error) {
      throw await this.#failed(error)
    }
    this.#noteFrames(messages)`,
    to: '    this.#noteFrames(messages)',
  },
  {
    name: 'no fsync of directories in the store',
    file: 'src/store/directory/directory-store.ts',
    from: `    await sync.sync(directory)
    return outcome`,
    to: '    return outcome',
  },
  {
    name: 'rename instead of link',
    file: 'src/store/directory/directory-store.ts',
    from: 'await files.link(source, path)',
    to: 'await files.rename(source, path)',
  },
  {
    name: 'acknowledged before the fsync',
    file: 'src/log/file/file-log.ts',
    from: '      this.#space.used(await this.#writer.write(messages))',
    to: `      const writing = this.#writer.write(messages)
      let position = first
      for (const call of group) {
        call.resolve(position)
        position += call.messages.length
      }
      this.#space.used(await writing)`,
  },
  {
    name: 'no memory of keys',
    file: 'src/builder/fold.ts',
    from: 'if (earlier === batch.bodyHash) return duplicate',
    to: '',
  },
  {
    name: 'no memory of resends',
    file: 'src/builder/fold.ts',
    from: 'return message.n > (state.writers.get(message.writer) ?? -1)',
    to: 'return message.n > 0 && state.writers.size >= 0',
  },
  {
    name: 'a lost race is taken for won',
    file: 'src/builder/commit.ts',
    from: "if (claim.outcome === 'lost') return 'lost'",
    to: '',
  },
  {
    name: 'a lost log is read from where it begins',
    file: 'src/builder/partition.ts',
    from: `    const floor = record?.position ?? 0
    this.#tried = floor
    await checkFloor(log, this.number, record)
    const { start, end } = await log.range(this.number)`,
    to: `    const { start, end } = await log.range(this.number)
    const floor = Math.min(Math.max(record?.position ?? 0, start), end)
    this.#tried = floor`,
    test: 'lost-log',
  },
  {
    name: 'the floor before the block',
    file: 'src/builder/session.ts',
    from: 'if (slot.halt === undefined) position = Math.min(position, firstUncommitted(slot) ?? position)',
    to: 'if (slot.halt !== undefined) position = Math.min(position, firstUncommitted(slot) ?? position)',
  },
  {
    name: 'deleted when the commit is unclear',
    file: 'src/builder/commit.ts',
    from: '  const claim = await putCommit(store, at, record)',
    to: `  const claim = await putCommit(store, at, record).catch(async (error: unknown) => {
    const { commitKey } = await import('../store/layout.ts')
    await store.delete(commitKey(at.id, at.sequence))
    throw error
  })`,
  },
  {
    name: 'raw states of aggregates pass the gate',
    file: 'src/engine/tree-grammar.ts',
    from: "export_state: { is: 'one', of: [false], construct: 'EXPORT_STATE' },",
    to: 'export_state: flag,',
    unit: 'test/engine/tree-grammar.test.ts',
  },
  {
    name: 'a process serves whoever asks',
    file: 'src/engine/child-pool.ts',
    from: '[...read].every((id) => this.#isOpen(id) || caller.mayRead(id))',
    to: '[...read].every(() => true)',
    unit: 'test/engine/processes.test.ts',
  },
  {
    name: 'doubles are printed as decimals',
    file: 'src/engine/printable.ts',
    from: "if (id === 'DOUBLE' && plain instanceof JsonNumber) return castOf(constant, plain.token, type)",
    to: '',
    unit: 'test/engine/printing.test.ts',
  },
  {
    name: 'paths guess columns',
    file: 'src/engine/duckdb-views.ts',
    from: "'hive_partitioning = false'",
    to: "'hive_partitioning = true'",
    unit: 'test/engine/view-paths.test.ts',
  },
  {
    name: 'a lost answer counts as nothing stored',
    file: 'src/log/kafka/errors.ts',
    from: "  if (!isAnswer(error)) return 'unknown'",
    to: "  if (!isAnswer(error)) return 'absent'",
    unit: 'test/log/kafka-sender.test.ts',
  },
  {
    name: 'a frame is dropped',
    file: 'src/gateway/inflate.ts',
    from: 'rest = rest.subarray(frame.taken)',
    to: 'rest = rest.subarray(rest.length)',
    unit: 'test/gateway/inflate.test.ts',
  },
  {
    name: 'no second reading of a first post',
    file: 'src/gateway/place-typed.ts',
    from: 'if (body.kept !== undefined && isOther(chain, body, against)) {',
    to: 'if (body.kept === against) {',
    unit: 'test/gateway/first-posts.test.ts',
  },
  {
    name: 'rejected rows are taken',
    file: 'src/builder/fold.ts',
    from: 'if (rejection !== undefined) return rejected(',
    to: "if (rejection === '') return rejected(",
    unit: 'test/builder/reject.test.ts',
  },
  {
    name: 'a hidden dataset shows',
    file: 'src/http/routes/ingest.ts',
    from: 'return chain !== undefined && canSee(principal, chain.name) ? chain : undefined',
    to: 'return chain',
    unit: 'test/http/hidden.test.ts',
  },
  {
    name: 'a cut answer is signed as whole',
    file: 'src/replica/query.ts',
    from: 'if (answer.truncated && order.tellsTruncation) parts.push',
    to: 'if (answer.truncated && !order.tellsTruncation) parts.push',
    unit: 'test/http/query.test.ts',
  },
  {
    name: 'sums of floats are exact',
    file: 'src/engine/stability.ts',
    from: 'if (addingAggregates.has(name)) return classes.every((one) => one <= valueClass.number)',
    to: 'if (addingAggregates.has(name)) return true',
    unit: 'test/engine/stability.test.ts',
  },
  {
    name: 'a key is forgotten too early',
    file: 'src/catalog/id-set.ts',
    from: 'if (this.#size <= least) return',
    to: 'if (this.#size < least) return',
    unit: 'test/catalog/known-ids.test.ts',
  },
]
