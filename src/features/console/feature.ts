// Pages for people: the addresses that answer programs in JSON answer browsers in HTML.

import type { FeatureCode } from '../../node/feature.ts'
import { registerAssets } from './assets.ts'
import { registerPackPage } from './pack-page.ts'
import { registerPages } from './pages.ts'
import { registerRerun } from './rerun.ts'
import { pages } from './send.ts'

export const webConsole: FeatureCode = {
  routes: {
    pages,
    every: (app, context, reading) => {
      registerPages(app, context, reading)
      registerAssets(app)
      registerRerun(app)
    },
    replica: registerPackPage,
  },
}
