// Bugs to plant: each takes away one of the things that promises rest on. The place is marked in the source by a comment
// with the mutant's name: the line after `// mutant: NAME`, or all lines from it to `// mutant end`.

import type { SourceFile } from '../helpers/sources.ts'

export interface Mutant {
  /** Also its mark in the source, which is there exactly once. */
  readonly name: string
  /** What is replaced at the mark: there exactly once. All of the marked lines where it is absent. */
  readonly from?: string
  readonly to: string
  /** Test file of the simulation that must fail; the seeds by default. */
  readonly test?: string
  /** Path of the unit test that must fail, in place of the simulation. */
  readonly unit?: string
}

/** The file of the source with the bug in it. Throws when its mark, or what it replaces there, is not there exactly once. */
export function planted(sources: readonly SourceFile[], { name, from, to }: Mutant): SourceFile {
  const mark = `// mutant: ${name}\n`
  const marked = sources.filter(({ text }) => text.includes(mark))
  const { path, text } = marked[0] ?? { path: '', text: '' }
  const [before = '', after = '', ...more] = text.split(mark)
  const lines = after.split('\n')
  const end = from === undefined ? lines.findIndex((line) => line.trim() === '// mutant end') : 1
  const place = lines.slice(0, Math.max(end, 0)).join('\n')
  const isThere = marked.length === 1 && more.length === 0 && place.split(from ?? place).length === 2
  if (!isThere || place === '') throw new Error(`not exactly once in the source: ${mark}${from ?? '// mutant end'}`)
  return { path, text: `${before}${place.replace(from ?? place, () => to)}\n${lines.slice(end).join('\n')}` }
}

export const mutants: readonly Mutant[] = [
  {
    name: 'a head is signed before its batch is put',
    from: 'propose(entries)',
    to: `propose(entries)
    const early = \`\${this.#deps.origin}\\n\${batch.to.size}\\n\${batch.to.root}\\n\`
    this.#deps.signer.sign(new TextEncoder().encode(early))`,
  },
  {
    name: 'a batch replaces another',
    from: 'await store.put(',
    to: "'stored'; await store.replace(",
  },
  {
    name: 'a batch that lost is taken in',
    from: "outcome === 'exists'",
    to: 'batch.from.size < 0',
  },
  {
    name: 'a batch is taken in that a loss of power takes back',
    from: "await store.makeDurable(ledgerObjectKey(ledger, 'batches'))",
    to: '',
  },
  {
    name: 'a head is signed before its tiles are stored',
    from: 'await this.#files.storeAll()',
    to: '',
  },
  {
    name: 'a state is stored before the tiles',
    from: 'history.takeIn(batch)',
    to: 'history.takeIn(batch)\n    await this.#storeState(history)',
  },
  {
    name: 'a head is shown before its quorum',
    from: "!== 'not met'",
    to: '!== undefined',
  },
  {
    name: 'an unconfirmed keeper enters blocks',
    from: '!this.publisher.isConfirmed',
    to: 'history.batches < 0',
  },
  {
    name: 'nobody looks at what a witness holds',
    from: 'asked.isContrary',
    to: 'asked.size < 0',
    test: 'put-back',
  },
  {
    name: 'a ledger goes on that does not follow from itself',
    from: 'batch.to.root !== to.root',
    to: 'batch.from.size < 0',
    unit: 'test/features/ledger/keeper.test.ts',
  },
  {
    name: 'a ledger key replaces another',
    from: '.put(',
    to: '.replace(',
  },
  {
    name: 'a put into a packed range has won',
    from: "'exists'",
    to: "'stored'",
    unit: 'test/node/store/packs.test.ts',
  },
  {
    name: 'a pack misses an object',
    from: 'newCheckpoint !== undefined',
    to: 'newCheckpoint !== undefined && summary.next !== 100',
    unit: 'test/node/store/packs.test.ts',
  },
  {
    name: 'a merged file with two rows swapped',
    from: 'under.hash.digest() !== under.logicalHash',
    to: 'under.hash.digest() === ""',
    unit: 'test/node/machine/work/merge.test.ts',
  },
  {
    name: 'a pinned statement reads merged files',
    from: '!judged.isBlockFree || ',
    to: '',
    unit: 'test/node/answers/merged.test.ts',
  },
  {
    name: 'a sort gives back each zero as it is',
    from: ' && (sorted <= fewRows || this.#isSharp(top))',
    to: '',
    unit: 'test/node/answers/merged.test.ts',
  },
  {
    name: 'any library runs',
    from: 'throw found',
    to: "return { digest: '', state }",
    unit: 'test/node/engine/known-engines.test.ts',
  },
  {
    name: 'threads split what the order of rows decides',
    from: 'isSplit ? ',
    to: 'true ? ',
    unit: 'test/node/engine/many-threads.test.ts',
  },
  {
    name: 'offsets stand for rows of which other columns are read',
    from: '= readsOffsetsAlone(analysis, view)',
    to: '= true',
    unit: 'test/node/answers/merged.test.ts',
  },
  {
    name: 'too few of the newest rows are an answer',
    from: '>= newest.enough',
    to: '> 0',
    unit: 'test/node/answers/newest-rows.test.ts',
  },
  {
    name: 'the larger packs are looked for first',
    from: 'of levelsUpward',
    to: 'of levelsUpward.toReversed()',
    unit: 'test/node/store/packs.test.ts',
  },
  {
    name: 'a name is built on that a loss of power takes back',
    to: '',
    unit: 'test/node/store/names.test.ts',
  },
  {
    name: 'loose copies go before their pack is durable',
    to: '',
    unit: 'test/node/store/pack-crash.test.ts',
  },
  {
    name: 'a pack goes before the one that replaces it is durable',
    to: '',
    unit: 'test/node/store/repack-crash.test.ts',
  },
  {
    name: 'no fsync of the log',
    from: 'this.#file.writeDurably(',
    to: 'this.#file.write(',
  },
  {
    name: 'no fsync of directories in the store',
    to: '    return outcome',
  },
  {
    name: 'rename instead of link',
    from: 'await files.link(from, to)',
    to: 'await files.rename(from, to)',
  },
  {
    name: 'acknowledged before the fsync',
    from: 'this.#space.wrote(await this.#writer.write(messages))',
    to: `const writing = this.#writer.write(messages)
      let position = first
      for (const call of group) {
        call.resolve(position)
        position += call.messages.length
      }
      this.#space.wrote(await writing)`,
  },
  {
    name: 'no memory of keys',
    from: 'if (earlier === batch.bodyHash) return duplicate',
    to: '',
  },
  {
    name: 'no memory of producers',
    from: 'if (known === undefined || epoch > known.epoch) return',
    to: 'if (known === undefined || epoch >= 0) return',
    unit: 'test/node/builder/producers.test.ts',
  },
  {
    name: 'no memory of streams',
    from: '(begins === undefined ? stream : begins.after) !== known.stream',
    to: 'epoch < 0',
    unit: 'test/node/builder/producers.test.ts',
  },
  {
    name: 'no memory of resends',
    from: 'return message.n > (state.writers.get(message.writer) ?? -1)',
    to: 'return message.n > 0 && state.writers.size >= 0',
  },
  {
    name: 'a lost race is taken for won',
    from: "if (claim.outcome === 'lost') return 'lost'",
    to: '',
  },
  {
    name: 'a lost log is read from where it begins',
    to: `    const { start, end } = await log.range(this.number)
    const floor = Math.min(Math.max(record.position, start), end)
    this.#tried = floor`,
    test: 'lost-log',
  },
  {
    name: 'the floor before the block',
    from: "if (worker.phase !== 'halted') position = Math.min(position, worker.firstUncommitted ?? position)",
    to: "if (worker.phase === 'halted') position = Math.min(position, worker.firstUncommitted ?? position)",
  },
  {
    name: 'deleted when the commit is unclear',
    from: 'const claim = await putCommit(store, at, record)',
    to: `const claim = await putCommit(store, at, record).catch(async (error: unknown) => {
    const { commitKey } = await import('../store/layout.ts')
    await store.delete(commitKey(at.id, at.sequence))
    throw error
  })`,
  },
  {
    name: 'raw states of aggregates pass the gate',
    from: "of: [false], construct: 'EXPORT_STATE'",
    to: 'of: [true, false]',
    unit: 'test/node/engine/tree-grammar.test.ts',
  },
  {
    name: 'a process serves any caller',
    from: 'areAll(read, (id) => isOpen(id) || caller.mayRead(id))',
    to: 'areAll(read, () => true)',
    unit: 'test/node/engine/processes.test.ts',
  },
  {
    name: 'doubles are printed as decimals',
    from: "if (id === 'DOUBLE' && plain instanceof JsonNumber) return castOf(constant, plain.token, type)",
    to: '',
    unit: 'test/node/engine/printing.test.ts',
  },
  {
    name: 'footers answer',
    from: "alwaysLeftOut = 'statistics_propagation,",
    to: "alwaysLeftOut = '",
    unit: 'test/node/engine/foreign-files.test.ts',
  },
  {
    name: 'rows that came too late',
    from: 'choosesRows(top) ?',
    to: 'false ?',
    unit: 'test/node/engine/first-rows.test.ts',
  },
  {
    name: 'windows share partitions that are too large',
    from: 'if (count === 0) return window',
    to: 'if (count >= 0) return window',
    unit: 'test/node/engine/windows.test.ts',
  },
  {
    name: 'rows around a subquery are left out',
    from: 'comparesAround(top) ?',
    to: 'false ?',
    unit: 'test/node/engine/faults.test.ts',
  },
  {
    name: 'other values are compared',
    from: 'comparesChanged(top) ? ',
    to: 'false ? ',
    unit: 'test/node/engine/comparisons.test.ts',
  },
  {
    name: 'an ASOF JOIN finds no partner by NULL',
    from: 'if (isAsof(node) && holdsHere(',
    to: 'if (false && holdsHere(',
    unit: 'test/node/engine/faults.test.ts',
  },
  {
    name: 'paths guess columns',
    from: "'hive_partitioning = false'",
    to: "'hive_partitioning = true'",
    unit: 'test/node/engine/view-paths.test.ts',
  },
  {
    name: 'a lost answer counts as nothing stored',
    from: "if (!isAnswer(error)) return 'unknown'",
    to: "if (!isAnswer(error)) return 'absent'",
    unit: 'test/drivers/kafka/kafka-sender.test.ts',
  },
  {
    name: 'a frame is dropped',
    from: 'rest = rest.subarray(frame.taken)',
    to: 'rest = rest.subarray(rest.length)',
    unit: 'test/node/gateway/inflate.test.ts',
  },
  {
    name: 'no second reading of a first post',
    from: 'if (body.kept !== undefined && isOther(chain, body, against)) {',
    to: 'if (body.kept === against) {',
    unit: 'test/node/gateway/first-posts.test.ts',
  },
  {
    name: 'rejected rows are taken',
    from: 'if (rejection !== undefined) {',
    to: "if (rejection === '') {",
    unit: 'test/node/builder/reject.test.ts',
  },
  {
    name: 'a hidden dataset shows',
    from: 'return chain !== undefined && canSee(principal, chain.name) ? chain : undefined',
    to: 'return chain',
    unit: 'test/node/http/hidden.test.ts',
  },
  {
    name: 'a cut answer is signed as whole',
    from: 'truncated',
    to: 'truncated: false',
    unit: 'test/node/http/query.test.ts',
  },
  {
    name: 'values for parameters are not signed',
    from: 'request.parameters && parametersJson(request.parameters)',
    to: 'undefined',
    unit: 'test/node/http/parameters.test.ts',
  },
  {
    name: 'a listing tells of hidden datasets',
    from: 'reader.mayRead(name)',
    to: 'name.alias !== undefined',
    unit: 'test/node/http/catalog-statements.test.ts',
  },
  {
    name: 'sums of floats are exact',
    from: 'return operands.every((operand) => this.#sums.classOf(operand) <= valueClass.number)',
    to: 'return true',
    unit: 'test/node/engine/stability.test.ts',
  },
  {
    name: 'a key is forgotten too early',
    from: 'if (this.#size <= least) return',
    to: 'if (this.#size < least) return',
    unit: 'test/node/catalog/known-ids.test.ts',
  },
  {
    name: 'an answer is reused at another head',
    from: 'asked)',
    to: '{ ...asked, input: { ...input, datasets: [] } })',
    unit: 'test/node/http/reuse.test.ts',
  },
  {
    name: 'an answer is reused for who may not read',
    from: 'this.mayRead(name)',
    to: 'true',
    unit: 'test/node/http/reuse.test.ts',
  },
  {
    name: 'a proof is of fewer rows than decide its answer',
    from: ' || (isProven === true && !narrowing.inProofs)',
    to: '',
    unit: 'test/node/http/explain.test.ts',
  },
  {
    name: 'a window of offsets ends before the last row that is needed',
    from: 'rows, all, descending',
    to: 'rows: rows - 2, all, descending',
    unit: 'test/node/files/choose-files.test.ts',
  },
  {
    name: 'bounds leave out rows without a time',
    from: '!areTimed || ',
    to: '',
    unit: 'test/node/files/choose-row-groups.test.ts',
  },
]
