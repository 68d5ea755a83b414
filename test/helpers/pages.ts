// Builds the pages that a node serves, once before the tests.

import { buildPages } from '../../scripts/build-pages.ts'

export const setup = buildPages
