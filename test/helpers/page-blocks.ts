// The fenced blocks of pages, as they stand there.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../../src/libraries/base/assert.ts'
import { repository } from './sources.ts'

export interface PageBlock {
  /** What follows the fence: `sh`, or nothing. */
  readonly language: string
  readonly text: string
}

/** The blocks of a page of the repository, in order. */
export function blocksOf(page: string): readonly PageBlock[] {
  const text = readFileSync(join(repository, page), 'utf8')
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, language = '', block = '']) => ({
    language,
    text: block,
  }))
}

/** The block of a page that begins so. */
export function blockOf(page: string, beginning: string): string {
  const block = blocksOf(page).find(({ text }) => text.startsWith(beginning))
  return must(block, `${page} has a block that begins with ${beginning}`).text
}

/** What matches a text that a page shows, in which `…` stands for anything on the line. */
export function shown(text: string): RegExp {
  const parts = text.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(parts.join('[^\n]*?'))
}
