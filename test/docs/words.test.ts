// What users read is plain English: no sentence of these pages and texts breaks a rule of words.ts.

import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { filesUnder } from '../helpers/sources.ts'
import { breachesOf, breachesOfJson, breachesOfPage, mostWords } from '../helpers/words.ts'

const repository = new URL('../../', import.meta.url)

const pages = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'src/libraries/client/README.md',
  'src/libraries/ledger/README.md',
  'src/libraries/proof/README.md',
  ...[
    'backup',
    'cli',
    'client',
    'configuration',
    'deleting',
    'devices',
    'errors',
    'formats',
    'GLOSSARY',
    'GUARANTEES',
    'halts',
    'http-api',
    'keys',
    'lake',
    'limits',
    'metrics',
    'operations',
    'performance',
    'privacy',
    'replicas',
    'roles',
    'scale',
    'spec/bundle',
    'spec/http',
    'spec/ledger',
    'spec/on-disk',
    'spec/proof',
    'spec/protocol',
    'tour',
    'you-were-sent-a-file',
  ].map((name) => `docs/${name}.md`),
]
const texts = ['texts/errors.json', 'texts/operations.json']

const read = (path: string): string => readFileSync(new URL(path, repository), 'utf8')

test.each(pages)('%s breaks no rule', (path) => {
  expect(breachesOfPage(read(path))).toEqual([])
})

test.each(texts)('%s breaks no rule', (path) => {
  const withoutExamples = (name: string, value: unknown): unknown => (/example$/i.test(name) ? undefined : value)
  expect(breachesOfJson(JSON.parse(read(path), withoutExamples))).toEqual([])
})

/** What of the rules holds for comments, too. */
const ofComments = ['who without a noun', 'is none of', 'for ever', 'that there are', 'is told']

test('the first comment of no source file breaks a rule of comments', () => {
  const found = filesUnder('src').flatMap(({ path, text }) => {
    const lines = text.split('\n')
    const comment = lines
      .slice(
        0,
        lines.findIndex((line) => !line.startsWith('//')),
      )
      .map((line) => line.slice(3))
    const sentences = comment.join(' ').split(/(?<=[.!?]) (?=[A-Z`])/)
    return sentences
      .flatMap(breachesOf)
      .flatMap((breach) => (ofComments.includes(breach.rule) ? { path, ...breach } : []))
  })
  expect(found).toEqual([])
})

describe('a rule', () => {
  it.each([
    ['who without a noun', 'It is a list for who reads it.'],
    ['who without a noun', 'Whoever has the key can sign.'],
    ['who without a noun', 'Who has more leaves the line out.'],
    ['is none of', 'The path is none of this node.'],
    ['for ever', 'The name is kept for ever.'],
    ['that there are', 'It lists all the blocks that there are.'],
    ['what is … is', 'What is damaged is fetched again.'],
    ['of its own', 'Each has a key of its own.'],
    ['is told', 'The sender is told so.'],
    ['stands or lies', 'The token lies in a file.'],
    ['more than one colon or semicolon', 'One: two; three.'],
    [`more than ${mostWords} words`, `One ${'word '.repeat(mostWords)}more.`],
  ])('finds "%s"', (rule, sentence) => {
    expect(breachesOf(sentence)).toEqual([{ rule, sentence }])
    expect(breachesOfPage(`# Head\n\n- Fine.\n- All is well. ${sentence}\n`)).toEqual([{ rule, sentence }])
    expect(breachesOfPage(`| a | b |\n|---|---|\n| fine | ${sentence} |\n`)).toEqual([{ rule, sentence }])
    expect(breachesOfJson({ fix: ['Fine.', `All is well. ${sentence}`] })).toEqual([{ rule, sentence }])
  })

  it.each([
    'The people who read it see: nothing.',
    'Who may read?',
    'A stands for B.',
    'It lists `a; b: c; d` and says what is wrong and where it is.',
  ])('leaves "%s"', (sentence) => {
    expect(breachesOfPage(sentence)).toEqual([])
  })

  it('leaves blocks of code', () => {
    expect(breachesOfPage('Fine.\n\n```sh\n# It lies: there; so.\n```\n')).toEqual([])
  })
})
