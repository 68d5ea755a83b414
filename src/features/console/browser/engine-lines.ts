// Which engine runs the query of a bundle, as this release knows it by the dialect of the checked proof.

import { plainDialect } from '../../../libraries/proof/bundle/engine-file.ts'
import { neededEngine } from '../../../node/engine/needed-engine.ts'
import { element } from './element.ts'

/** Nothing of it is taken from the bundle. */
export function engineLines(dialect = plainDialect): HTMLElement[] {
  const { needs, forms } = neededEngine(dialect)
  return [
    element('p', 'hint', `${needs}.`),
    ...forms.map(({ form, package: name, libraries }) => {
      const digests = Object.entries(libraries).flatMap(([platform, digest]) => [
        element('dt', '', platform),
        element('dd', '', digest),
      ])
      const about = element('summary', '', `SHA-256 of its libraries (${form}, ${name})`)
      return element('details', '', about, element('dl', '', ...digests))
    }),
  ]
}
