// Tables of pages whose last column names tests: the path of a file in ticks, then a part of a title in quotation marks.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './sources.ts'

export type ReadText = (path: string) => string

export const readSource: ReadText = (path) => readFileSync(join(repository, path), 'utf8')

/** The cells of the rows of all tables of a text, without those of their heads. */
export function rowsOf(text: string): string[][] {
  const rows = text.split('\n').filter((line) => line.startsWith('|'))
  const isHead = (_: string, at: number): boolean => rows[at + 1]?.startsWith('|--') === true
  return rows
    .filter((row, at) => !row.startsWith('|--') && !isHead(row, at))
    .map((row) => row.slice(2, -2).split(' | '))
}

/** What is wrong with the tests that a cell names; empty where each is there. */
export function faultsOfTests(cell: string, readText: ReadText): string[] {
  const named = [...cell.matchAll(/`([^`]+)` "([^"]+)"/g)]
  const gone = named.filter(([, path = '', words = '']) => !readText(path).includes(words))
  return [named.length > 0 ? [] : `no test: ${cell}`, gone.map(([name]) => `${name} is gone`)].flat()
}
