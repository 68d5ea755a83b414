// The package of one library, from compiled files that are texts here.

import { describe, expect, test } from 'vitest'
import { libraryPackage } from '../scripts/library-package.ts'

const library = { name: '@a/b', description: 'One library.', entry: 'lib/main' }
const root = {
  version: '1.2.3',
  license: 'Apache-2.0',
  dependencies: { '@x/y': '1.0.0', other: '2.0.0', heavy: '3.0.0' },
  browser: { './dist/base/native.js': './dist/base/plain.js', './dist/base/unused.js': './dist/base/none.js' },
}
const compiled: Readonly<Record<string, string>> = {
  'lib/main.js': `import { a } from '../base/native.js'\nexport * from './again.js'\nawait import('./later.js')\n//# sourceMappingURL=main.js.map`,
  'lib/again.js': `import './main.js'\nexport const text = "import './none.js'"\n`,
  'lib/later.js': `import z from 'other'\n`,
  'base/native.js': `import { hash } from 'node:crypto'\n`,
  'base/plain.js': `export { y } from '@x/y/deep.js'\n`,
  'lib/main.d.ts': `import type { T } from './types.ts'\nexport declare const b: import('./shape.js').Shape\n`,
  'lib/types.d.ts': `export interface T { readonly text: "from './none.ts'" }\n`,
  'lib/shape.d.ts': `export type Shape = T\n`,
  'lib/unused.js': `import 'heavy'\n`,
}

function made(files = compiled): ReadonlyMap<string, string> {
  return libraryPackage(library, root, (path) => {
    const text = files[path]
    if (text === undefined) throw new Error(`no ${path}`)
    return text
  })
}

describe('the package of a library', () => {
  test('holds what its entry leads to, and what browsers take instead', () => {
    const { 'lib/unused.js': _, ...reached } = compiled
    expect([...made().keys()].sort()).toEqual([...Object.keys(reached), 'package.json'].sort())
    expect(made().get('lib/later.js')).toBe(compiled['lib/later.js'])
    expect(made().get('lib/main.js')).not.toContain('sourceMappingURL')
  })

  test('depends on what its files import, in the versions of the root', () => {
    expect(JSON.parse(made().get('package.json') ?? '')).toMatchObject({
      name: '@a/b',
      version: '1.2.3',
      exports: { '.': { types: './lib/main.d.ts', default: './lib/main.js' } },
      browser: { './base/native.js': './base/plain.js' },
      dependencies: { '@x/y': '1.0.0', other: '2.0.0' },
    })
  })

  test.each([
    ['import "stranger"', 'lib/later.js imports stranger, which is no dependency'],
    ['import "./none.js"', 'no lib/none.js'],
    ['import(name)', 'lib/later.js: import of what?'],
    ['import {', 'lib/later.js: '],
  ])('is refused where a file says %s', (text, reason) => {
    expect(() => made({ ...compiled, 'lib/later.js': text })).toThrow(reason)
  })
})
